"""Filters on JAX arrays are smoothed by the same backward pass, on the host."""

import numpy as np
import pytest
from jax_cases import MODEL, TEST, TRAIN
from known_models import rmse
from smoothers import rauch_tung_striebel

import kmcf


def test_a_compiled_filter_is_smoothed(flt):
    run = flt.smooth(TEST.observations)
    exact, _, _ = rauch_tung_striebel(TEST.observations)
    host = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, n_resample=30, random_state=3)
    other = host.fit(TRAIN.states, TRAIN.observations).smooth(TEST.observations)
    assert rmse(run.mean[:, 0], exact) < rmse(run.filtered.mean[:, 0], exact)
    assert rmse(run.mean, other.mean) < 0.2  # other random numbers, the same algorithm
    assert run.sample_paths(3).shape == (3, 25, 1)
    with pytest.raises(ValueError, match="later observations"):
        flt.step(run[3], [0.0])
    late = flt.smooth_lag(2)
    for y in TEST.observations[:4]:
        late = late.step(y)
    np.testing.assert_allclose(late.smoothed.mean(), flt.smooth(TEST.observations, lag=2).mean[1], rtol=1e-9)


def test_batches_are_smoothed(flt, batch):
    found = flt.smooth(batch)
    assert found.mean.shape == found.filtered.mean.shape == (3, 8, 1)
    assert found.missing[1, 2:5].all()
    np.testing.assert_array_equal(found[1].mean, found.mean[1])
    assert (found.mean[:, :-1] != found.filtered.mean[:, :-1]).all()
    deviation = np.sqrt(found.covariance[1, 4, 0, 0])  # the end of the gap is known from the other side, too
    assert deviation < np.sqrt(found.filtered.covariance[1, 4, 0, 0])
