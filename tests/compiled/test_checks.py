"""What the JAX path refuses, and what it says."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_cases import MODEL, TEST, TRAIN, fitted

import kmcf
from kmcf.compiled.checks import precision
from kmcf.kernels import (
    AsinhScaled,
    ChiSquared,
    Circular,
    Columns,
    Constant,
    Gaussian,
    Hellinger,
    HistogramIntersection,
    Laplace,
    LaserScan,
    Linear,
    Matern,
    PlacedScan,
    Pose,
)

ROWS = np.random.default_rng(0).uniform(0.1, 2.0, size=(7, 3))


def test_without_64_bit_mode_there_is_an_error_that_says_what_to_do():
    with jax.enable_x64(False), pytest.raises(RuntimeError, match="jax_enable_x64"):
        kmcf.KernelMonteCarloFilter(MODEL.transition).fit(jnp.ones((5, 1)), jnp.ones((5, 1)))


def test_precision_follows_the_arrays():
    assert precision(jnp.ones(2), jnp.ones(2)) == np.float64
    assert precision(jnp.ones(2, jnp.float32), np.ones(2)) == np.float32
    assert precision(jnp.ones(2, jnp.float32), jnp.ones(2)) == np.float64
    flt = fitted(dtype=jnp.float32)
    assert flt.start().device_state.particles.dtype == np.float32


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "exact"}, "engine='exact'"),
        ({"rule": "importance", "engine": "exact"}, "engine='exact'.*engine='lowrank'"),
        ({"relocate": True}, "relocate=True"),
        ({"observation_kernel": PlacedScan(), "engine": "auto"}, "PlacedScan is computed by NumPy only"),
        ({"resampling": "multinomial"}, "resampling='multinomial'"),
        ({"resample_threshold": np.inf}, "always resamples"),
    ],
)
def test_settings_for_numpy_only(settings, message):
    with pytest.raises(ValueError, match=message) as caught:
        fitted(**settings)
    assert "NumPy arrays" in str(caught.value)


def test_a_kernel_for_numpy_only():
    def numpy_only(a, b):
        return np.exp(-np.abs(np.asarray(a) - np.asarray(b).T))

    with pytest.raises(TypeError, match=r"state kernel.*cannot be compiled.*jax\.numpy"):
        fitted(state_kernel=numpy_only)
    with pytest.raises(TypeError, match="observation kernel"):
        fitted(observation_kernel=numpy_only)


def test_a_callable_kernel_written_for_both():
    def both(a, b):
        return abs(a - b.T) * 0.0 + 2.718281828 ** (-((a - b.T) ** 2))

    flt = fitted(state_kernel=both)
    assert np.isfinite(flt.step(flt.start(), TEST.observations[0]).mean()).all()


@pytest.mark.parametrize(
    "transition",
    [
        lambda states, control, rng: states + rng.normal(size=states.shape),
        lambda states, control, rng: np.asarray(states) + 1.0,
        lambda states, control, rng: states + control,
    ],
)
def test_a_transition_for_numpy_only(transition):
    with pytest.raises(TypeError, match=r"transition\(states, control, key\).*cannot be compiled.*jax\.random"):
        fitted(transition=transition).filter(TEST.observations[:2])


def test_an_initial_for_numpy_only():
    with pytest.raises(TypeError, match=r"initial\(size, key\).*cannot be compiled"):
        fitted(initial=lambda size, rng: rng.normal(size=(size, 1))).start()


def test_weights_that_are_not_finite():
    def cauchy(a, b):
        squares = (a - b.T) ** 2
        return 1.0 - squares / (1.0 + squares)  # NaN where the squares overflow

    flt = fitted(observation_kernel=cauchy, n_particles=20)
    with pytest.raises(FloatingPointError, match="check that the kernels"):
        flt.filter([[0.1], [1e200]])


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(0.7),
        Gaussian(np.array([0.5, 1.0, 2.0])),
        Laplace(0.7),
        Matern(0.7, nu=2.5),
        Linear(),
        Constant(2.0),
        Circular(0.4),
        Pose(),
        AsinhScaled(Gaussian()),
        HistogramIntersection(),
        ChiSquared(normalize=True),
        Hellinger(normalize=True),
        2.0 * Columns(Gaussian(1.0), [0, 2]) + Linear() * Gaussian(0.3),
    ],
)
@pytest.mark.parametrize("dtype", [jnp.float64, jnp.float32])
def test_kernels_work_in_both_worlds(kernel, dtype):
    kernel.fit(ROWS)
    on_examples = kernel.on_examples(ROWS[:4]).mapped(lambda array: array.astype(dtype))
    found = jax.jit(on_examples.against)(jnp.asarray(ROWS, dtype))
    assert found.dtype == dtype
    tolerance = 1e-12 if dtype == jnp.float64 else 1e-5
    np.testing.assert_allclose(found, kernel(ROWS[:4], ROWS), rtol=tolerance, atol=tolerance)


def test_a_kernel_that_cannot_says_so():
    scans = TRAIN._replace(observations=np.abs(np.random.default_rng(0).normal(size=(150, 20))))
    with pytest.raises(TypeError, match="LaserScan"):
        fitted(scans, observation_kernel=LaserScan())


def driven(states, control, rng):
    """Add the control, so that an infinite one makes states infinite, on either path."""
    return states + control


@pytest.fixture(scope="module")
def twins():
    """The same filter on NumPy and on JAX arrays."""
    settings = {"engine": "compressed", "n_particles": 20, "n_resample": 20, "random_state": 3}
    host = kmcf.KernelMonteCarloFilter(driven, **settings).fit(TRAIN.states, TRAIN.observations)
    return host, fitted(transition=driven, initial=None, n_particles=20, n_resample=20)


BAD = np.array([0.1, 0.0, np.inf, 0.2])


def test_a_transition_that_diverges_is_named_on_both_paths(twins):
    sentence = r"transition\(states, control, (rng|key)\) at step 3 returned NaN or infinity for 20 of 20 states\.$"
    good = np.zeros(4)
    for flt in twins:
        for seen in (TEST.observations[:4], np.full((4, 1), np.nan)):  # observed, and predicted only
            with pytest.raises(ValueError, match=sentence):
                flt.filter_many([seen, seen], [good, BAD])
        flt.filter_many([seen, seen[:2]], [good, BAD[:2]])  # what comes after the end of a sequence does not count


def test_a_forecast_and_a_step_that_diverge(twins):
    sentence = r"transition\(states, control, (rng|key)\) at step {} returned NaN or infinity for 20 of 20 states\.$"
    for flt in twins:
        belief = flt.step(flt.start(), TEST.observations[0], 0.0)
        with pytest.raises(ValueError, match=sentence.format(4)):
            flt.forecast(belief, 4, BAD)
        with pytest.raises(ValueError, match=sentence.format(2)):
            flt.step(belief, TEST.observations[0], np.nan)


def test_an_initial_draw_that_is_not_finite():
    flt = fitted(initial=lambda size, key: jnp.full((size, 1), jnp.nan), transition=driven)
    for call in (flt.start, lambda: flt.filter(TEST.observations[:2], np.zeros(2))):
        with pytest.raises(ValueError, match=r"initial\(size, key\) returned NaN or infinity for 150 of 150 states"):
            call()
