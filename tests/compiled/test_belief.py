"""Beliefs on the device, and what becomes of them when someone looks."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_cases import TEST, TRAIN

import kmcf


def test_the_initial_belief_is_p_init(flt):
    belief = flt.start(stream=4)
    assert belief.time == 0
    assert belief.stream == 4
    np.testing.assert_allclose(belief.mean(), belief.states.mean(axis=0))
    assert not np.array_equal(belief.states, flt.start().states)
    np.testing.assert_array_equal(belief.states, flt.start(stream=4).states)


@pytest.mark.slow
def test_beliefs_of_runs_and_pickles_go_on(flt):
    seen = TEST.observations.copy()
    seen[2] = np.nan
    run = flt.filter(seen)
    for t, last in ((1, seen[2]), (2, seen[3])):  # after a correction, after a gap
        again = flt.step(pickle.loads(pickle.dumps(run[t])), last)
        np.testing.assert_allclose(again.mean(), run.mean[t + 1], atol=1e-12)
        assert again.time == t + 2
    np.testing.assert_allclose(flt.forecast(run[1], 3).mean[0], run.mean[2], atol=1e-12)


def test_beliefs_that_cannot_go_on(flt):
    with pytest.raises(TypeError, match="a belief from start"):
        flt.step(None, TEST.observations[0])
    with pytest.raises(TypeError, match=r"jax\.vmap\(flt\.step\)"):
        flt.step(jax.vmap(flt.start)(jnp.arange(2)), TEST.observations[:2])
    with pytest.raises(ValueError, match="150 equal particles"):
        flt.forecast(kmcf.Belief(TRAIN.states[:7], np.full(7, 1 / 7)), 3)


def test_functions_of_the_state(flt):
    belief = flt.step(flt.start(), TEST.observations[0])
    assert belief.probability(lambda x: x[:, 0] > -100) == pytest.approx(1.0)
    assert "150 states" in repr(belief)
    assert belief.covariance(psd=True).shape == (1, 1)
