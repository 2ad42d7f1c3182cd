"""Ellipses: regions around a mean, in two columns of the state or in all of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.numerics.circles import wrapped_columns


class Ellipse(NamedTuple):
    """All points x with (x − centre)ᵀ matrix⁻¹ (x − centre) ≤ 1.

    Examples
    --------
    >>> ellipse = Ellipse(np.zeros(2), np.diag([4.0, 1.0]))
    >>> ellipse.contains([[1.9, 0.0], [0.0, 1.9]])
    array([ True, False])
    """

    centre: FloatArray
    """(k,)"""
    matrix: FloatArray
    """(k, k), positive semi-definite: a covariance times the squared radius."""
    angles: tuple[int, ...] = ()
    """Which of its columns are angles."""

    def contains(self, points: Any) -> BoolArray:
        """Say which points, (m, k) or (k,), lie inside."""
        rows = np.atleast_2d(np.asarray(points, dtype=np.float64))
        if rows.shape[1] != len(self.centre):
            raise ValueError(f"the ellipse has {len(self.centre)} columns, but the points have shape {rows.shape}.")
        away = wrapped_columns(rows - self.centre, self.angles)
        variances, axes = np.linalg.eigh(self.matrix)
        along = away @ axes
        flat = variances <= 1e-12 * max(float(variances.max(initial=0.0)), np.finfo(float).tiny)
        inside = np.sum(along[:, ~flat] ** 2 / variances[~flat], axis=1) <= 1.0
        return np.asarray(inside & np.all(np.abs(along[:, flat]) <= 1e-9, axis=1))

    def outline(self, size: int = 60) -> FloatArray:
        """Return points on the border of an ellipse in two columns, (size, 2), to draw it."""
        if len(self.centre) != 2:
            raise ValueError(f"only an ellipse in two columns can be drawn, not in {len(self.centre)}.")
        variances, axes = np.linalg.eigh(self.matrix)
        turn = np.linspace(0.0, 2.0 * np.pi, size)
        circle = np.stack([np.cos(turn), np.sin(turn)])
        return self.centre + ((axes * np.sqrt(np.maximum(variances, 0.0))) @ circle).T
