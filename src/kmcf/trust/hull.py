"""Where the example states end: their convex hull in up to three dimensions, otherwise their bounding box.

Where they lie on a line or a plane, the hull is taken along it, and the box across.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from kmcf.numerics.arrays import BoolArray, FloatArray, IntArray
from kmcf.numerics.objects import Objects, is_numeric

HULL_COLUMNS = 3
ROUNDING = 1e-9
"""Points count as outside beyond this share of the examples' extent."""
LEAST_EXTENT = 1e-5
"""Columns count as this share of their largest number wide at least: means of large numbers are rounded, too."""


@dataclass(frozen=True, eq=False)
class Hull:
    """Half-spaces a·x ≤ b whose intersection holds all example states; angles are left out."""

    normals: FloatArray
    """(F, c)."""
    offsets: FloatArray
    """(F,)."""
    columns: IntArray
    """The state columns that are not angles."""
    spreads: FloatArray
    """Standard deviation of the examples along each normal, (F,)."""

    @classmethod
    def of(cls, states: Objects, angles: Sequence[int] = ()) -> Self | None:
        """Find the half-spaces; None where states are not numbers, or all angles.

        Examples
        --------
        >>> square = Hull.of(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
        >>> square.outside(np.array([[0.5, 0.5], [1.0, 1.0], [1.5, 0.5]])).tolist()
        [False, False, True]
        """
        if not is_numeric(states):
            return None
        rows = np.asarray(states, dtype=np.float64).reshape(len(states), -1)
        columns = np.array([j for j in range(rows.shape[1]) if j not in set(angles)], dtype=np.intp)
        if not len(columns):
            return None
        rows = rows[:, columns]
        # All columns get about the same extent: what is far must not depend on units.
        widths = np.maximum(np.ptp(rows, axis=0), LEAST_EXTENT * np.abs(rows).max(axis=0))
        widths[widths == 0.0] = 1.0
        middle = 0.5 * (rows.min(axis=0) + rows.max(axis=0))
        normals, offsets = _sides((rows - middle) / widths)
        normals = normals / widths
        along = (rows - middle) @ normals.T
        return cls(normals, offsets + normals @ middle + ROUNDING, columns, np.maximum(along.std(axis=0), ROUNDING))

    def outside(self, states: FloatArray) -> BoolArray:
        """Say which states lie outside, (m,)."""
        beyond = self._along(states) > self.offsets
        if not np.count_nonzero(beyond):  # as usual, and found fast
            return np.zeros(len(beyond), dtype=bool)
        return np.asarray(beyond.any(axis=1))

    def beyond(self, states: FloatArray) -> FloatArray:
        """Return how far states lie beyond the nearest side, in standard deviations of the examples, (m,).

        It is negative inside. Units of columns do not matter.

        Examples
        --------
        >>> line = Hull.of(np.linspace(0.0, 10.0, 101)[:, None])
        >>> line.beyond(np.array([[4.0], [10.0], [13.0]])).round(2).tolist()
        [-1.37, -0.0, 1.03]
        """
        return np.asarray(((self._along(states) - self.offsets) / self.spreads).max(axis=1))

    def _along(self, states: FloatArray) -> FloatArray:
        rows = np.asarray(states, dtype=np.float64).reshape(len(states), -1)
        return np.asarray((rows if len(self.columns) == rows.shape[1] else rows[:, self.columns]) @ self.normals.T)


def _sides(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return normals and offsets of the convex hull of rows about as wide as high; if they are flat, within a box."""
    dimension = rows.shape[1]
    if dimension == 1 or len(rows) <= 2:
        return _box(rows)
    centred = rows - rows.mean(axis=0)
    _, lengths, axes = np.linalg.svd(centred, full_matrices=False)
    rank = int(np.count_nonzero(lengths > ROUNDING * len(rows) ** 0.5))
    if not 1 <= rank <= HULL_COLUMNS:
        return _box(rows)
    if rank == dimension:
        return _hull(rows)
    basis = axes[:rank]
    normals, offsets = _hull(rows @ basis.T)
    around = _box(rows)  # of the directions in which they are flat
    return np.vstack([normals @ basis, around[0]]), np.concatenate([offsets, around[1]])


def _hull(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    if rows.shape[1] == 1:
        return _box(rows)
    try:
        equations = np.unique(ConvexHull(rows).equations, axis=0)
    except QhullError:  # they are nearly flat
        return _box(rows)
    return equations[:, :-1], -equations[:, -1]


def _box(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    unit = np.eye(rows.shape[1])
    return np.vstack([unit, -unit]), np.concatenate([rows.max(axis=0), -rows.min(axis=0)])
