"""Motion in the robot's own frame: turn, drive, turn, as in Probabilistic Robotics (Thrun, Burgard, Fox), Table 5.6."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.arrays import FloatArray
from kmcf.circles import wrapped_difference

_STANDING = 1e-9
"""Metres; below this a motion is a turn on the spot, whose direction of driving is undefined."""


def relative_motions(poses: Any) -> FloatArray:
    """Return the motions between consecutive poses (x, y, heading) as (turn, distance, turn), (n − 1, 3).

    A robot that ends up behind its start has driven backwards: a negative distance, and not two half turns, for which
    Table 5.6 would add noise that no robot has. The first turn is in [−π/2, π/2].

    Examples
    --------
    >>> relative_motions([[0.0, 0.0, 0.0], [0.0, 2.0, np.pi]]).round(2)
    array([[1.57, 2.  , 1.57]])
    """
    places = np.asarray(poses, dtype=np.float64)
    step = np.diff(places[:, :2], axis=0)
    length = np.hypot(step[:, 0], step[:, 1])
    turn = wrapped_difference(np.arctan2(step[:, 1], step[:, 0]) - places[:-1, 2])
    turn = np.where(length > _STANDING, turn, 0.0)
    backwards = np.abs(turn) > np.pi / 2
    first = np.where(backwards, wrapped_difference(turn + np.pi), turn)
    second = wrapped_difference(np.diff(places[:, 2]) - first)
    return np.stack([first, np.where(backwards, -length, length), second], axis=1)


def integrate_motions(start: Any, motions: Any) -> FloatArray:
    """Return the poses (n + 1, 3) reached from ``start`` by motions (turn, distance, turn), (n, 3).

    Examples
    --------
    >>> integrate_motions([0.0, 0.0, 0.0], [[np.pi / 2, 2.0, np.pi / 2]])[-1].round(2) + 0.0
    array([0.  , 2.  , 3.14])
    """
    moves = np.asarray(motions, dtype=np.float64).reshape(-1, 3)
    x, y, heading = np.asarray(start, dtype=np.float64)
    headings = np.concatenate([[heading], heading + np.cumsum(moves[:, 0] + moves[:, 2])])
    directions = headings[:-1] + moves[:, 0]
    steps = moves[:, 1, None] * np.stack([np.cos(directions), np.sin(directions)], axis=1)
    places = np.cumsum(np.concatenate([[[x, y]], steps]), axis=0)
    return np.column_stack([places, wrapped_difference(headings)])


def compose_motions(motions: Any) -> FloatArray:
    """Return the one motion (turn, distance, turn) that leads where several do, one after the other.

    Examples
    --------
    >>> compose_motions([[0.0, 3.0, np.pi / 2], [0.0, 4.0, 0.0]]).round(3)
    array([0.927, 5.   , 0.644])
    """
    poses = integrate_motions(np.zeros(3), motions)
    return np.asarray(relative_motions(poses[[0, -1]])[0])


def measure_motions(motions: FloatArray, noise: FloatArray, rng: np.random.Generator) -> FloatArray:
    r"""Return motions as a robot's wheels report them, with the four noise parameters of Table 5.6.

    The variances are :math:`\alpha_1 r_1^2 + \alpha_2 d^2` for the first turn, :math:`\alpha_3 d^2 + \alpha_4 (r_1^2 +
    r_2^2)` for the distance and :math:`\alpha_1 r_2^2 + \alpha_2 d^2` for the second turn.
    """
    first, distance, second = (motions**2).T
    one, two, three, four = noise
    variances = np.stack(
        [one * first + two * distance, three * distance + four * (first + second), one * second + two * distance],
        axis=1,
    )
    return np.asarray(motions + np.sqrt(variances) * rng.standard_normal(motions.shape))
