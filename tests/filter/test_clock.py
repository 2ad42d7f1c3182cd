"""The user's clock: a filter that is told how much time passed, against a Kalman filter that is."""

import warnings

import numpy as np
import pytest
from controlled_walk import assert_identical, data, fitted, push
from known_models import walk_filtered

import kmcf
from kmcf.kernels import Gaussian
from kmcf.transitions import GaussianRandomWalk

SCALE, NOISE = 0.5, 0.4


def uneven(length, seed):
    """A random walk that is seen at uneven times."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.choice([0.2, 1.0, 6.0], size=length))
    states = np.cumsum(SCALE * np.sqrt(np.diff(times, prepend=times[0] - 4.0)) * rng.normal(size=length))
    return states, states + NOISE * rng.normal(size=length), times


def standard_normal(size, rng):
    return rng.normal(size=(size, 1))


def told(states, control, rng, elapsed):
    return states + np.sqrt(elapsed) * rng.normal(size=states.shape)


@pytest.fixture(scope="module")
def walking():
    rng = np.random.default_rng(0)
    states = rng.uniform(-25, 25, size=400)
    flt = kmcf.KernelMonteCarloFilter(
        GaussianRandomWalk(SCALE),
        initial=standard_normal,
        state_kernel=Gaussian(0.7),
        observation_kernel=Gaussian(0.5),
        engine="exact",
        random_state=0,
    )
    return flt.fit(states, states + NOISE * rng.normal(size=400))


def test_the_estimates_are_those_of_a_kalman_filter_that_knows_the_times(walking):
    _, observations, times = uneven(80, 3)
    exact = walk_filtered(observations, times, SCALE, NOISE, start=1.0)
    timed = walking.filter(observations, times=times).mean[:, 0]
    untimed = walking.filter(observations).mean[:, 0]
    assert np.sqrt(np.mean((timed - exact) ** 2)) < 0.5 * NOISE
    assert np.sqrt(np.mean((timed - exact) ** 2)) < 0.75 * np.sqrt(np.mean((untimed - exact) ** 2))


def test_predictions_widen_with_the_root_of_time(walking):
    belief = walking.step(walking.start(), [0.0], time=10.0)
    ahead = walking.forecast(belief, 3, times=[11.0, 14.0, 26.0])
    gained = ahead.covariance[:, 0, 0] - belief.covariance()[0, 0]
    np.testing.assert_allclose(gained, SCALE**2 * np.array([1.0, 4.0, 16.0]), rtol=0.25)
    np.testing.assert_array_equal(ahead.times, [11.0, 14.0, 26.0])


@pytest.mark.slow
def test_online_is_batch_and_beliefs_know_the_time(walking):
    _, observations, times = uneven(12, 4)
    run, belief, beliefs = walking.filter(observations, times=times), walking.start(), []
    assert belief.clock is None
    for y, time in zip(observations, times, strict=True):
        belief = walking.step(belief, y, time=time)
        beliefs.append(belief)
        assert belief.clock == time
    assert_identical(run, beliefs)
    np.testing.assert_array_equal(run.times, times)
    np.testing.assert_allclose([b.elapsed for b in beliefs[1:]], np.diff(times))
    np.testing.assert_array_equal(run.to_dataframe()["times"], times)
    np.testing.assert_array_equal(run.to_xarray()["times"], times)


def test_sequences_and_batches_have_their_own_times(walking):
    _, observations, times = uneven(20, 5)
    alone = walking.filter(observations[:8], times=times[:8])
    several = walking.filter_many([observations[:8], observations], times=[times[:8], None])
    np.testing.assert_array_equal(several[0].mean, alone.mean)
    assert np.isnan(several[1].times).all()
    assert "times" not in several[1].columns()
    both = np.stack([observations, observations[::-1]])[:, :, None]
    batch = walking.filter(both, times=times)
    np.testing.assert_array_equal(batch.times, [times, times])
    np.testing.assert_array_equal(batch.mean, walking.filter(both, times=[times, times]).mean)


def test_times_are_kept_in_files(walking, tmp_path):
    _, observations, times = uneven(9, 6)
    run = walking.filter(observations, times=times)
    run.save(tmp_path / "run.npz")
    np.testing.assert_array_equal(kmcf.load(tmp_path / "run.npz").times, times)
    walking.save(tmp_path / "model.kmcf")
    loaded = kmcf.load(tmp_path / "model.kmcf", initial=standard_normal)
    np.testing.assert_array_equal(loaded.filter(observations, times=times).mean, run.mean)


def test_equal_steps_may_leave_times_out(walking):
    _, observations, _ = uneven(15, 7)
    np.testing.assert_array_equal(
        walking.filter(observations, times=np.arange(15.0)).mean, walking.filter(observations).mean
    )
    dates = np.datetime64("2026-03-01T12:00:00") + np.arange(15)
    np.testing.assert_allclose(walking.filter(observations, times=dates).mean, walking.filter(observations).mean)


def test_the_belief_at_a_time(walking):
    _, observations, times = uneven(10, 8)
    run = walking.filter(observations, times=times)
    between = 0.5 * (times[4] + times[5])
    assert run.at(times[4]) is run[4]
    assert run.at(between) is run[4]
    assert run.at(times[-1] + 100) is run[9]
    ahead = run.at(between, ahead=walking)
    assert (ahead.clock, ahead.report.missing) == (between, True)
    np.testing.assert_array_equal(ahead.mean(), walking.forecast(run[4], 1, times=[between]).mean[0])
    assert run.at(times[4], ahead=walking) is run[4]
    with pytest.raises(LookupError, match="the run begins at the time"):
        run.at(times[0] - 1)
    with pytest.raises(LookupError, match="filtered without times"):
        walking.filter(observations).at(1.0)


def test_a_late_observation_continues_from_an_earlier_belief(walking):
    """Filtering again from the belief before it gives what comes of filtering everything in order."""
    _, observations, times = uneven(12, 9)
    late = 7
    on_time = np.delete(np.arange(12), late)
    run = walking.filter(observations[on_time], times=times[on_time])
    belief = run.at(times[late])
    for t in range(late, 12):
        belief = walking.step(belief, observations[t], time=times[t])
    np.testing.assert_array_equal(belief.mean(), walking.filter(observations, times=times).mean[-1])


BAD = {
    "times must increase, but step 3 is at 1, after one at 1": [0.0, 1.0, 1.0],
    "times must increase, but step 2 is at -1": [0.0, -1.0, 1.0],
    "the time of step 2 is nan": [0.0, np.nan, 1.0],
    "2 times for 3 steps": [0.0, 1.0],
    "they must be 3 numbers": np.zeros((3, 2)),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_times_are_refused(walking, message):
    with pytest.raises(ValueError, match=message):
        walking.filter([0.0, 0.1, 0.2], times=BAD[message])


def test_bad_times_of_steps_are_refused(walking):
    timed = walking.step(walking.start(), [0.0], time=5.0)
    with pytest.raises(ValueError, match=r"does not come after that of the belief, 5.*run.at\(time\)"):
        walking.step(timed, [0.0], time=5.0)
    with pytest.raises(ValueError, match="so its next step needs a time"):
        walking.step(timed, [0.0])
    with pytest.raises(ValueError, match="the steps before had no times"):
        walking.step(walking.step(walking.start(), [0.0]), [0.0], time=6.0)
    with pytest.raises(ValueError, match="the time of step 1 is nan"):
        walking.step(timed, [0.0], time=np.nan)
    with pytest.raises(TypeError, match="times must be numbers or datetime64, not 'noon'"):
        walking.step(timed, [0.0], time="noon")
    with pytest.raises(TypeError, match="one entry per step"):
        walking.filter([0.0], times=1.0)


def test_a_transition_that_cannot_use_uneven_times_says_so():
    flt, observations = fitted(), data(6)[0]
    with pytest.warns(kmcf.UnusedTimesWarning, match="transition does not take the time that passed"):
        flt.filter(observations, times=[0, 1, 2, 5, 6, 7])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        even = flt.filter(observations, times=np.arange(6) * 0.1)
        np.testing.assert_array_equal(even.mean, flt.filter(observations).mean)
        belief = flt.start()
        for time in (0.0, 0.5, 1.0):
            belief = flt.step(belief, observations[0], time=time)
    with pytest.warns(kmcf.UnusedTimesWarning):
        flt.step(belief, observations[0], time=9.0)
    learnt = kmcf.baselines.KernelBayesFilter(random_state=0).fit(flt.states_, flt.states_)
    with pytest.warns(kmcf.UnusedTimesWarning, match="pairs that say nothing of time"):
        learnt.filter(observations[:3], times=[0, 1, 5])


def test_a_transition_that_needs_times_says_so():
    flt = fitted(transition=told)
    with pytest.raises(ValueError, match=r"needs elapsed, but at step 2 no times were given: pass times="):
        flt.filter(data(3)[0])
    assert flt.filter(data(3)[0], times=[0, 2, 3]).mean.shape == (3, 1)
    assert fitted(transition=told, resample_threshold="bound").filter(data(2)[0], times=[0, 2]).mean.shape == (2, 1)


def test_every_time_that_passed_reaches_the_transition():
    seen = []

    def noting(states, control, rng, *, elapsed=None):
        seen.append(elapsed)
        return push(states, control, rng)

    fitted(transition=noting).filter(data(4)[0], times=[3.0, 3.5, 5.0, 9.0])
    assert seen == [0.5, 1.5, 4.0]
    fitted(transition=noting).filter(data(3)[0])
    assert seen[3:] == [None, None]


def test_baselines_are_told_the_time(walking):
    _, observations, times = uneven(40, 11)
    exact = walk_filtered(observations, times, SCALE, NOISE, start=1.0)
    flt = kmcf.baselines.ParticleFilter(
        GaussianRandomWalk(SCALE),
        lambda states, y: -0.5 * ((y - states[:, 0]) / NOISE) ** 2,
        initial=standard_normal,
        n_particles=2000,
        random_state=0,
    )
    run = flt.fit(walking.states_, walking.states_).filter(observations, times=times)
    assert np.sqrt(np.mean((run.mean[:, 0] - exact) ** 2)) < 0.1 * NOISE


def test_tuning_is_told_the_time():
    states, observations, times = uneven(60, 12)
    flt = kmcf.KernelMonteCarloFilter(told, n_particles=50)
    groups = np.repeat([0, 1], 30)
    result = kmcf.tune(flt, states, observations, groups=groups, times=times, n_trials=2, random_state=0)
    assert np.isfinite(result.best_value)
    with pytest.raises(ValueError, match="one per example"):
        kmcf.tune(flt, states, observations, times=times[1:], n_trials=2)
