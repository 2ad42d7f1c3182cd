"""The posterior on the examples, or on the particles where few carry it, on JAX arrays, against the NumPy path."""

import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import kmcf
from kmcf.filter.backward.smoothing import smoothed_run

MODEL = kmcf.datasets.paper_model("1a")
TRAIN, TEST = MODEL.simulate(200, random_state=0), MODEL.simulate(12, random_state=1)
PARTICLES = 120
BEYOND = np.where(np.arange(12) % 4 == 1, 4.0, 0.0)[:, None]
"""Where the path leaves the examples."""


@pytest.fixture(scope="module")
def seen():
    """Observations, one of them missing."""
    values = TEST.observations + BEYOND
    values[6] = np.nan
    return values


def test_the_same_posteriors_on_the_same_particles(seen):
    noise = 0.7 * np.random.default_rng(0).normal(size=(12, PARTICLES, 1))
    particles = noise + (TEST.states + BEYOND)[:, None]
    flt = kmcf.KernelMonteCarloFilter(
        lambda states, control, rng: control,  # the particles of every step come in through the control
        initial=lambda size, rng: particles[0],
        n_particles=PARTICLES,
        engine="compressed",
        support="both",
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kmcf.RejectedStepWarning)
        expected = flt.fit(TRAIN.states, TRAIN.observations).filter(seen, particles)
        found = flt.fit(jnp.asarray(TRAIN.states), jnp.asarray(TRAIN.observations)).filter(seen, particles)
    sizes = [len(belief) for belief in expected]
    assert {200, PARTICLES} == {size for t, size in enumerate(sizes) if t != 6}  # both supports were used
    assert [len(belief) for belief in found] == sizes
    np.testing.assert_array_equal(found.rejected, expected.rejected)
    columns = ("mean", "covariance", "ess", "weight_sum", "log_evidence", "state_coverage", "mode", "herding_loss")
    for column in columns:
        np.testing.assert_allclose(getattr(found, column), getattr(expected, column), rtol=1e-7, atol=1e-7)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-9)
        assert (one.resampled is None) == (other.resampled is None)


@pytest.mark.slow
def test_the_backward_pass_is_the_one_of_the_host(seen):
    flt = kmcf.KernelMonteCarloFilter(
        MODEL.transition, MODEL.initial, n_particles=PARTICLES, support="both", augment=False, random_state=0
    )
    flt.fit(jnp.asarray(TRAIN.states), jnp.asarray(TRAIN.observations))
    seen = np.where(np.isnan(seen), 0.3, seen)
    run = flt.smooth(seen)
    assert {len(belief) for belief in run} == {200, PARTICLES}
    host = smoothed_run(flt._smoother(), run.filtered, None, None)
    for column in ("mean", "covariance", "ess", "mode"):
        np.testing.assert_allclose(getattr(run, column), getattr(host, column), rtol=1e-8, atol=1e-8)
