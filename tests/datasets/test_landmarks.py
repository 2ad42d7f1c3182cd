"""Landmarks carried along by odometry."""

import numpy as np
import pytest

from kmcf.datasets import Recording, recent_landmarks
from kmcf.datasets.recording import MOTION
from kmcf.numerics.poses import odometry_controls

POSTS = {6: (3.0, 1.0), 7: (-2.0, 4.0), 8: (0.5, -3.0)}


def drive(length=12):
    """A robot that sees one post per step, in turn, and nothing in some steps."""
    rng = np.random.default_rng(0)
    poses = np.cumsum(rng.normal(scale=0.4, size=(length, 3)), axis=0)
    poses[:, 2] = np.angle(np.exp(1j * poses[:, 2]))
    seen = []
    for t, (x, y, heading) in enumerate(poses):
        subject = 6 + t % 3
        across, up = np.subtract(POSTS[subject], (x, y))
        row = [subject, np.hypot(across, up), np.arctan2(up, across) - heading]
        seen.append(None if t % 4 == 3 else np.array([row]))
    names = {"controls": MOTION}
    return Recording("drive", np.arange(float(length)), poses, seen, odometry_controls(poses), names=names)


def test_with_exact_odometry_remembered_landmarks_are_where_they_are():
    recording = drive()
    lately = recent_landmarks(recording, 6.0)
    for (x, y, heading), rows in zip(lately.states, lately.observations, strict=True):
        for subject, ahead, left in rows:
            place = [
                x + ahead * np.cos(heading) - left * np.sin(heading),
                y + ahead * np.sin(heading) + left * np.cos(heading),
            ]
            np.testing.assert_allclose(place, POSTS[subject], atol=1e-9)
    assert [len(rows) for rows in lately.observations[:6]] == [1, 2, 3, 3, 3, 3]


def test_memory_ends_and_without_it_missing_stays_missing():
    recording = drive()
    now = recent_landmarks(recording)
    assert [rows is None for rows in now.observations] == [seen is None for seen in recording.observations]
    assert all(rows is None or len(rows) == 1 for rows in now.observations)
    gap = Recording(
        "gap",
        np.arange(5.0),
        np.zeros((5, 3)),
        [recording.observations[0], None, None, None, None],
        np.zeros((5, 3)),
        names={"controls": MOTION},
    )
    assert [rows is None for rows in recent_landmarks(gap, 2.0).observations] == [False, False, False, True, True]


def test_several_sightings_in_one_step_are_averaged():
    rows = np.array([[7.0, 2.0, 0.0], [7.0, 4.0, 0.0]])
    still = Recording("still", np.zeros(1), np.zeros((1, 3)), [rows], np.zeros((1, 3)), names={"controls": MOTION})
    np.testing.assert_allclose(recent_landmarks(still).observations[0], [[7.0, 3.0, 0.0]])


def test_bad_input():
    with pytest.raises(ValueError, match="seconds = -1"):
        recent_landmarks(drive(), -1)
    with pytest.raises(ValueError, match="'r' has no motions"):
        recent_landmarks(Recording("r", np.zeros(1), np.zeros((1, 3)), [None], np.zeros((1, 2))), 3.0)
