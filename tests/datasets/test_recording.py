import numpy as np
import pytest

from kmcf.datasets import Recording, examples, hold_out, kept, thinned
from kmcf.datasets.recording import MOTION
from kmcf.numerics.poses import moved, odometry_controls


def recording(length=6, **changes):
    values = {
        "name": "r",
        "time": np.arange(float(length)),
        "states": np.arange(2.0 * length).reshape(length, 2),
        "observations": np.arange(float(length))[:, None],
        "controls": np.arange(float(length)),
    }
    return Recording(**(values | changes))


def test_examples_are_the_known_and_observed_steps():
    one = recording(observations=np.array([[0.0], [np.nan], [2.0], [3.0], [4.0], [5.0]]))
    one.states[3] = np.nan
    states, observations = examples([one, recording(2)])
    np.testing.assert_array_equal(observations[:, 0], [0, 2, 4, 5, 0, 1])
    np.testing.assert_array_equal(states[:, 0], [0, 4, 8, 10, 0, 2])
    assert repr(one) == "Recording('r', 6 steps, 1 missing observation, 1 unknown state)"


def test_examples_of_objects():
    listed = recording(3, observations=["a", None, "b"])
    assert examples(listed)[1] == ["a", "b"]
    assert examples([listed, recording(1)])[1][:2] == ["a", "b"]
    with pytest.raises(ValueError, match="no recordings"):
        examples([])


def test_parts_keep_controls_with_their_moves():
    part = recording()[2:5]
    np.testing.assert_array_equal(part.controls, [2, 3, 4])
    np.testing.assert_array_equal(part.observations[:, 0], [2, 3, 4])
    for wrong in (slice(0, 5, 2), 3, [1, 2]):
        with pytest.raises(TypeError, match="take successive steps"):
            recording()[wrong]


def test_thinning_puts_motions_together():
    poses = np.cumsum(np.random.default_rng(0).normal(size=(11, 3)), axis=0)
    poses[:, 2] = np.angle(np.exp(1j * poses[:, 2]))
    full = Recording("r", np.arange(11.0), poses, list(range(11)), odometry_controls(poses), names={"controls": MOTION})
    thin = thinned(full, 3)
    assert thin.observations == [0, 3, 6, 9]
    for t in range(1, 4):
        reached = moved(thin.states[t - 1], thin.controls[t])
        np.testing.assert_allclose(reached[:2], thin.states[t, :2], atol=1e-9)
        assert np.cos(reached[2] - thin.states[t, 2]) == pytest.approx(1)
    assert thinned(recording(controls=None), 2).controls is None
    with pytest.raises(ValueError, match="are not motions"):
        thinned(recording(), 2)
    with pytest.raises(ValueError, match="every = 0"):
        thinned(recording(), 0)


def test_holding_out():
    (before, after), test = hold_out(recording(10), 3, 6, buffer=2)
    assert (list(before.time), list(test.time), list(after.time)) == ([0], [3, 4, 5], [8, 9])
    assert [list(part.time) for part in hold_out(recording(4), 0, 2)[0]] == [[2, 3]]
    with pytest.raises(ValueError, match="cannot be held out of the 4 steps"):
        hold_out(recording(4), 2, 9)


def test_keeping_some_steps_leads_to_the_same_poses():
    poses = np.cumsum(np.random.default_rng(1).normal(size=(9, 3)), axis=0)
    full = Recording(
        "r", np.arange(9.0), poses, list("abcdefghi"), odometry_controls(poses), names={"controls": MOTION}
    )
    some = kept(full, [1, 2, 5, 8])
    assert some.observations == ["b", "c", "f", "i"]
    np.testing.assert_array_equal(some.controls[0], 0.0)
    for t in range(1, 4):
        np.testing.assert_allclose(moved(some.states[t - 1], some.controls[t])[:2], some.states[t, :2], atol=1e-9)
    np.testing.assert_array_equal(kept(full, poses[:, 0] > 1e9).time, [])
    with pytest.raises(ValueError, match="must increase"):
        kept(full, [3, 2])
