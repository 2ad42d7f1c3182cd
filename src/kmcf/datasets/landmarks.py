"""Recently seen landmarks, carried along by the odometry: an observation that says more than a single look."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kmcf.datasets.recording import MOTION, Recording
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.poses import moved


def recent_landmarks(recording: Recording, seconds: float = 0.0) -> Recording:
    """Replace sets of (subject, range, bearing) by recently seen landmarks, (subject, x, y) as seen from the robot.

    Every landmark seen in the last ``seconds`` counts at its latest sighting, or at the mean of the sightings of that
    step; the motions since then carry it into the robot's present frame (x ahead, y to the left). A robot that saw
    three posts while turning thus knows all three, though it never saw them at once. Steps without any stay missing.

    Parameters
    ----------
    recording : Recording
        With observations of rows (subject, range, bearing) or None, as :func:`~kmcf.datasets.mrclam` loads them, and
        with motions as controls.
    seconds : float
        How long a landmark is remembered; 0: what is seen now.

    Examples
    --------
    >>> drive = Recording("drive", np.arange(2.0), np.zeros((2, 3)), [np.array([[7.0, 3.0, 0.0]]), None],
    ...                   np.array([[0.0, 0.0, 0.0], [0.0, 1.0, np.pi / 2]]), names={"controls": MOTION})
    >>> recent_landmarks(drive, 10.0).observations[1].round(2) + 0.0
    array([[ 7.,  0., -2.]])
    """
    if not seconds >= 0:
        raise ValueError(f"seconds = {seconds!r}; it must be a number >= 0.")
    if seconds > 0 and recording.names.get("controls") != MOTION:
        raise ValueError(f"{recording.name!r} has no motions as controls; they carry landmarks from step to step.")
    pose = np.zeros(3)
    remembered: dict[int, tuple[float, FloatArray]] = {}
    found: list[Any] = []
    for t, seen in enumerate(recording.observations):
        if recording.controls is not None and t > 0:
            pose = moved(pose, recording.controls[t])
        now = float(recording.time[t])
        remembered = {key: old for key, old in remembered.items() if now - old[0] <= seconds and seconds > 0}
        remembered |= {key: (now, place) for key, place in _places(seen, pose).items()}
        found.append(_from_robot(remembered, pose))
    names = {**recording.names, "observations": ("subject", "x", "y")}
    units = {**recording.units, "observations": "number, m, m"}
    return replace(recording, observations=found, names=names, units=units)


def _places(seen: Any, pose: FloatArray) -> dict[int, FloatArray]:
    """Return where the landmarks in view are, in the frame in which the robot has this pose."""
    if seen is None:
        return {}
    subject, distance, bearing = np.asarray(seen, dtype=np.float64).reshape(-1, 3).T
    direction = pose[2] + bearing
    points = pose[:2] + distance[:, None] * np.stack([np.cos(direction), np.sin(direction)], axis=1)
    return {int(key): points[subject == key].mean(axis=0) for key in np.unique(subject)}


def _from_robot(remembered: dict[int, tuple[float, FloatArray]], pose: FloatArray) -> FloatArray | None:
    if not remembered:
        return None
    places = np.array([place for _, place in remembered.values()]) - pose[:2]
    ahead = np.array([np.cos(pose[2]), np.sin(pose[2])])
    left = np.array([-ahead[1], ahead[0]])
    return np.column_stack([list(remembered), places @ ahead, places @ left])
