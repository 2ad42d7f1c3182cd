"""Velocities derived from recorded positions, as further columns of the state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kmcf.datasets.recording import Recording
from kmcf.numerics.arrays import FloatArray

SUFFIX = "_velocity"
"""How the names of derived columns end."""


def velocity_names(positions: Sequence[str]) -> tuple[str, ...]:
    """Return what the velocities of positions are called.

    Examples
    --------
    >>> velocity_names(["x", "y"])
    ('x_velocity', 'y_velocity')
    """
    return tuple(f"{name}{SUFFIX}" for name in positions)


def with_velocity_columns(recording: Recording) -> Recording:
    """Append the velocity of every state column: central differences, per unit of time, one-sided at the ends.

    A velocity is unknown (NaN) where the position is, or that of a neighbouring row. Next to a gap in time it is nearly
    that of the short step on the other side, since differences count the less the longer they took.

    Parameters
    ----------
    recording : Recording
        Its states are positions; columns that are angles get angular velocities.

    Examples
    --------
    >>> walk = Recording("walk", np.array([0.0, 1.0, 3.0]), np.array([[0.0], [2.0], [2.0]]), np.zeros((3, 1)),
    ...                  names={"states": ("x",)})
    >>> moving = with_velocity_columns(walk)
    >>> moving.names["states"], moving.states[:, 1].round(3)
    (('x', 'x_velocity'), array([2.   , 1.333, 0.   ]))
    """
    if not isinstance(recording, Recording):
        raise TypeError(f"with_velocity_columns takes one recording, not {type(recording).__name__}.")
    if "positions" in recording.names:
        raise ValueError(f"the recording {recording.name!r} has velocity columns already.")
    positions = recording.names.get("states") or tuple(f"state_{j}" for j in range(recording.states.shape[1]))
    states = np.concatenate([recording.states, _velocities(recording)], axis=1)
    names = {**recording.names, "states": (*positions, *velocity_names(positions)), "positions": positions}
    return replace(recording, states=states, names=names)


def _velocities(recording: Recording) -> FloatArray:
    if len(recording) < 2:
        return np.full(recording.states.shape, np.nan)
    if (np.diff(recording.time) <= 0).any():
        raise ValueError(f"the times of the recording {recording.name!r} must increase, to derive velocities.")
    track = np.array(recording.states, dtype=np.float64)
    for column in recording.angles:
        known = np.isfinite(track[:, column])
        track[known, column] = np.unwrap(track[known, column])
    return np.where(np.isfinite(track), np.gradient(track, recording.time, axis=0), np.nan)
