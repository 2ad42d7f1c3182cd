"""Steps of the JAX path: pure, compiled and batched by the user, equal to whole runs."""

import copy

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_cases import MODEL, TEST, TRAIN

from kmcf.compiled.algebra import DeviceAlgebra


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


@pytest.mark.slow
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


@pytest.mark.slow
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
