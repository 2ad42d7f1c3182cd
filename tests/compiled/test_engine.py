"""The compiled filter behind the filter's interface: warnings, forecasts, copies, files, further examples."""

import copy
import pickle
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_cases import MODEL, TEST, TRAIN, fitted

import kmcf


def test_a_strange_observation_is_rejected_once_with_a_warning(flt):
    belief = flt.step(flt.start(), TEST.observations[0])
    with pytest.warns(kmcf.RejectedStepWarning, match="an observation was not used"):
        rejected = flt.step(belief, [1e6])
    assert rejected.report.rejected
    assert rejected.rejections == 1
    np.testing.assert_allclose(rejected.states, flt.step(belief, None).states, atol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flt.step(rejected, [1e6])
    strange = TEST.observations.copy()
    strange[1] = 1e6
    with pytest.warns(kmcf.RejectedStepWarning, match=r"1 of 25 observations were not used \(first at step 2\)"):
        assert np.flatnonzero(flt.filter(strange).rejected).tolist() == [1]


def test_forecast_goes_on_from_a_belief(flt, run):
    belief = flt.step(flt.start(), TEST.observations[0])
    ahead = flt.forecast(belief, 3)
    expected = belief
    for t in range(3):
        expected = flt.step(expected, None)
        np.testing.assert_allclose(ahead.mean[t], expected.mean(), atol=1e-12)
        np.testing.assert_allclose(ahead[t].states, expected.states, atol=1e-12)
    assert ahead.time.tolist() == [2, 3, 4]


def test_copies_and_pickles(flt, run):
    twin = copy.deepcopy(flt)
    np.testing.assert_array_equal(twin.filter(TEST.observations).mean, run.mean)
    belief = flt.step(flt.start(), TEST.observations[0])
    for again in (pickle.loads(pickle.dumps(belief)), copy.copy(belief)):
        np.testing.assert_allclose(again.weights, belief.weights)
    restored = pickle.loads(pickle.dumps(run))
    np.testing.assert_array_equal(restored.mean, run.mean)
    np.testing.assert_array_equal(restored.interval, run.interval)
    np.testing.assert_array_equal(restored[3].weights, run[3].weights)


def test_partial_fit_and_refresh():
    some = TRAIN._replace(states=TRAIN.states[:100], observations=TRAIN.observations[:100])
    kernels = {"state_kernel": kmcf.kernels.Gaussian(1.2), "observation_kernel": kmcf.kernels.Gaussian(1.5)}
    settings = {"epsilon": 1e-3, "delta": 1e-4, "n_particles": 150, "initial": lambda size, key: jnp.zeros((size, 1))}
    flt = fitted(some, **kernels, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kmcf.StalePivotsWarning)
        flt.partial_fit(jnp.asarray(TRAIN.states[100:]), jnp.asarray(TRAIN.observations[100:]))
    whole = fitted(**kernels, **settings)
    first = [f.step(f.start(), TEST.observations[0]) for f in (flt, whole, flt.refresh())]
    assert [len(belief) for belief in first] == [150, 150, 150]
    np.testing.assert_allclose(first[0].mean(), first[1].mean(), atol=1e-3)
    np.testing.assert_allclose(first[2].mean(), first[1].mean(), atol=1e-10)


@pytest.mark.parametrize("dtype", [jnp.float64, jnp.float32])
def test_files(flt, dtype, tmp_path):
    saved = flt if dtype == jnp.float64 else fitted(dtype=dtype)
    saved.save(tmp_path / "filter.kmcf")
    functions = {"transition": MODEL.transition, "initial": MODEL.initial}
    loaded = kmcf.load(tmp_path / "filter.kmcf", **functions)
    expected, found = (f.step(f.start(), TEST.observations[0]).mean() for f in (saved, loaded))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)
    with jax.enable_x64(False), pytest.raises(RuntimeError, match="jax_enable_x64"):
        kmcf.load(tmp_path / "filter.kmcf", **functions)


def test_other_regularisers(flt):
    """A tuner's shortcut, which shares all but the regularisers, against a fit of its own."""
    found = flt.refitted(jnp.asarray(TRAIN.states), jnp.asarray(TRAIN.observations), delta=0.1)
    y = TEST.observations[0]
    expected = fitted(delta=0.1)
    np.testing.assert_allclose(found.step(found.start(), y).mean(), expected.step(expected.start(), y).mean(), 1e-9)


def test_another_transition_after_fit_is_compiled(flt):
    twin = copy.copy(flt)
    belief = twin.step(twin.start(), TEST.observations[0])
    twin.transition = lambda states, control, key: -0.5 * states + 7.0
    herded = TRAIN.states[np.resize(belief.resampled, 150)]
    np.testing.assert_allclose(twin.step(belief, None).states, -0.5 * herded + 7.0, atol=1e-12)
    assert flt.backend_ is not twin.backend_
