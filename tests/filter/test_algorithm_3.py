"""The filter against Algorithm 3 written out letter by letter."""

import math

import numpy as np
import pytest
from kernels_by_hand import asinh_scaled, gaussian, median_distance
from literal_filters import algorithm_3

import kmcf
from kmcf.kernels import Gaussian

N = 30
SEED = 20
X_BANDWIDTH, Y_BANDWIDTH, EPSILON, DELTA = 0.7, 0.9, 2e-3, 1e-4


def transition(states, control, rng):
    push = 0.0 if control is None else control
    return 0.8 * states + push + 0.5 * rng.normal(size=states.shape)


def initial(size, rng):
    return rng.normal(size=(size, 2))


def examples(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    Y = np.sin(2.0 * X) + 0.5 * X + 0.3 * rng.normal(size=(n, 2))
    return X, Y


def sequence(length=12, seed=1):
    rng = np.random.default_rng(seed)
    x, ys, us = rng.normal(size=(1, 2)), [], []
    for t in range(length):
        us.append(0.3 * rng.normal())
        if t:
            x = transition(x, us[-1], rng)
        ys.append((np.sin(2.0 * x) + 0.5 * x + 0.3 * rng.normal(size=(1, 2)))[0])
    return ys, us


def both(
    observations, controls=None, *, engine="literal", start=None, delta=DELTA, y_bandwidth=Y_BANDWIDTH, **settings
):
    """Filter with the package and with the oracle, the same settings for both."""
    X, Y = examples()
    flt = kmcf.KernelMonteCarloFilter(
        transition,
        initial=start,
        state_kernel=Gaussian(X_BANDWIDTH),
        observation_kernel=Gaussian(y_bandwidth),
        epsilon=EPSILON,
        delta=delta,
        engine=engine,
        random_state=SEED,
        relocate=False,  # Algorithm 3 trusts its prediction
        **settings,
    ).fit(X, Y)
    run = flt.filter(observations, controls)
    names = {"resample_threshold": "threshold"}
    truth = algorithm_3(
        X,
        Y,
        observations,
        k_X=gaussian(X_BANDWIDTH),
        k_Y=gaussian(y_bandwidth),
        epsilon=EPSILON,
        delta=delta,
        transition=transition,
        initial=start,
        seed=SEED,
        controls=controls,
        **{names.get(name, name): value for name, value in settings.items()},
    )
    return run, truth


def assert_same(run, truth, tolerance=1e-7):
    assert len(run) == len(truth)
    for t, step in enumerate(truth):
        np.testing.assert_allclose(run[t].states, step["states"], rtol=0, atol=tolerance)
        np.testing.assert_allclose(run[t].weights, step["weights"], rtol=0, atol=tolerance)
        np.testing.assert_allclose(run.mean[t], step["mean"], rtol=0, atol=tolerance)
        np.testing.assert_allclose(run.weight_sum[t], step["sum"], rtol=0, atol=tolerance)
        np.testing.assert_allclose(run.herding_loss[t], step["loss"], rtol=0, atol=1e-6)
        assert run.rejected[t] == step["rejected"]


SETTINGS = {
    "defaults": {},
    "fewer points than examples": {"n_resample": 7, "resample_threshold": 0},
    "more particles than examples": {"n_particles": 47, "resample_threshold": 0},
    "fewer particles than herded points": {"n_particles": 9, "n_resample": 20, "resample_threshold": 0},
    "few points, many particles": {"n_resample": 4, "n_particles": 50},
    "always resample": {"resample_threshold": 0},
    "never resample": {"resample_threshold": math.inf},
    "adaptive at 14": {"resample_threshold": 14.0},
    "no resampling": {"resampling": "none"},
    "no resampling whatever the threshold": {"resampling": "none", "resample_threshold": 0},
    "multinomial": {"resampling": "multinomial"},
    "multinomial, other number of particles": {
        "resampling": "multinomial",
        "n_particles": 41,
        "resample_threshold": 0,
    },
    "importance-weighted": {"rule": "importance"},
    "importance-weighted, few points": {"rule": "importance", "n_resample": 5, "resample_threshold": 0},
    "importance-weighted, none": {"rule": "importance", "resampling": "none"},
}


@pytest.mark.parametrize("engine", ["literal", "exact"])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_agrees_with_algorithm_3(settings, engine):
    observations, controls = sequence()
    observations[4] = observations[5] = None
    assert_same(*both(observations, controls, engine=engine, **settings))


@pytest.mark.parametrize("engine", ["literal", "exact"])
def test_agrees_with_a_given_initial_distribution(engine):
    observations, _ = sequence()
    assert_same(*both(observations, engine=engine, start=initial, n_particles=40))


@pytest.mark.parametrize("engine", ["literal", "exact"])
@pytest.mark.parametrize(("threshold", "vague"), [(14.0, {}), (2.0, {"y_bandwidth": 2.5, "delta": 3e-2})])
def test_resamples_exactly_when_the_sum_of_squares_exceeds_the_threshold(threshold, vague, engine):
    """On runs where both branches occur; 2.0 is the default, so it is not passed."""
    observations, controls = sequence(20)
    settings = vague if threshold == 2.0 else {"resample_threshold": threshold}
    run, truth = both(observations, controls, engine=engine, **settings)
    resampled = np.isfinite(run.herding_loss)
    assert 0 < resampled.sum() < len(run)
    np.testing.assert_array_equal(resampled, 1.0 / run.ess > threshold / N)
    assert_same(run, truth)


@pytest.mark.parametrize("missing", [{0}, {0, 1, 2}, {3}, {5, 6, 7, 8}, set(range(12))])
def test_agrees_with_missing_observations_anywhere(missing):
    observations, controls = sequence()
    observations = [None if t in missing else y for t, y in enumerate(observations)]
    run, truth = both(observations, controls)
    assert_same(run, truth)
    assert {int(t) for t in np.flatnonzero(run.missing)} == missing


def test_agrees_when_steps_are_rejected():
    observations, controls = sequence()
    observations[0] = observations[3] = np.array([80.0, -80.0])
    with pytest.warns(kmcf.RejectedStepWarning):
        run, truth = both(observations, controls, reject=True)
    assert [step["rejected"] for step in truth].count(True) == 2
    assert_same(run, truth)


@pytest.mark.parametrize("engine", ["literal", "exact"])
def test_agrees_when_rejection_is_switched_off(engine):
    """The second observation resembles no example: similarities of at most 1e-9 are used like any other."""
    observations, controls = sequence()
    observations[1] = examples()[1].max(axis=0) + 6.0 * Y_BANDWIDTH
    run, truth = both(observations, controls, engine=engine, reject=False)
    assert run.coverage[1] < 1e-8
    assert not run.rejected.any()
    assert_same(run, truth, tolerance=1e-6)


def test_every_sequence_of_a_batch_has_its_own_stream():
    X, Y = examples()
    flt = kmcf.KernelMonteCarloFilter(
        transition,
        state_kernel=Gaussian(X_BANDWIDTH),
        observation_kernel=Gaussian(Y_BANDWIDTH),
        epsilon=EPSILON,
        delta=DELTA,
        engine="exact",
        random_state=SEED,
    ).fit(X, Y)
    sequences = [np.array(sequence(6, seed=s)[0]) for s in (5, 6, 7)]
    run = flt.filter(np.stack(sequences))
    for b, ys in enumerate(sequences):
        truth = algorithm_3(
            X,
            Y,
            list(ys),
            k_X=gaussian(X_BANDWIDTH),
            k_Y=gaussian(Y_BANDWIDTH),
            epsilon=EPSILON,
            delta=DELTA,
            transition=transition,
            seed=SEED,
            stream=b,
        )
        np.testing.assert_allclose(run.mean[b], [step["mean"] for step in truth], rtol=0, atol=1e-7)


@pytest.mark.parametrize("engine", ["literal", "exact"])
@pytest.mark.parametrize(("rule", "delta"), [("kbr", 9e-6), ("importance", 1e-3)])
def test_untuned_defaults_are_algorithm_3_with_the_documented_kernels(engine, rule, delta):
    """Gaussian at half the median distance; Gaussian at 0.7 medians on asinh-scaled y; the table's epsilon, delta."""
    X, Y = examples()
    observations, controls = sequence()
    flt = kmcf.KernelMonteCarloFilter(transition, rule=rule, engine=engine, random_state=SEED).fit(X, Y)
    run = flt.filter(observations, controls)
    scale = asinh_scaled(Y)
    on_scaled = gaussian(0.7 * median_distance([scale(y) for y in Y]))
    truth = algorithm_3(
        X,
        Y,
        observations,
        k_X=gaussian(0.5 * median_distance(X)),
        k_Y=lambda a, b: on_scaled(scale(a), scale(b)),
        epsilon=1e-3,
        delta=delta,
        transition=transition,
        seed=SEED,
        controls=controls,
        rule=rule,
    )
    assert_same(run, truth, tolerance=1e-6)


def test_more_than_a_thousand_examples_get_a_thousand_particles():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1003, 1))
    flt = kmcf.KernelMonteCarloFilter(
        lambda states, control, rng: states + rng.normal(size=states.shape),
        state_kernel=Gaussian(1.0),
        observation_kernel=Gaussian(1.0),
        engine="exact",
        random_state=0,
    ).fit(X, X + rng.normal(size=X.shape))
    belief = flt.start()
    assert belief.states.shape == (1000, 1)
    ahead = flt.forecast(flt.step(belief, [0.5]), 2)
    assert ahead[1].states.shape == (1000, 1)
