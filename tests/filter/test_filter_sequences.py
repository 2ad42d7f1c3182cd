"""Online, batch, streams, missing observations, controls, forecasts: the ways people walk through time."""

import itertools

import numpy as np
import pytest
from naming import plain_id

import kmcf
from kmcf.datasets import paper_model
from kmcf.kernels import Gaussian

MODEL = paper_model("1b")


def push(states, control, rng):
    return 0.9 * states + (0.0 if control is None else control) + rng.normal(size=states.shape)


def fitted(n=40, *, transition=push, seed=3, flat=False, **settings):
    train = MODEL.simulate(n, random_state=0)
    observations = train.observations[:, 0] if flat else train.observations
    settings = {"n_resample": 15} | settings
    return kmcf.KernelMonteCarloFilter(transition, random_state=seed, **settings).fit(train.states, observations)


def data(length=15, seed=1):
    test = MODEL.simulate(length, random_state=seed)
    return test.observations, test.controls


def online(flt, observations, controls=None, stream=0):
    belief = flt.start(stream=stream)
    beliefs = []
    for t, y in enumerate(observations):
        belief = flt.step(belief, y, None if controls is None else controls[t])
        beliefs.append(belief)
    return beliefs


def assert_identical(run, beliefs):
    """Bit for bit."""
    assert len(run) == len(beliefs)
    for t, belief in enumerate(beliefs):
        np.testing.assert_array_equal(run[t].weights, belief.weights)
        np.testing.assert_array_equal(run[t].states, belief.states)
        np.testing.assert_array_equal(run.mean[t], belief.mean())
        np.testing.assert_array_equal(run.covariance[t], belief.covariance())
        np.testing.assert_array_equal(run.mode[t], belief.mode())
        assert run.ess[t] == belief.ess
        np.testing.assert_array_equal(run.weight_sum[t], belief.report.weight_sum)
        np.testing.assert_array_equal(run.herding_loss[t], belief.report.herding_loss)
        np.testing.assert_array_equal(run.coverage[t], belief.report.coverage)
        assert run.negative_mass[t] == belief.negative_mass
        assert run.time[t] == belief.time == t + 1


# --- online and batch -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"engine": "literal"},
        {"engine": "exact"},
        {"rule": "importance"},
        {"resampling": "multinomial"},
        {"resampling": "none"},
        {"n_particles": 70, "resample_threshold": 0},
        {"initial": MODEL.initial},
    ],
    ids=plain_id,
)
def test_online_equals_batch_bit_for_bit(settings):
    flt = fitted(**settings)
    observations, controls = data()
    observations[[3, 4, 9]] = np.nan
    assert_identical(flt.filter(observations, controls), online(flt, observations, controls))


def test_filtering_again_gives_identical_results():
    flt = fitted()
    observations, controls = data()
    first = flt.filter(observations, controls)
    flt.filter(data(seed=9)[0])
    assert_identical(flt.filter(observations, controls), list(first))


def test_the_same_seed_gives_the_same_filter_and_another_seed_another():
    observations, controls = data()
    one, same, other = (fitted(seed=s).filter(observations, controls).mean for s in (3, 3, 4))
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-3


# --- purity -----------------------------------------------------------------------------------------------------------


def test_a_step_changes_nothing_and_branches_share_their_noise():
    flt = fitted()
    observations, controls = data()
    trunk = online(flt, observations[:5], controls)[-1]
    before = trunk.weights.copy(), trunk.states.copy(), trunk.mean(), trunk.time
    left = flt.step(trunk, [0.5], 0.1)
    right = flt.step(trunk, [-2.0], 0.1)
    again = flt.step(trunk, [0.5], 0.1)
    np.testing.assert_array_equal(left.weights, again.weights)
    assert np.abs(left.mean() - right.mean()).max() > 0.01
    np.testing.assert_array_equal(flt.step(trunk, None, 0.1).states, flt.step(trunk, None, 0.1).states)
    for was, now in zip(before, (trunk.weights, trunk.states, trunk.mean(), trunk.time), strict=True):
        np.testing.assert_array_equal(was, now)


def test_rewinding_continues_as_if_nothing_had_happened():
    flt = fitted()
    observations, controls = data()
    run = flt.filter(observations, controls)
    belief = run[6]
    for t in range(7, 15):
        belief = flt.step(belief, observations[t], controls[t])
    np.testing.assert_array_equal(belief.weights, run[14].weights)


def test_beliefs_cannot_be_written_to():
    flt = fitted()
    observations, _ = data()
    corrected = flt.step(flt.start(), observations[0])
    predicted = flt.step(corrected, None)
    for belief in (flt.start(), corrected, predicted):
        with pytest.raises(ValueError, match="read-only"):
            belief.weights[0] = 5.0
        with pytest.raises(ValueError, match="read-only"):
            belief.states[0] = 5.0
        for name in ("weights", "states", "time"):
            with pytest.raises(AttributeError):
                setattr(belief, name, None)


def test_a_transition_that_works_in_place_corrupts_nothing():
    def in_place(states, control, rng):
        states *= 0.9
        states += rng.normal(size=states.shape)
        return states

    def careful(states, control, rng):
        return 0.9 * states + rng.normal(size=states.shape)

    observations, _ = data()
    observations[[4, 5, 6]] = np.nan
    runs = [fitted(transition=move, resampling="none").filter(observations) for move in (in_place, careful)]
    np.testing.assert_array_equal(runs[0].mean, runs[1].mean)
    for a, b in zip(*runs, strict=True):
        np.testing.assert_array_equal(a.states, b.states)


def test_functions_that_return_the_same_array_every_time_corrupt_nothing():
    kept = {}

    def reusing(states, control, rng):
        buffer = kept.setdefault(len(states), np.empty_like(states))
        buffer[:] = 0.9 * states + rng.normal(size=states.shape)
        return buffer

    start = np.linspace(-2, 2, 40)[:, None]
    flt = fitted(transition=reusing, initial=lambda size, rng: start)
    first = flt.start()
    second = flt.step(flt.step(first, None), None)
    was = second.states.copy()
    flt.step(flt.step(second, None), [1.0])
    np.testing.assert_array_equal(second.states, was)
    start[:] = 99.0
    assert np.abs(first.states).max() <= 2.0


def test_changing_the_users_arrays_after_fit_changes_nothing():
    train = MODEL.simulate(40, random_state=0)
    states, observations = train.states.copy(), train.observations.copy()
    flt = kmcf.KernelMonteCarloFilter(push, random_state=3, n_resample=15).fit(states, observations)
    states[:], observations[:] = 7.0, 7.0
    ys, us = data()
    np.testing.assert_array_equal(flt.filter(ys, us).mean, fitted().filter(ys, us).mean)
    assert states.flags.writeable


# --- streams ----------------------------------------------------------------------------------------------------------


def test_streams_are_independent_draws_of_the_same_thing():
    flt = fitted(n_particles=2000)
    a, b = flt.start(stream=0), flt.start(stream=1)
    assert (a.stream, b.stream) == (0, 1)
    np.testing.assert_array_equal(flt.start(stream=1).states, b.states)
    assert abs(np.corrcoef(a.states[:, 0], b.states[:, 0])[0, 1]) < 0.1
    ahead = [flt.step(flt.step(belief, None), None) for belief in (a, b)]
    noise = [(after.states - 0.9 * before.states)[:, 0] for after, before in zip(ahead, (a, b), strict=True)]
    assert abs(np.corrcoef(*noise)[0, 1]) < 0.1
    assert all(abs(e.std() - 1.0) < 0.1 for e in noise)


def test_the_noise_of_different_times_is_independent():
    flt = fitted(n_particles=2000)
    beliefs = online(flt, [None] * 4)
    noise = [(b.states - 0.9 * a.states)[:, 0] for a, b in itertools.pairwise(beliefs)]
    assert np.abs(np.corrcoef(noise) - np.eye(3)).max() < 0.1


def test_sequence_b_of_a_batch_is_stream_b():
    flt = fitted()
    observations = np.stack([data(seed=s)[0] for s in (1, 2, 3)])
    controls = np.stack([data(seed=s)[1] for s in (1, 2, 3)])
    run = flt.filter(observations, controls)
    for b in range(3):
        assert_identical(run[b], online(flt, observations[b], controls[b], stream=b))


# --- shapes -----------------------------------------------------------------------------------------------------------


def test_shapes_of_a_batch():
    flt = fitted()
    observations = np.stack([data(seed=s)[0] for s in (1, 2, 3)])
    run = flt.filter(observations)
    assert len(run) == 3
    assert run.mean.shape == run.mode.shape == (3, 15, 1)
    assert run.covariance.shape == (3, 15, 1, 1)
    for name in ("ess", "weight_sum", "negative_mass", "herding_loss", "coverage", "rejected", "missing", "time"):
        assert getattr(run, name).shape == (3, 15), name
    assert run[1].mean.shape == (15, 1)
    assert run[2][4].time == 5
    assert [len(member) for member in run] == [15, 15, 15]
    np.testing.assert_array_equal(run.mean[1], run[1].mean)


def test_a_batch_of_one_sequence_keeps_its_axis():
    observations, controls = data()
    run = fitted().filter(observations[None], controls[None])
    assert run.mean.shape == (1, 15, 1)
    np.testing.assert_array_equal(run.mean[0], fitted().filter(observations, controls).mean)


def test_a_flat_array_of_examples_is_one_column():
    train = MODEL.simulate(40, random_state=0)
    observations, controls = data()
    expected = fitted().filter(observations, controls).mean
    flat = kmcf.KernelMonteCarloFilter(push, random_state=3, n_resample=15)
    flat.fit(train.states[:, 0], train.observations[:, 0])
    assert flat.states_.shape == (40, 1)
    for sequence in (observations, observations[:, 0], list(observations[:, 0]), observations[:, 0].tolist()):
        np.testing.assert_array_equal(flat.filter(sequence, controls).mean, expected)
    belief = flat.start()
    for y in (observations[0, 0], float(observations[0, 0]), observations[0], [observations[0, 0]]):
        np.testing.assert_array_equal(flat.step(belief, y).mean(), expected[0])


def test_scalar_batches():
    """Fitted on (n,), an array (B, T) is B sequences, as is (B, T, 1)."""
    flt = fitted(flat=True)
    batch = np.stack([data(seed=s)[0][:, 0] for s in (1, 2, 3)])
    run = flt.filter(batch)
    assert run.mean.shape == (3, 15, 1)
    np.testing.assert_array_equal(run.mean, flt.filter(batch[..., None]).mean)
    np.testing.assert_array_equal(run.mean[0], flt.filter(batch[0]).mean)


def test_a_list_is_always_one_sequence():
    flt = fitted()
    observations, _ = data()
    run = flt.filter(list(observations))
    assert run.mean.shape == (15, 1)
    np.testing.assert_array_equal(run.mean, flt.filter(observations).mean)
    with pytest.raises(ValueError, match="an observation has shape"):
        flt.filter([observations, observations])


def test_observations_may_come_from_a_generator():
    flt = fitted()
    observations, _ = data()
    np.testing.assert_array_equal(flt.filter(y for y in observations).mean, flt.filter(observations).mean)


def test_filter_many_takes_sequences_of_unequal_lengths():
    flt = fitted()
    lengths = (4, 1, 11)
    pairs = [data(length, seed=length) for length in lengths]
    runs = flt.filter_many([y for y, _ in pairs], controls=[u for _, u in pairs])
    assert [len(run) for run in runs] == list(lengths)
    for stream, (run, (observations, controls)) in enumerate(zip(runs, pairs, strict=True)):
        assert_identical(run, online(flt, observations, controls, stream=stream))


def test_filter_many_takes_lists_with_gaps_and_no_controls_for_some():
    flt = fitted()
    observations, controls = data()
    runs = flt.filter_many([[*observations[:3], None], observations], controls=[None, controls])
    np.testing.assert_array_equal(runs[0].missing, [False, False, False, True])
    np.testing.assert_array_equal(runs[1].mean[-1], online(flt, observations, controls, stream=1)[-1].mean())
    assert flt.filter_many([]) == []


@pytest.mark.parametrize("shape", [(4,), (2, 3), (2, 2, 2)])
def test_observations_and_states_of_any_trailing_shape(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2, 3))
    Y = rng.normal(size=(30, *shape))

    def wander(states, control, rng):
        assert states.shape[1:] == (2, 3)
        return states + 0.1 * rng.normal(size=states.shape)

    flt = kmcf.KernelMonteCarloFilter(wander, random_state=0).fit(X, Y)
    run = flt.filter(Y[:5])
    assert run.mean.shape == run.mode.shape == (5, 2, 3)
    assert run.covariance.shape == (5, 6, 6)
    flat = kmcf.KernelMonteCarloFilter(
        lambda s, u, rng: s + 0.1 * rng.normal(size=(len(s), 2, 3)).reshape(len(s), 6), random_state=0
    ).fit(X.reshape(30, 6), Y.reshape(30, -1))
    np.testing.assert_allclose(run.mean.reshape(5, 6), flat.filter(Y[:5].reshape(5, -1)).mean, atol=1e-12)
    assert flt.filter(Y[:6].reshape(2, 3, *shape)).mean.shape == (2, 3, 2, 3)


# --- missing observations, controls, time -----------------------------------------------------------------------------


def test_none_and_nan_mean_the_same():
    flt = fitted()
    observations, controls = data()
    with_nan = observations.copy()
    with_nan[[2, 3, 8]] = np.nan
    with_none = [None if t in (2, 3, 8) else y for t, y in enumerate(observations)]
    a, b = flt.filter(with_nan, controls), flt.filter(with_none, controls)
    np.testing.assert_array_equal(a.mean, b.mean)
    np.testing.assert_array_equal(np.flatnonzero(a.missing), [2, 3, 8])
    assert not a.rejected.any()


def test_all_nan_rows_of_vectors_are_missing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 1))
    Y = X + 0.2 * rng.normal(size=(30, 3))
    flt = kmcf.KernelMonteCarloFilter(push, random_state=0).fit(X, Y)
    ys = Y[:4].copy()
    ys[2] = np.nan
    np.testing.assert_array_equal(flt.filter(ys).missing, [False, False, True, False])


def test_a_missing_step_is_the_prediction_alone():
    """The particles are moved as they are: the same noise, no weights changed, no correction."""
    flt = fitted(resampling="none")
    observations, _controls = data()
    before = flt.step(flt.start(), observations[0])
    after = flt.step(before, None, 0.7)
    rng = np.random.default_rng(np.random.SeedSequence(flt.seed_, spawn_key=(0, 2)))
    np.testing.assert_allclose(after.states, push(before.states, 0.7, rng), rtol=1e-14)
    np.testing.assert_array_equal(after.weights, before.weights)
    assert after.report.missing
    assert not after.report.rejected
    assert np.isnan(after.report.weight_sum)
    assert np.isnan(after.report.herding_loss)


def test_uncertainty_grows_while_nothing_is_seen():
    """x' = 0.9 x + e from variance v0: v_k = 0.81^k v0 + (1 - 0.81^k) / 0.19."""
    flt = fitted(n=200, n_particles=4000, n_resample=200, resample_threshold=0)
    belief = flt.step(flt.start(), [0.5])
    ahead = flt.forecast(belief, 6)
    # The herded particles represent the belief; their own variance is where the recursion starts from.
    variance = float(np.var(belief.sample(200)))
    for k in range(6):
        expected = 0.81 ** (k + 1) * variance + (1.0 - 0.81 ** (k + 1)) / 0.19
        assert abs(ahead.covariance[k, 0, 0] - expected) < 0.12 * expected


def test_the_first_step_makes_no_transition():
    calls = []

    def recording(states, control, rng):
        calls.append(control)
        return push(states, control, rng)

    flt = fitted(transition=recording)
    flt.filter(data(4)[0], controls=["never used", 0.1, 0.2, 0.3])
    assert calls == [0.1, 0.2, 0.3]


@pytest.mark.parametrize("control", [None, 100.0])
def test_a_missing_first_observation_makes_no_transition_and_ignores_the_control(control):
    flt = fitted()
    start = flt.start()
    first = flt.step(start, None, control)
    np.testing.assert_array_equal(first.states, start.states)
    np.testing.assert_array_equal(first.weights, start.weights)
    assert first.time == 1
    assert first.report.missing
    second = flt.step(first, None, 100.0)
    assert (second.states > 50).all()


def test_before_the_first_correction_the_states_are_the_particles():
    flt = fitted(n_particles=25)
    start = flt.start()
    assert start.time == 0
    assert len(start) == 25
    np.testing.assert_array_equal(start.weights, np.full(25, 1 / 25))
    assert np.isnan(start.report.weight_sum)
    after = flt.step(flt.step(start, None), [0.3])
    np.testing.assert_array_equal(after.states, flt.states_)


def test_controls_reach_the_transition_in_order():
    flt = fitted()
    observations, controls = data()
    shifted = flt.filter(observations, np.roll(controls, 1))
    assert np.abs(shifted.mean - flt.filter(observations, controls).mean).max() > 0.05
    listed = flt.filter(observations, list(controls))
    np.testing.assert_array_equal(listed.mean, flt.filter(observations, controls).mean)


def test_controls_may_be_anything():
    seen = []

    def transition(states, control, rng):
        seen.append(control)
        return push(states, control["turn"], rng)

    controls = [{"turn": 0.1 * t} for t in range(4)]
    fitted(transition=transition).filter(data(4)[0], controls)
    assert seen == controls[1:]


def test_a_transition_that_depends_on_time_gets_the_time_through_the_control():
    """A state that moves by known, changing steps: the forecast's mean is exact."""

    def timetable(states, time, rng):
        return states + np.sin(time)

    flt = fitted(transition=timetable)
    belief = flt.step(flt.step(flt.start(), None), None, control=1)
    ahead = flt.forecast(belief, 5, controls=[2, 3, 4, 5, 6])
    expected = belief.mean() + np.cumsum(np.sin([2, 3, 4, 5, 6]))[:, None]
    np.testing.assert_allclose(ahead.mean, expected, atol=1e-12)


# --- forecasts --------------------------------------------------------------------------------------------------------


def test_a_forecast_is_steps_without_observations():
    flt = fitted()
    observations, controls = data()
    belief = online(flt, observations[:5], controls)[-1]
    ahead = flt.forecast(belief, 4, controls=controls[5:9])
    stepped = belief
    for k in range(4):
        stepped = flt.step(stepped, None, controls[5 + k])
        np.testing.assert_array_equal(ahead[k].states, stepped.states)
        np.testing.assert_array_equal(ahead.mean[k], stepped.mean())
    np.testing.assert_array_equal(ahead.time, [6, 7, 8, 9])
    assert ahead.missing.all()


def test_a_forecast_from_the_start_begins_with_the_initial_distribution():
    flt = fitted()
    ahead = flt.forecast(flt.start(), 2)
    np.testing.assert_array_equal(ahead.mean[0], flt.start().mean())
    np.testing.assert_array_equal(ahead.time, [1, 2])


def test_a_forecast_of_an_unseen_start_matches_the_closed_form():
    """Stationary start, x' = 0.9 x + e: mean and variance stay."""
    flt = fitted(n_particles=20000, initial=MODEL.initial, state_kernel=Gaussian(1.0))
    ahead = flt.forecast(flt.start(), 5)
    assert np.abs(ahead.mean).max() < 0.1
    assert np.abs(ahead.covariance - 1 / 0.19).max() < 0.3
