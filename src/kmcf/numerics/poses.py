"""Poses (x, y, heading) in the plane: the motion from one to the next, and interpolation between them.

A *motion* is the triple (rotation, translation, rotation) of the odometry model of Probabilistic Robotics (Thrun,
Burgard, Fox; Section 5.4): turn, drive straight, turn again. Motions are computed on NumPy and JAX arrays, along
leading axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, array_namespace
from kmcf.numerics.circles import wrapped_difference

STANDING = 1e-9
"""Metres: a shorter move has no direction, and all turning goes into the second rotation."""


def relative_motion(before: Any, after: Any) -> Array:
    """Return the motion (rotation, translation, rotation) that leads from one pose to another.

    Lines 2 to 4 of Table 5.6, with one departure: a robot that backs up has a negative translation here, and not two
    half turns, for which the model would add noise that no robot has. The first rotation is in [−π/2, π/2].

    Parameters
    ----------
    before, after : array (..., 3)
        Poses.

    Examples
    --------
    >>> relative_motion([0.0, 0.0, 0.0], [0.0, 2.0, np.pi]).round(2)
    array([1.57, 2.  , 1.57])
    >>> relative_motion([0.0, 0.0, 0.0], [-1.0, 0.0, 0.5]).round(2) + 0.0
    array([ 0. , -1. ,  0.5])
    """
    xp = array_namespace(before, after)
    before, after = xp.asarray(before), xp.asarray(after)
    way = after[..., :2] - before[..., :2]
    length = xp.sqrt(xp.sum(way**2, axis=-1))
    standing = length < STANDING
    turn = xp.where(standing, 0.0, wrapped_difference(xp.arctan2(way[..., 1], way[..., 0]) - before[..., 2]))
    backwards = xp.abs(turn) > 0.5 * np.pi
    first = xp.where(backwards, wrapped_difference(turn + np.pi), turn)
    second = wrapped_difference(after[..., 2] - before[..., 2] - first)
    return xp.stack([first, xp.where(backwards, -length, length), second], axis=-1)


def moved(poses: Any, motion: Any) -> Array:
    """Return the poses after a motion: lines 8 to 10 of Table 5.6.

    Parameters
    ----------
    poses : array (..., 3)
        (x, y, heading).
    motion : array (..., 3)
        (rotation, translation, rotation).

    Examples
    --------
    >>> moved([1.0, 0.0, 0.0], [np.pi / 2, 2.0, np.pi / 2]).round(2)
    array([1.  , 2.  , 3.14])
    """
    xp = array_namespace(poses, motion)
    poses, motion = xp.asarray(poses), xp.asarray(motion)
    direction = poses[..., 2] + motion[..., 0]
    return xp.stack(
        [
            poses[..., 0] + motion[..., 1] * xp.cos(direction),
            poses[..., 1] + motion[..., 1] * xp.sin(direction),
            wrapped_difference(direction + motion[..., 2]),
        ],
        axis=-1,
    )


def odometry_controls(poses: Any) -> FloatArray:
    """Return the motions between successive odometry poses: ``controls[t]`` leads from pose t − 1 to pose t.

    The first is zero, as a filter makes no move in its first step.

    Parameters
    ----------
    poses : array (T, 3)
        Poses in the odometry's own frame.

    Examples
    --------
    >>> odometry_controls([[0.0, 0.0, 0.0], [1.0, 0.0, 0.5], [1.0, 0.0, 0.7]]).round(2)
    array([[0. , 0. , 0. ],
           [0. , 1. , 0.5],
           [0. , 0. , 0.2]])
    """
    track = np.asarray(poses, dtype=np.float64)
    if track.ndim != 2 or track.shape[1] != 3:
        raise ValueError(f"poses have the shape {track.shape}; (T, 3) is needed: x, y, heading.")
    return np.concatenate([np.zeros((min(1, len(track)), 3)), relative_motion(track[:-1], track[1:])])


def interpolated(times: FloatArray, poses: FloatArray, wanted: FloatArray) -> FloatArray:
    """Interpolate poses linearly in time, headings along the shorter arc; outside the track its nearer end is used.

    Examples
    --------
    >>> interpolated(np.array([0.0, 1.0]), np.array([[0.0, 0.0, 3.0], [2.0, 0.0, -3.0]]), np.array([0.5])).round(2)
    array([[1.  , 0.  , 3.14]])
    """
    unwrapped = np.unwrap(poses[:, 2])
    columns = [np.interp(wanted, times, column) for column in (poses[:, 0], poses[:, 1], unwrapped)]
    columns[2] = wrapped_difference(columns[2])
    return np.stack(columns, axis=1)


def chained(motions: Any) -> FloatArray:
    """Return the single motion that is equivalent to several in succession.

    Parameters
    ----------
    motions : array (k, 3)
        Rotations, translations and rotations, in order.

    Examples
    --------
    >>> quarter = [0.0, 1.0, np.pi / 2]
    >>> chained([quarter, quarter]).round(3)
    array([0.785, 1.414, 2.356])
    """
    pose = np.zeros(3)
    for motion in np.asarray(motions, dtype=np.float64):
        pose = moved(pose, motion)
    return relative_motion(np.zeros(3), pose)
