"""Time in transitions: one long move is as two short ones, and what is learnt does not depend on the intervals."""

import functools

import numpy as np
import pytest

from kmcf.transitions import (
    ConstantVelocity,
    GaussianRandomWalk,
    Jump,
    LinearGaussian,
    Mixture,
    OdometryMotion,
    VelocityMotion,
    with_recovery,
)
from kmcf.transitions.elapsed import knows_step, moved, needs_elapsed, takes_elapsed

SIZE = 40_000


def half(motion):
    """The odometry of half a move straight ahead."""
    return None if motion is None else [0.0, motion[1] / 2, 0.0]


@pytest.mark.parametrize(
    ("transition", "start", "control"),
    [
        (GaussianRandomWalk([0.3, 0.7]), [1.0, -1.0], None),
        (ConstantVelocity([0.4]), [0.5, 1.0], None),
        (LinearGaussian([[0.9, 0.2], [0.0, 0.6]], [[0.5, 0.1], [0.1, 0.2]], [0.3, -0.1]), [1.0, 2.0], None),
        (OdometryMotion(0.0, 0.0, 0.2, 0.0, 0.0, 0.3), [0.0, 0.0, 0.0], [0.0, 2.0, 0.0]),
        (Mixture([GaussianRandomWalk(0.0), Jump([[9.0]])], [0.7, 0.3]), [0.0], None),
    ],
    ids=["random walk", "constant velocity", "linear", "odometry", "jumps"],
)
def test_a_long_move_is_as_uncertain_as_the_short_ones_it_consists_of(transition, start, control):
    states = np.tile(np.asarray(start), (SIZE, 1))
    rng = np.random.default_rng(0)
    once = transition(states, control, rng, elapsed=4.0)
    twice = transition(transition(states, half(control), rng, elapsed=2.0), half(control), rng, elapsed=2.0)
    spread = once.std(axis=0)
    np.testing.assert_array_less(np.abs(once.mean(axis=0) - twice.mean(axis=0)), 6 * spread / np.sqrt(SIZE) + 1e-9)
    np.testing.assert_allclose(np.cov(once.T), np.cov(twice.T), rtol=0.06, atol=0.02 * np.max(spread) ** 2)
    short = transition(states, control, rng, elapsed=1.0)
    assert np.max(np.abs(short.std(axis=0) - spread)) > 0.1  # and it does depend on the time


def test_a_random_walk_spreads_with_the_root_of_time():
    for elapsed in (0.25, 9.0):
        moves = GaussianRandomWalk(2.0)(np.zeros((SIZE, 1)), None, np.random.default_rng(0), elapsed=elapsed)
        assert moves.std() == pytest.approx(2.0 * np.sqrt(elapsed), rel=0.02)
    usual = GaussianRandomWalk(2.0, step=4.0)(np.zeros((SIZE, 1)), None, np.random.default_rng(0))
    assert usual.std() == pytest.approx(4.0, rel=0.02)


def test_velocities_last_for_the_time_that_passed():
    exact = VelocityMotion(0, 0, 0, 0, 0, 0)
    rng = np.random.default_rng(0)
    np.testing.assert_allclose(exact(np.zeros((1, 3)), [2.0, 0.0], rng, elapsed=3.0), [[6, 0, 0]])
    np.testing.assert_allclose(exact(np.zeros((1, 3)), [2.0, 0.0, 0.5], rng, elapsed=3.0), [[1, 0, 0]])


def test_linear_motion_makes_whole_steps():
    doubling = LinearGaussian([[2.0]], [[0.0]], step=0.5)
    rng, one = np.random.default_rng(0), np.ones((1, 1))
    assert [doubling(one, None, rng, elapsed=t).item() for t in (0.1, 0.5, 0.7, 1.1, 5.0)] == [2, 2, 2, 4, 1024]


@pytest.mark.parametrize(
    ("transition", "start"),
    [
        (GaussianRandomWalk([0.3, 0.7]), [1.0, -1.0]),
        (ConstantVelocity([0.4]), [0.5, 1.0]),
        (LinearGaussian([[0.9, 0.2], [0.0, 0.6]], [[0.5, 0.1], [0.1, 0.2]]), [1.0, 2.0]),
        (Mixture([GaussianRandomWalk(0.5), Jump([[9.0]], scale=1.0)], [0.7, 0.3]), [0.0]),
    ],
    ids=["random walk", "constant velocity", "linear", "mixture"],
)
def test_densities_are_those_of_the_draws_at_any_time(transition, start):
    """E[1/p(x')] over draws in a box where the density is not small is the box's volume, whatever p is."""
    previous = np.tile(np.asarray(start), (100_000, 1))
    draws = transition(previous, None, np.random.default_rng(4), elapsed=3.0)
    low, high = np.quantile(draws, [0.2, 0.45], axis=0)
    inside = np.all((draws > low) & (draws < high), axis=1)
    times = np.full(int(inside.sum()), 3.0)
    terms = np.zeros(len(draws))
    terms[inside] = np.exp(-transition.log_density(draws[inside], previous[inside], None, times))
    error = terms.std() / np.sqrt(len(terms))
    assert terms.mean() == pytest.approx(np.prod(high - low), abs=6 * error + 0.02 * np.prod(high - low))


# --- learning ---------------------------------------------------------------------------------------------------------


def recorded(transition, start, length=8000, control=None):
    """States a unit of time apart."""
    rng = np.random.default_rng(0)
    states = [np.asarray(start, dtype=float)]
    for _ in range(length - 1):
        states.append(transition(states[-1][None], control, rng)[0])
    return np.array(states)


def thinning(length, kind):
    if kind == "every third":
        return np.arange(0, length, 3)
    return np.flatnonzero(np.random.default_rng(1).uniform(size=length) < 0.4)


@pytest.mark.parametrize("kind", ["every third", "at random"])
@pytest.mark.parametrize(
    ("truth", "start", "names"),
    [
        (GaussianRandomWalk([0.3, 0.7]), [0.0, 0.0], ["scale"]),
        (ConstantVelocity([0.4]), [0.0, 0.0], ["diffusion"]),
    ],
    ids=["random walk", "constant velocity"],
)
def test_thinned_recordings_teach_the_same(truth, start, names, kind):
    states = recorded(truth, start)
    kept = thinning(len(states), kind)
    whole, thin = type(truth)().fit(states), type(truth)().fit(states[kept], times=kept)
    for name in names:
        np.testing.assert_allclose(thin.parameters()[name], whole.parameters()[name], rtol=0.05)
        np.testing.assert_allclose(thin.parameters()[name], truth.parameters()[name], rtol=0.05)
    assert thin.step_ == np.median(np.diff(kept))
    untold = type(truth)().fit(states[kept]).parameters()[names[0]]  # which is what the times are for
    assert np.max(np.abs(untold / truth.parameters()[names[0]] - 1)) > 0.2


def test_thinned_drives_teach_the_same_odometry():
    truth = OdometryMotion(0.0, 0.02, 0.05, 0.0, 0.05, 0.1)
    rng = np.random.default_rng(0)
    ways = rng.uniform(0.5, 2.0, size=3000).repeat(3)  # speeds that last for three steps
    control = np.stack([np.zeros(9_000), ways, np.zeros(9_000)], axis=1)
    poses = [np.zeros(3)]
    for t in range(1, len(control)):
        poses.append(truth(poses[-1][None], control[t], rng)[0])
    poses = np.array(poses)
    odometry = np.cumsum(control, axis=0)
    whole = OdometryMotion().fit(poses, control)
    kept = np.arange(2, 9_000, 3)
    driven = np.diff(odometry[kept], axis=0, prepend=0.0)
    thin = OdometryMotion().fit(poses[kept], driven, times=kept)
    for name in ("alpha3", "translation_floor"):
        assert thin.parameters()[name] == pytest.approx(whole.parameters()[name], rel=0.15, abs=0.01), name
        assert thin.parameters()[name] == pytest.approx(truth.get_params()[name], rel=0.15, abs=0.01), name


def test_velocities_that_last_for_uneven_times_are_learnt():
    truth = VelocityMotion(0.05, 0.02, 0.03, 0.04, 0.01, 0.02, rotation_floor=0.05, translation_floor=0.02)
    rng = np.random.default_rng(2)
    times = np.cumsum(rng.choice([0.2, 0.5, 1.0], size=5000))
    controls = np.stack([rng.uniform(-0.3, 1.0, size=5000), rng.normal(scale=0.7, size=5000)], axis=1)
    poses = [np.zeros(3)]
    for t in range(1, 5000):
        poses.append(truth(poses[-1][None], controls[t], rng, elapsed=times[t] - times[t - 1])[0])
    learnt = VelocityMotion().fit(np.array(poses), controls, times=times).parameters()
    for name in ("alpha1", "alpha2", "alpha3", "alpha4"):
        assert learnt[name] == pytest.approx(truth.get_params()[name], rel=0.3), name
    assert learnt["step"] == 0.5


def test_linear_motion_and_jumps_are_learnt_where_rows_are_missing():
    truth = LinearGaussian([[0.8]], [[0.25]], [1.0])
    states = recorded(truth, [5.0], 5000)
    kept = thinning(len(states), "at random")
    learnt = LinearGaussian(step=1.0).fit(states[kept], times=kept).parameters()
    assert learnt["matrix"][0, 0] == pytest.approx(0.8, abs=0.04)
    assert learnt["covariance"][0, 0] == pytest.approx(0.25, abs=0.03)
    with pytest.raises(ValueError, match=r"none took about 0.1"):
        LinearGaussian(step=0.1).fit(states[::5], times=np.arange(0, 5000, 5))
    jumping = Mixture([GaussianRandomWalk(0.1), Jump([[0.0], [50.0], [100.0]], scale=1.0)], [0.97, 0.03], step=1.0)
    places = recorded(jumping, [0.0], 3000)
    kept = thinning(len(places), "at random")
    start = Mixture([GaussianRandomWalk(0.1), Jump([[0.0], [50.0], [100.0]], scale=1.0)], [0.9, 0.1], step=1.0)
    found = start.fit(places[kept], times=kept).parameters()
    assert found["probabilities"][1] == pytest.approx(0.03, rel=0.35)
    assert found["transitions"][0].parameters()["scale"][0] == pytest.approx(0.1, rel=0.1)


def test_steps_are_forgotten_and_kept():
    walk = GaussianRandomWalk().fit([[0.0, 1.0, 2.0]], times=[[0.0, 4.0, 8.0]])
    assert (walk.parameters()["step"], walk.scale_[0]) == (4.0, 0.5)
    assert walk.fit([[0.0, 1.0, 2.0]]).parameters()["step"] is None
    said = GaussianRandomWalk(step=2.0).fit([[0.0, 1.0, 2.0]], times=[[0.0, 4.0, 8.0]])
    assert said.parameters()["step"] == 2.0
    assert with_recovery(walk.fit([[0.0, 1.0]], times=[[0.0, 7.0]]), np.zeros((3, 1)))._usual_step() == 7.0
    assert knows_step(with_recovery(walk, np.zeros((3, 1))))
    assert not knows_step(GaussianRandomWalk())


def test_bad_times_are_named():
    with pytest.raises(ValueError, match="sequence 0: time 1 does not come after 1; times must increase"):
        GaussianRandomWalk().fit([[0.0, 1.0, 2.0]], times=[[0.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match=r"has 3 states but times of shape \(2,\)"):
        GaussianRandomWalk().fit([[0.0, 1.0, 2.0]], times=[[0.0, 1.0]])
    with pytest.raises(ValueError, match="some of the sequences have times"):
        GaussianRandomWalk().fit([[0.0, 1.0], [0.0, 1.0]], times=[[0.0, 1.0], None])
    with pytest.raises(ValueError, match=r"the time 0.0 passed; it must be positive"):
        GaussianRandomWalk()(np.zeros((1, 1)), None, np.random.default_rng(0), elapsed=0.0)
    with pytest.raises(ValueError, match=r"step = -1.0; it must be positive"):
        GaussianRandomWalk(step=-1.0)(np.zeros((1, 1)), None, np.random.default_rng(0))


def test_who_takes_the_time():
    def plain(states, control, rng):
        return states

    def timed(states, control, rng, elapsed=None):
        return states + (0.0 if elapsed is None else elapsed)

    assert [takes_elapsed(f) for f in (plain, timed, functools.partial(timed), GaussianRandomWalk())] == [False] + 3 * [
        True
    ]
    assert not takes_elapsed(Mixture([plain, GaussianRandomWalk()], [0.5, 0.5]))
    assert takes_elapsed(with_recovery(timed, np.zeros((2, 1))))
    assert needs_elapsed(lambda states, control, rng, *, elapsed: states)
    assert not needs_elapsed(timed)
    assert moved(timed, 1.0, None, None, 2.0) == 3.0
