"""States that move as recorded ones did nearby."""

import json
import pickle

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone

import kmcf
from kmcf.transitions import GaussianRandomWalk, Mixture, RecordedMoves, from_dict


def laps(length, seed, noise=(0.02, 0.02)):
    """Return a position that goes round a circle, faster at the top, and the next one: a model that is known."""
    rng = np.random.default_rng(seed)
    rows = [np.array([1.0, 0.0])]
    for _ in range(length - 1):
        rows.append(ahead(rows[-1][None])[0] + noise * rng.normal(size=2))
    return np.array(rows)


def ahead(states):
    angle = np.arctan2(states[:, 1], states[:, 0])
    turned = angle + 0.2 + 0.1 * np.sin(angle)
    return np.stack([np.cos(turned), np.sin(turned)], axis=1)


def test_it_predicts_nearly_as_well_as_the_model_that_moved():
    train, test = laps(3000, 0), laps(400, 1)
    learnt = RecordedMoves().fit(train).log_density(test[1:], test[:-1]).mean()
    true = norm.logpdf(test[1:], ahead(test[:-1]), 0.02).sum(axis=1).mean()
    walk = GaussianRandomWalk().fit(train).log_density(test[1:], test[:-1]).mean()
    assert true - 0.5 < learnt < true + 0.1
    assert learnt > walk + 2.0


def test_the_density_is_the_mean_over_the_nearest_moves():
    rng = np.random.default_rng(0)
    states, moves = rng.normal(size=(50, 2)) * [1.0, 20.0], rng.normal(size=(50, 2))
    times = rng.uniform(0.5, 4.0, size=50)
    motion = RecordedMoves(4, noise=[0.3, 0.6], states=states, moves=moves, durations=times)
    before, elapsed = rng.normal(size=(7, 2)) * [1.0, 20.0], rng.uniform(1.0, 9.0, size=7)
    after = before + rng.normal(size=(7, 2))
    expected = []
    for x, y, time in zip(before, after, elapsed, strict=True):
        within = np.clip(time, times.min(), times.max())
        gap = ((states - x) / states.std(axis=0)) ** 2
        near = np.argsort(gap.sum(axis=1) + np.log(times / within) ** 2)[:4]
        longer = time / within
        parts = [norm.pdf(y, x + longer * moves[j], np.sqrt(longer) * np.array([0.3, 0.6])).prod() for j in near]
        expected.append(np.log(np.mean(parts)))
    np.testing.assert_allclose(motion.log_density(after, before, None, elapsed), expected)


def test_draws_turn_where_recorded_states_turned():
    there_and_back = np.abs(np.arange(600) % 40 - 20.0)[:, None]
    velocity = np.gradient(there_and_back, axis=0)
    motion = RecordedMoves(5).fit(np.hstack([there_and_back, velocity]))
    rng = np.random.default_rng(0)
    states = np.tile([10.0, 1.0], (100, 1))
    for _ in range(20):
        states = motion(states, None, rng)
    np.testing.assert_allclose(states[:, 0].mean(), 10.0, atol=1.5)
    assert (states[:, 1] < -0.5).mean() > 0.9  # it came back


def test_a_long_pause_is_moved_over_as_recorded_pauses_were():
    """Runs of 1 px per step; over pauses of 50 steps nothing moved."""
    times, place = [0.0], [0.0]
    for k in range(1, 400):
        pause = k % 20 == 0
        times.append(times[-1] + (50.0 if pause else 1.0))
        place.append(place[-1] + (0.0 if pause else 1.0))
    motion = RecordedMoves(5).fit(np.array(place), times=np.array(times))
    rng, start = np.random.default_rng(0), np.full((200, 1), 200.0)
    assert motion(start, None, rng, elapsed=1.0).mean() == pytest.approx(201.0, abs=0.15)
    assert motion(start, None, rng, elapsed=50.0).mean() == pytest.approx(200.0, abs=0.15)
    assert motion.parameters()["step"] == 1.0
    steady = RecordedMoves(3).fit(np.arange(50.0), times=np.arange(50.0))
    for elapsed in (0.5, 3.0):  # other than any recorded: in proportion
        assert steady(start, None, rng, elapsed=elapsed).mean() == pytest.approx(200.0 + elapsed, abs=1e-3)


def test_angles_go_round():
    heading = np.pi - (np.pi - np.arange(300) * 0.1) % (2 * np.pi)
    motion = RecordedMoves(3, angles=[0]).fit(heading)
    moved = motion(np.full((50, 1), np.pi - 0.02), None, np.random.default_rng(0))
    np.testing.assert_allclose(moved, -np.pi + 0.08, atol=0.01)
    near = RecordedMoves(1, angles=[0], states=[[3.1], [0.0]], moves=[[0.5], [0.0]])
    assert near(np.array([[-3.1]]), None, np.random.default_rng(0)).item() == pytest.approx(-2.6)


def test_what_was_learnt_is_kept_and_forgotten():
    motion = RecordedMoves().fit(laps(200, 0))
    states = laps(20, 3)
    moved = motion(states, None, np.random.default_rng(5))
    for copy in (
        clone(motion),
        pickle.loads(pickle.dumps(motion)),
        from_dict(json.loads(json.dumps(motion.to_dict()))),
    ):
        np.testing.assert_array_equal(copy(states, None, np.random.default_rng(5)), moved)
    again = motion.fit(10.0 * laps(200, 1))
    assert again(10.0 * states, None, np.random.default_rng(5)).max() > 5.0
    assert RecordedMoves(noise=0.5).fit(laps(200, 0)).parameters()["noise"] == 0.5
    assert motion.set_params(noise=0.0).parameters()["noise"] == 0.0


def test_a_filter_that_moved_can_be_saved(tmp_path):
    states = laps(80, 0)
    flt = kmcf.KernelMonteCarloFilter(RecordedMoves().fit(states), random_state=0).fit(states, states)
    run = flt.filter(states[:5])
    flt.save(tmp_path / "model.kmcf")
    np.testing.assert_allclose(kmcf.load(tmp_path / "model.kmcf").filter(states[:5]).mean, run.mean)


def test_changed_settings_count_at_once():
    motion = RecordedMoves(1, states=[[0.0], [6.0]], moves=[[0.0], [1.0]])
    assert motion(np.array([[5.0]]), None, np.random.default_rng(0), elapsed=2.0).item() == 7.0
    motion.step = 2.0
    assert motion(np.array([[5.0]]), None, np.random.default_rng(0), elapsed=2.0).item() == 6.0
    motion.angles = [0]
    assert motion(np.array([[5.0]]), None, np.random.default_rng(0)).item() == pytest.approx(6.0 - 2 * np.pi)


def test_moves_that_fit_worst_are_left_out():
    rows = laps(1000, 0)
    rows[np.arange(50, 1000, 100)] += 50.0
    trimmed = RecordedMoves().fit(rows, trim=0.05)
    assert np.abs(trimmed.moves_).max() < 1.0 < np.abs(RecordedMoves().fit(rows).moves_).max()
    assert len(trimmed.moves_) == 999 - int(0.05 * 999)


def test_bad_input_is_named():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"no recorded moves: call fit\(sequences\)"):
        RecordedMoves()(np.zeros((2, 1)), None, rng)
    with pytest.raises(ValueError, match="learns from several moves, but there is one"):
        RecordedMoves().fit([[0.0, 1.0]])
    with pytest.raises(ValueError, match=r"neighbours = 0; it must be a whole number, at least 1"):
        RecordedMoves(0).fit(laps(30, 0))
    with pytest.raises(ValueError, match="knows states of 2 columns, but got 3"):
        RecordedMoves().fit(laps(30, 0))(np.zeros((2, 3)), None, rng)
    with pytest.raises(ValueError, match="has 3 noises, but states have 2 columns"):
        RecordedMoves(noise=[1.0, 1.0, 1.0]).fit(laps(30, 0))(np.zeros((2, 2)), None, rng)
    with pytest.raises(ValueError, match="durations must be 2 positive numbers"):
        RecordedMoves(states=[[0.0], [1.0]], moves=[[1.0], [1.0]], durations=[1.0, 0.0])(np.zeros((2, 1)), None, rng)
    with pytest.raises(ValueError, match="they must be alike"):
        RecordedMoves(states=[[0.0], [1.0]], moves=[[1.0]])(np.zeros((2, 1)), None, rng)
    with pytest.raises(ValueError, match="without noise there is no density"):
        RecordedMoves(states=[[0.0]], moves=[[1.0]]).log_density([[1.0]], [[0.0]])


@pytest.mark.parametrize("angles", [(2,), (-3,), (0, 0), (1, -1), (0.5,), "0", 1, (True,)])
def test_angles_are_columns_of_the_states(angles):
    with pytest.raises(ValueError, match="these must be columns of the states, 0 to 1, each once"):
        RecordedMoves(angles=angles).fit(laps(30, 0))
    with pytest.raises(ValueError, match="these must be columns of the states, 0 to 1, each once"):
        RecordedMoves(angles=angles, states=laps(3, 0), moves=laps(3, 1))(laps(2, 0), None, np.random.default_rng(0))


def test_states_that_are_no_rows_or_not_known():
    rng, states = np.random.default_rng(0), laps(30, 0)
    motion, gappy = RecordedMoves().fit(states), np.where(np.arange(30)[:, None] == 7, np.nan, states)
    with pytest.raises(ValueError, match=r"the shape \(2,\); RecordedMoves moves rows of states, \(m, d\)"):
        motion(states[0], None, rng)
    with pytest.raises(ValueError, match="no recorded state is near them"):
        motion(gappy, None, rng)
    with pytest.raises(ValueError, match="must be finite; leave unknown ones out"):
        RecordedMoves(states=states, moves=gappy)(states, None, rng)
    with pytest.raises(ValueError, match=r"previous has the shape \(30, 2\) and next \(29, 2\)"):
        motion.log_density(states[1:], states)


def test_a_filter_refuses_it_before_it_has_learnt_anything():
    states = laps(80, 0)
    for transition in (RecordedMoves(), Mixture([GaussianRandomWalk(0.1), RecordedMoves()], [0.5, 0.5])):
        with pytest.raises(ValueError, match=r"no recorded moves: call fit\(sequences\)"):
            kmcf.KernelMonteCarloFilter(transition).fit(states, states)
    with pytest.raises(ValueError, match="neighbours = 0; it must be a whole number"):
        kmcf.KernelMonteCarloFilter(RecordedMoves().fit(states).set_params(neighbours=0)).fit(states, states)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"moves": np.zeros((3, 1))}, "they must be alike"),
        ({"durations": np.zeros(2)}, "durations must be 2 positive numbers"),
        ({"noise": [0.1, 0.2]}, "2 noises, but states have 1 columns"),
        ({"angles": [3]}, "these must be columns of the states"),
    ],
)
def test_what_does_not_fit_together_is_refused_before_the_first_move(change, told):
    motion = RecordedMoves(**{"states": np.zeros((2, 1)), "moves": np.ones((2, 1)), **change})
    with pytest.raises(ValueError, match=told):
        motion.check_usable()
