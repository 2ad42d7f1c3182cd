"""Where the example states end: their convex hull in up to three dimensions, otherwise their bounding box."""

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


@dataclass(frozen=True, eq=False)
class Hull:
    """Half-spaces a·x ≤ b whose intersection holds all example states; angles are left out."""

    normals: FloatArray
    """(F, c)."""
    offsets: FloatArray
    """(F,)."""
    columns: IntArray
    """The state columns that are not angles."""

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
        normals, offsets = _box(rows)
        if 2 <= len(columns) <= HULL_COLUMNS and len(rows) > len(columns) + 1:
            try:
                equations = np.unique(ConvexHull(rows).equations, axis=0)
                normals, offsets = equations[:, :-1], -equations[:, -1]
            except QhullError:
                pass  # the examples lie on a line or a plane: the box is what remains
        extent = float(np.ptp(rows, axis=0).max())
        return cls(normals, offsets + ROUNDING * max(extent, np.finfo(float).tiny), columns)

    def outside(self, states: FloatArray) -> BoolArray:
        """Say which states lie outside, (m,)."""
        rows = np.asarray(states, dtype=np.float64).reshape(len(states), -1)[:, self.columns]
        return np.asarray((rows @ self.normals.T > self.offsets).any(axis=1))


def _box(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    unit = np.eye(rows.shape[1])
    return np.vstack([unit, -unit]), np.concatenate([rows.max(axis=0), -rows.min(axis=0)])
