"""The plane of a map: both axes in the same unit and at the same scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.report.canvas import WALL, Canvas, blank, source
from kmcf.support.extras import require

_FLATTEST, _TALLEST = 2.6, 1.0
"""Widths of a map for each of its heights; what is flatter or taller has room beside it."""
_LEAST_HEIGHT, _MOST_HEIGHT = 270, 620


def positions(values: ArrayLike | None, what: str) -> FloatArray:
    """Read positions as (n, 2); an error says what is wrong with them.

    Examples
    --------
    >>> positions([1.0, 2.0], "the true state")
    array([[1., 2.]])
    """
    array = np.zeros((0, 2)) if values is None else np.asarray(values, dtype=np.float64)
    array = array[None] if array.shape == (2,) else array
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{what} has shape {array.shape}; a map needs positions of shape (n, 2).")
    return array


def known(points: FloatArray) -> BoolArray:
    """Return which of the positions (n, 2) are finite."""
    return np.all(np.isfinite(points), axis=1)


def segments(walls: ArrayLike | None) -> FloatArray:
    """Read walls as (m, 4): x and y of one end, x and y of the other."""
    array = np.zeros((0, 4)) if walls is None else np.asarray(walls, dtype=np.float64)
    if array.ndim == 3 and array.shape[1:] == (2, 2):
        array = array.reshape(-1, 4)
    if array.ndim != 2 or array.shape[1] != 4:
        raise ValueError(f"walls have shape {array.shape}; give segments (m, 4): x and y of one end and of the other.")
    return array


@dataclass(frozen=True)
class Plane:
    """A rectangle that holds everything to be shown."""

    left: float
    right: float
    bottom: float
    top: float

    @classmethod
    def around(cls, collections: Sequence[FloatArray]) -> Plane:
        """Choose the smallest plane around positions (n, 2) that are finite and not strays."""
        everything = np.concatenate([*collections, np.zeros((0, 2))])
        everything = _without_strays(everything[known(everything)])
        low, high = everything.min(axis=0), everything.max(axis=0)
        room = 0.04 * float((high - low).max()) or 0.5
        (left, bottom), (right, top) = low - room, high + room
        return cls(float(left), float(right), float(bottom), float(top))

    def outside(self, points: FloatArray) -> int:
        """Count the positions that lie beyond the edges."""
        x, y = points[known(points)].T
        return int(np.sum((x < self.left) | (x > self.right) | (y < self.bottom) | (y > self.top)))

    def canvas(self, axes: tuple[str, str], unit: str, walls: FloatArray) -> Canvas:
        """Return a map of the plane, of the same scale in both directions at any width, with walls (m, 4)."""
        models = require("bokeh.models", "report")
        words = f" ({unit})" if unit else ""
        wanted = (self.right - self.left) / (self.top - self.bottom)
        aspect = float(np.clip(wanted, _TALLEST, _FLATTEST))
        sizes: dict[str, Any] = {"aspect_ratio": aspect, "min_height": _LEAST_HEIGHT, "max_height": _MOST_HEIGHT}
        plot = blank(f"{axes[0]}{words}", f"{axes[1]}{words}", match_aspect=True, **sizes)
        # Bokeh keeps both scales equal around what a range follows: here the corners, not strays.
        corners = source(left=[self.left], right=[self.right], bottom=[self.bottom], top=[self.top])
        box = {"left": "left", "right": "right", "bottom": "bottom", "top": "top"}
        edge = plot.quad(**box, source=corners, fill_alpha=0.0, line_alpha=0.0)
        for kind in ("x_range", "y_range"):
            setattr(plot, kind, models.DataRange1d(renderers=[edge], range_padding=0.0))
        canvas = Canvas(plot)
        if len(walls):
            ends = dict(zip(("x0", "y0", "x1", "y1"), walls.T, strict=True))
            plot.segment("x0", "y0", "x1", "y1", source=source(**ends), color=WALL, line_width=2.5, line_cap="round")
        return canvas


def _without_strays(points: FloatArray) -> FloatArray:
    """Drop what lies far outside of nearly everything else: signed weights can put a mean anywhere."""
    if len(points) == 0:
        return np.array([[0.0, 0.0], [1.0, 1.0]])
    low = np.quantile(points, 0.05, axis=0, method="higher")
    high = np.quantile(points, 0.95, axis=0, method="lower")
    far = 2.0 * float(np.max(high - low))
    near: BoolArray = np.all((points >= low - far) & (points <= high + far), axis=1)
    return points[near] if far > 0 else points
