"""The JAX path against the NumPy path on the same particles; the latter is tested against the literal formulas."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kmcf
from kmcf.compiled.algebra import DeviceAlgebra
from kmcf.datasets.synthetic import PAPER_MODELS

STEPS, PARTICLES = 10, 120


def both_runs(name, dtype=jnp.float64, algebra=None, **settings):
    model = kmcf.datasets.paper_model(name)
    train, test = model.simulate(120, random_state=0), model.simulate(STEPS, random_state=1)
    particles = np.random.default_rng(0).normal(size=(STEPS, PARTICLES, 1)) + test.states[:, None]
    # The particles of every step come in through the control: herding cannot make the two paths drift apart.
    flt = kmcf.KernelMonteCarloFilter(
        lambda states, control, rng: control,
        initial=lambda size, rng: particles[0],
        n_particles=PARTICLES,
        random_state=0,
        **{"engine": "compressed"} | settings,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kmcf.RejectedStepWarning)
        expected = flt.fit(train.states, train.observations).filter(test.observations, particles)
        flt.fit(jnp.asarray(train.states, dtype), jnp.asarray(train.observations, dtype))
        if algebra is not None:
            flt.backend_ = flt.backend_.with_algebra(algebra)
        return expected, flt.filter(jnp.asarray(test.observations, dtype), particles)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPER_MODELS)
def test_the_same_posteriors_on_the_same_particles(name):
    expected, found = both_runs(name)
    np.testing.assert_array_equal(found.rejected, expected.rejected)
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-8)
    np.testing.assert_allclose(found.covariance, expected.covariance, atol=1e-8)
    for column in ("ess", "weight_sum", "negative_mass", "herding_loss", "observation_coverage", "state_coverage"):
        np.testing.assert_allclose(getattr(found, column), getattr(expected, column), rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(found.mode, expected.mode)
    among = [belief.beyond is None for belief in expected]  # only NumPy's intervals reach beyond the examples
    assert any(among)
    np.testing.assert_allclose(found.interval[among], expected.interval[among], atol=1e-6)
    np.testing.assert_allclose(found[3].weights, expected[3].weights, atol=1e-9)
    np.testing.assert_array_equal(found[3].resampled, expected[3].resampled)


@pytest.mark.parametrize("name", ["1a", "2b", "3a"])
def test_the_importance_weighted_rule(name):
    expected, found = both_runs(name, rule="importance", engine="lowrank", resample_threshold=0)
    assert found.negative_mass.max() > 0.0
    np.testing.assert_array_equal(found.rejected, expected.rejected)
    for column in ("mean", "covariance", "log_evidence", "ess", "weight_sum", "negative_mass", "herding_loss"):
        np.testing.assert_allclose(getattr(found, column), getattr(expected, column), rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(found.mode, expected.mode)
    np.testing.assert_allclose(found[3].weights, expected[3].weights, atol=1e-9)
    np.testing.assert_array_equal(found[3].resampled, expected[3].resampled)


def test_the_kernels_for_a_gpu_give_the_same():
    expected, found = both_runs("1a", algebra=DeviceAlgebra("interpreted"))
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-8)
    np.testing.assert_allclose(found.herding_loss, expected.herding_loss, atol=1e-8)


def test_single_precision_is_off_by_little():
    expected, found = both_runs("1a", dtype=jnp.float32)
    sd = np.sqrt(expected.covariance[:, 0, 0])
    difference = np.abs(found.mean - expected.mean)[:, 0] / sd
    assert 0 < difference.max() < 1e-2


@pytest.mark.skipif(jax.default_backend() != "gpu", reason="needs a GPU; on a CPU the tests above are stricter")
@pytest.mark.parametrize("name", PAPER_MODELS)
def test_the_same_on_a_gpu(name):
    expected, found = both_runs(name)
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-6)


def test_free_runs_are_as_accurate():
    model = kmcf.datasets.paper_model("1b")
    train, test = model.simulate(200, random_state=0), model.simulate(150, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
    numpy_run = flt.fit(train.states, train.observations).filter(test.observations, test.controls)
    flt.fit(jnp.asarray(train.states), jnp.asarray(train.observations))
    jax_run = flt.filter(test.observations, test.controls)
    errors = [np.sqrt(np.mean((run.mean - test.states) ** 2)) for run in (numpy_run, jax_run)]
    assert abs(errors[1] / errors[0] - 1) < 0.05


def test_angles():
    rng = np.random.default_rng(0)
    angles = rng.uniform(-np.pi, np.pi, size=(200, 1))
    observations = np.concatenate([np.cos(angles), np.sin(angles)], axis=1) + 0.05 * rng.normal(size=(200, 2))
    particles = np.pi + 0.1 * rng.normal(size=(3, 200, 1))
    flt = kmcf.KernelMonteCarloFilter(
        lambda states, control, rng: control,
        initial=lambda size, rng: particles[0],
        engine="compressed",
        angles=(0,),
        observation_kernel=kmcf.kernels.Gaussian(0.5),
        random_state=0,
    )
    seen = np.array([[-1.0, 0.0], [-1.0, 0.05], [np.nan, np.nan]])
    expected = flt.fit(angles, observations).filter(seen, particles)
    found = flt.fit(jnp.asarray(angles), jnp.asarray(observations)).filter(seen, particles)
    gap = np.angle(np.exp(1j * (found.mean - expected.mean)))
    np.testing.assert_allclose(gap, 0.0, atol=1e-8)
    np.testing.assert_allclose(found.covariance, expected.covariance, atol=1e-8)
    np.testing.assert_allclose(found[2].states, expected[2].states, atol=1e-12)
