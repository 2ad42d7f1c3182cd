"""A robot that follows a closed route: never in exactly the same way or at the same speed, never into a wall."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter1d

from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.circles import wrapped_difference
from kmcf_lab.localize.building.plan import FloorPlan

ROBOT_RADIUS = 0.2
_STEP = 0.02  # m between points of the route
_CORNER = 0.35  # m, how widely corners are rounded
_SIDEWAYS = (0.15, 3.0)  # m: size and length of the deviations from the route
_WOBBLE = (np.deg2rad(3.0), 1.0)  # rad, m: the same for the heading
_HASTE = (0.2, 4.0)  # relative, m: the same for the logarithm of the speed
_CAUTION = 0.35  # m; the robot halves its speed in curves of this radius


def smooth_route(waypoints: Any) -> FloatArray:
    """Return a smooth closed line, given its corners, as points (n, 2) about 2 cm apart.

    Examples
    --------
    >>> line = smooth_route([[0, 0], [4, 0], [4, 4], [0, 4]])
    >>> bool(line.min() >= 0 and line.max() <= 4)
    True
    """
    corners = np.asarray(waypoints, dtype=np.float64)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or not np.isfinite(corners).all():
        raise ValueError(f"a route needs at least three waypoints (x, y), got an array of shape {corners.shape}.")
    even = _resample(np.concatenate([corners, corners[:1]]), _STEP)
    return np.asarray(gaussian_filter1d(even, _CORNER / _STEP, axis=0, mode="wrap"))


def drive_lap(
    plan: FloorPlan, route: FloatArray, speed: float, interval: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Drive the route once.

    Parameters
    ----------
    plan : FloorPlan
        Where the walls are.
    route : array (n, 2)
        From :func:`smooth_route`; the robot stays within a few decimetres of it.
    speed : float
        Metres per second on straights, on average.
    interval : float
        Seconds between the returned poses.
    rng : Generator
        For the deviations.

    Returns
    -------
    time : array (T,)
    poses : array (T, 3)
        x, y in metres, heading in radians in (−π, π].
    """
    line = _resample(np.concatenate([route, route[:1]]), _STEP)
    room = plan.clearance(line) - ROBOT_RADIUS
    if room.min() <= 0:
        x, y = line[room.argmin()]
        raise ValueError(
            f"the route comes closer than {ROBOT_RADIUS} m to a wall at ({x:.2f}, {y:.2f}); move its waypoints."
        )
    forward = _directions(line)
    size, length = _SIDEWAYS
    aside = np.clip(_smooth_noise(len(line), size, length, rng), -room, room)
    # Smoothing the clipped deviations keeps the heading continuous; clipping again keeps the promise about walls.
    aside = np.clip(gaussian_filter1d(aside, 0.2 / _STEP, mode="wrap"), -room, room)
    driven = line + aside[:, None] * np.stack([-forward[:, 1], forward[:, 0]], axis=1)
    steps = np.linalg.norm(np.roll(driven, -1, axis=0) - driven, axis=1)
    heading = np.unwrap(np.arctan2(*_directions(driven).T[::-1]))
    curvature = np.abs(np.gradient(heading)) / _STEP
    pace = speed * np.exp(_smooth_noise(len(line), *_HASTE, rng)) / (1.0 + _CAUTION * curvature)
    clock = np.concatenate([[0.0], np.cumsum(steps / gaussian_filter1d(pace, 0.3 / _STEP, mode="wrap"))])[:-1]
    time = np.arange(0.0, clock[-1], interval)
    heading = heading + _smooth_noise(len(line), *_WOBBLE, rng)
    poses = np.column_stack([np.interp(time, clock, column) for column in (driven[:, 0], driven[:, 1], heading)])
    poses[:, 2] = wrapped_difference(poses[:, 2])
    return time, poses


def _resample(line: FloatArray, step: float) -> FloatArray:
    """Return points about ``step`` apart along a polygon, without its last one (a closed line's first)."""
    place = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    wanted = np.linspace(0.0, place[-1], max(3, round(place[-1] / step)), endpoint=False)
    return np.column_stack([np.interp(wanted, place, line[:, axis]) for axis in (0, 1)])


def _directions(line: FloatArray) -> FloatArray:
    """Return unit vectors along a closed line."""
    ahead = np.roll(line, -1, axis=0) - np.roll(line, 1, axis=0)
    return np.asarray(ahead / np.linalg.norm(ahead, axis=1, keepdims=True))


def _smooth_noise(points: int, size: float, length: float, rng: np.random.Generator) -> FloatArray:
    """Return periodic Gaussian noise with standard deviation ``size``, smooth over ``length`` metres."""
    noise = gaussian_filter1d(rng.standard_normal(points), length / _STEP, mode="wrap")
    # The filter averages about 2 √π σ independent values.
    return np.asarray(size * noise * np.sqrt(2.0 * np.sqrt(np.pi) * length / _STEP))
