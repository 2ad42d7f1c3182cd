"""Reading states: rows of numbers, poses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray


def states_of(rows: Any, name: str) -> FloatArray:
    """Read states as (m, d); a vector of m numbers is m states with one column.

    Examples
    --------
    >>> states_of([1.0, 2.0], "next").shape
    (2, 1)
    """
    states = np.asarray(rows, dtype=np.float64)
    states = states[:, None] if states.ndim == 1 else states
    if states.ndim != 2:
        raise ValueError(f"{name} has the shape {states.shape}; states are (m, d).")
    return states


def check_angle_columns(angles: Sequence[int], width: int, transition: str) -> None:
    """Raise an error unless angles are different columns of states.

    Examples
    --------
    >>> check_angle_columns([2], 2, "RecordedMoves")
    Traceback (most recent call last):
    ValueError: RecordedMoves has angles = [2]; these must be columns of the states, 0 to 1, each once.
    """
    columns = np.asarray(angles)
    if columns.shape != (0,) and (
        columns.ndim != 1
        or columns.dtype.kind not in "iu"
        or not ((columns >= -width) & (columns < width)).all()
        or len(set((columns % width).tolist())) < len(columns)
    ):
        raise ValueError(
            f"{transition} has angles = {angles!r}; these must be columns of the states, 0 to {width - 1}, each once."
        )


def check_poses(states: Array, transition: str) -> None:
    """Raise an error unless states are poses (x, y, heading)."""
    if states.ndim != 2 or states.shape[1] != 3:
        raise ValueError(f"states have the shape {states.shape}; {transition} moves poses (x, y, heading).")
