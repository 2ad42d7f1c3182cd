"""Observations that lack numbers on JAX arrays: as by a filter fitted on the observed columns, and as on NumPy."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gappy_cases import YS, X, Y, with_gaps, without

import kmcf
from kmcf.compiled.inputs import read_batch, read_sequences
from kmcf.filter.fitting.silence import Filling
from kmcf.kernels import AsinhScaled, Gaussian


def start(size, key):
    return jax.random.uniform(key, (size, 2), minval=-2.0, maxval=2.0)


def fitted(observations, **settings):
    chosen = {"initial": start, "n_particles": 40, "n_resample": 20, "random_state": 2, "tolerance": 1e-3}
    chosen |= {"observation_kernel": AsinhScaled(Gaussian(multiplier=0.7)), "state_kernel": Gaussian(0.9)}
    flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.3), **(chosen | settings))
    return flt.fit(jnp.asarray(X), jnp.asarray(observations))


@pytest.fixture(scope="module")
def whole():
    return fitted(Y)


@pytest.mark.slow
def test_the_answer_is_that_of_a_filter_on_the_observed_columns(whole):
    part = fitted(Y[:, [0, 2]])
    mixed = np.where(np.arange(8)[:, None] % 2 == 0, without(YS[:8], 1, 3), YS[:8])
    mixed[4] = np.nan
    times = np.cumsum(np.linspace(0.5, 2.0, 8))
    run, other = whole.filter_many([jnp.asarray(mixed), YS[:5]], times=[times, times[:5]])
    belief, expected = whole.start(), whole.start()
    for t, y in enumerate(mixed):
        belief = whole.step(belief, y, time=times[t])
        own = t % 2 == 1 or t == 4
        expected = (whole if own else part).step(expected, y if own else YS[t, [0, 2]], time=times[t])
        np.testing.assert_allclose(belief.mean(), expected.mean(), rtol=1e-9)
        np.testing.assert_allclose(run.mean[t], expected.mean(), rtol=1e-9)
        np.testing.assert_allclose(run[t].weights, expected.weights, atol=1e-9)
        np.testing.assert_allclose(run.ess[t], 1.0 / np.sum(expected.weights**2), rtol=1e-6)
    assert run.missing.tolist() == [t == 4 for t in range(8)]
    belief = whole.start(stream=1)
    for t, y in enumerate(YS[:5]):
        belief = whole.step(belief, y, time=times[t])
        np.testing.assert_allclose(other.mean[t], belief.mean(), rtol=1e-9)
    assert len(other) == 5


def test_one_pattern_in_a_whole_batch_is_one_loop(whole):
    ys = without(YS[:6], 1, 3)
    run, belief = whole.filter(ys), whole.start()
    for t, y in enumerate(ys):
        belief = whole.step(belief, y)
        np.testing.assert_allclose(run.mean[t], belief.mean(), rtol=1e-9)


@pytest.mark.slow
def test_examples_that_lack_numbers():
    gappy = with_gaps(Y, 0.08, seed=4)
    complete = ~np.isnan(gappy).any(axis=1)
    assert 10 < complete.sum() < len(X)
    flt = fitted(np.insert(gappy, 1, np.nan, axis=1))  # and a column that is always missing
    rule = fitted(Y).fit(jnp.asarray(X[complete]), jnp.asarray(Y[complete]))
    belief, expected = flt.start(), rule.start()
    for y in (YS[0], np.full(4, np.nan), YS[1]):
        belief, expected = flt.step(belief, np.insert(y, 1, 5.0)), rule.step(expected, y)
        np.testing.assert_allclose(belief.weights, expected.weights, atol=1e-9)
    drawn, known = ({tuple(state) for state in some} for some in (flt.set_params(initial=None).start().states, X))
    assert drawn <= known
    assert not drawn <= {tuple(state) for state in X[complete]}


def test_floors_and_columns_that_nobody_knows_are_filled_in_before_anything_is_compiled(whole):
    ys = with_gaps(YS, 0.4, seed=1)
    ys[3] = np.nan
    filling = Filling(np.array([-9.0, np.nan, -8.0, np.nan]), np.array([False, False, False, True]))
    reader = replace(whole.reader_, filling=filling)
    expected = np.array(ys)
    expected[:, 3] = np.nan
    empty = np.isnan(expected).all(axis=1)
    for column, floor in ((0, -9.0), (2, -8.0)):
        expected[np.isnan(expected[:, column]) & ~empty, column] = floor
    for given in (ys, list(ys), jnp.asarray(ys)):
        found = read_sequences(reader, [given], None, np.float64).observations[0]
        np.testing.assert_array_equal(found, expected)
    found = read_batch(reader, jnp.asarray(ys)[None], None, np.float64).observations[0]
    np.testing.assert_array_equal(found, expected)


def test_a_pattern_unknown_to_compiled_code_is_no_correction(whole):
    """Inside the user's own compiled code nobody knows the pattern: the step is reported as rejected."""
    belief = jax.jit(whole.step)(whole.start(), jnp.asarray(without(YS[:1], 1)[0]))
    assert belief.report.rejected
    assert np.isfinite(belief.mean()).all()
