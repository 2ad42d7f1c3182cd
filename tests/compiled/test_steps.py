"""Steps of the JAX path: pure, compiled and batched by the user, equal to whole runs."""

import copy
import pickle
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_cases import MODEL, TEST, TRAIN, fitted

import kmcf
from kmcf.compiled.algebra import DeviceAlgebra


@pytest.fixture(scope="module")
def flt():
    return fitted()


@pytest.fixture(scope="module")
def run(flt):
    return flt.filter(TEST.observations)


def test_online_equals_batch(flt, run):
    belief = flt.start()
    for t, y in enumerate(TEST.observations[:6]):
        belief = flt.step(belief, y)
        np.testing.assert_allclose(belief.mean(), run.mean[t], atol=1e-12)
        np.testing.assert_allclose(belief.covariance(), run.covariance[t], atol=1e-12)
        np.testing.assert_allclose(belief.weights, run[t].weights, atol=1e-12)
    assert (belief.time, belief.stream, len(belief)) == (6, 0, 150)
    assert belief.ess == pytest.approx(run.ess[5])
    np.testing.assert_allclose(belief.mean(), belief.weights @ TRAIN.states, atol=1e-8)


def test_the_initial_belief_is_p_init(flt):
    belief = flt.start(stream=4)
    assert belief.time == 0
    assert belief.stream == 4
    np.testing.assert_allclose(belief.mean(), belief.states.mean(axis=0))
    assert not np.array_equal(belief.states, flt.start().states)
    np.testing.assert_array_equal(belief.states, flt.start(stream=4).states)


def test_users_compile_batch_and_scan_steps(flt, run):
    compiled = jax.jit(flt.step)
    np.testing.assert_allclose(compiled(flt.start(), TEST.observations[0]).mean(), run.mean[0], atol=1e-12)
    _, means = jax.lax.scan(lambda b, y: ((after := flt.step(b, y)), after.mean()), flt.start(), TEST.observations)
    np.testing.assert_allclose(means, run.mean, atol=1e-12)
    beliefs = jax.vmap(flt.start)(jnp.arange(3))
    beliefs = jax.jit(jax.vmap(flt.step))(beliefs, jnp.asarray(TEST.observations[:3]))
    assert beliefs.mean().shape == (3, 1)
    second = jax.tree.map(lambda array: array[1], beliefs)
    expected = flt.step(flt.start(stream=1), TEST.observations[1])
    np.testing.assert_allclose(second.mean(), expected.mean(), atol=1e-12)
    np.testing.assert_allclose(second.weights, expected.weights, atol=1e-12)
    with pytest.raises(TypeError, match="whole batch"):
        _ = beliefs.weights
    with pytest.raises(TypeError, match="inside compiled code"):
        jax.jit(lambda b: b.weights)(flt.start())


def test_missing_inside_compiled_code_is_prediction(flt):
    belief = flt.step(flt.start(), TEST.observations[0])
    predicted = jax.jit(flt.step)(belief, jnp.array([jnp.nan]))
    assert predicted.report.missing
    assert np.isnan(predicted.report.weight_sum)
    np.testing.assert_allclose(predicted.states, flt.step(belief, None).states, atol=1e-12)
    np.testing.assert_allclose(predicted.mean(), predicted.states.mean(axis=0), atol=1e-12)
    # Algorithm 3, line 10-12: the herded points, repeated, moved with the key of (stream, time).
    herded = TRAIN.states[np.resize(belief.resampled, 150)]
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(3), 0), 2)
    np.testing.assert_allclose(predicted.states, MODEL.transition(jnp.asarray(herded), None, key), atol=1e-12)


def test_the_first_step_makes_no_transition(flt):
    np.testing.assert_array_equal(flt.step(flt.start(), None).states, flt.start().states)


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
    strange = np.array([TEST.observations[0], [1e6], TEST.observations[2]])
    with pytest.warns(kmcf.RejectedStepWarning, match=r"1 of 3 observations were not used \(first at step 2\)"):
        assert flt.filter(strange).rejected.tolist() == [False, True, False]


def test_forecast_goes_on_from_a_belief(flt, run):
    belief = flt.step(flt.start(), TEST.observations[0])
    ahead = flt.forecast(belief, 3)
    expected = belief
    for t in range(3):
        expected = flt.step(expected, None)
        np.testing.assert_allclose(ahead.mean[t], expected.mean(), atol=1e-12)
        np.testing.assert_allclose(ahead[t].states, expected.states, atol=1e-12)
    assert ahead.time.tolist() == [2, 3, 4]


def test_beliefs_of_runs_and_pickles_go_on(flt):
    seen = TEST.observations[:4].copy()
    seen[2] = np.nan
    run = flt.filter(seen)
    for t, last in ((1, seen[2]), (2, seen[3])):  # after a correction, after a gap
        again = flt.step(pickle.loads(pickle.dumps(run[t])), last)
        np.testing.assert_allclose(again.mean(), run.mean[t + 1], atol=1e-12)
        assert again.time == t + 2
    np.testing.assert_allclose(flt.forecast(run[1], 1).mean[0], run.mean[2], atol=1e-12)


def test_beliefs_that_cannot_go_on(flt):
    with pytest.raises(TypeError, match="a belief from start"):
        flt.step(None, TEST.observations[0])
    with pytest.raises(TypeError, match=r"jax\.vmap\(flt\.step\)"):
        flt.step(jax.vmap(flt.start)(jnp.arange(2)), TEST.observations[:2])
    with pytest.raises(ValueError, match="150 equal particles"):
        flt.forecast(kmcf.Belief(TRAIN.states[:7], np.full(7, 1 / 7)), 1)


def test_functions_of_the_state(flt):
    belief = flt.step(flt.start(), TEST.observations[0])
    assert belief.probability(lambda x: x[:, 0] > -100) == pytest.approx(1.0)
    assert "150 states" in repr(belief)
    assert belief.covariance(psd=True).shape == (1, 1)


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


@pytest.mark.parametrize("algebra", [DeviceAlgebra(), DeviceAlgebra("interpreted")])
def test_derivatives_of_one_correction(flt, algebra):
    twin = copy.copy(flt)
    twin.backend_ = flt.backend_.with_algebra(algebra)
    belief = twin.start()

    def mean(y):
        return twin.step(belief, y).mean()[0]

    y, h = jnp.array([0.7]), 1e-5
    numeric = (mean(y + h) - mean(y - h)) / (2 * h)
    assert jax.grad(mean)(y)[0] == pytest.approx(float(numeric), rel=1e-5)
