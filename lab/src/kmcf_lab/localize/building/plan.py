"""Floor plans: free rectangles joined into one space, the walls around it, and what stands in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.support.extras import require

_OUTSIDE = 1e-6
"""Metres: how far beside a wall we look to see whether it separates anything."""


@dataclass(frozen=True)
class Space:
    """A free rectangle: a room, a part of a corridor, or a doorway between two others.

    Attributes
    ----------
    name : str
        Its name.
    corners : tuple (x_min, y_min, x_max, y_max)
        In metres.
    style : str
        How it is painted and furnished.
    look : str
        Spaces with the same look (and size) have the same paint and furniture to the last pixel; empty: a look of its
        own.
    turned : bool
        Whether the look is turned by 180°.
    """

    name: str
    corners: tuple[float, float, float, float]
    style: str = "corridor"
    look: str = ""
    turned: bool = False


@dataclass(frozen=True)
class Wall:
    """A straight piece of wall; seen from the free side, ``start`` is on the left and ``end`` on the right.

    Attributes
    ----------
    start, end : tuple (x, y)
        Ends in metres.
    space : Space
        The space it belongs to.
    index : int
        Its number within the space, counted in the frame of the look.
    """

    start: tuple[float, float]
    end: tuple[float, float]
    space: Space
    index: int

    @property
    def length(self) -> float:
        """Length in metres."""
        return float(np.hypot(self.end[0] - self.start[0], self.end[1] - self.start[1]))


@dataclass(frozen=True)
class FloorPlan:
    """The union of free rectangles, less solid blocks (shelves, pillars) that stand in it from floor to ceiling.

    Parameters
    ----------
    spaces : tuple of Space
        Free rectangles; those that share a piece of an edge, or overlap, are open to each other there.
    blocks : tuple of Space
        Solid rectangles, each within the free space.

    Examples
    --------
    >>> plan = FloorPlan((Space("west", (0, 0, 2, 2)), Space("east", (2, 0, 4, 2))))
    >>> len(plan.walls)
    6
    >>> plan.clearance([[1.0, 0.5], [5.0, 5.0]])
    array([0.5, 0. ])
    """

    spaces: tuple[Space, ...]
    blocks: tuple[Space, ...] = ()

    def __post_init__(self) -> None:
        if not self.spaces:
            raise ValueError("a floor plan needs at least one space.")
        for space in (*self.spaces, *self.blocks):
            x_min, y_min, x_max, y_max = space.corners
            if not (np.isfinite(space.corners).all() and x_min < x_max and y_min < y_max):
                raise ValueError(
                    f"{space.name!r} has the corners {space.corners}; they must be (x_min, y_min, x_max, y_max)."
                )

    @cached_property
    def walls(self) -> tuple[Wall, ...]:
        """All pieces of wall."""
        pieces = [(space, piece) for space in self.spaces for piece in _edges(space, clockwise=True)]
        walls = [(space, rest) for space, piece in pieces for rest in self._uncovered(piece)]
        walls += [(block, piece) for block in self.blocks for piece in _edges(block, clockwise=False)]
        return tuple(
            Wall(start, end, space, _index(space, (start, end), [w for s, w in walls if s is space]))
            for space, (start, end) in walls
        )

    @cached_property
    def segments(self) -> FloatArray:
        """All walls as an array (walls, 2, 2): start and end, x and y."""
        return np.array([(wall.start, wall.end) for wall in self.walls], dtype=np.float64)

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """The smallest rectangle around everything, (x_min, y_min, x_max, y_max)."""
        corners = np.array([space.corners for space in self.spaces], dtype=np.float64)
        low, high = corners[:, :2].min(axis=0), corners[:, 2:].max(axis=0)
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])

    def is_free(self, points: Any) -> BoolArray:
        """Return which of the points (n, 2) are in the free space."""
        places = np.asarray(points, dtype=np.float64)
        free = np.any([_within(space, places) for space in self.spaces], axis=0)
        solid = np.any([_within(block, places, edge=-_OUTSIDE) for block in self.blocks], axis=0)
        return np.asarray(free & ~solid.astype(bool))

    def clearance(self, points: Any) -> FloatArray:
        """Return the distance of points (n, 2) to the nearest wall in metres; 0 for those not in the free space."""
        places = np.asarray(points, dtype=np.float64)
        starts, ends = self.segments[:, 0], self.segments[:, 1]
        along = ends - starts
        relative = places[:, None, :] - starts
        share = np.clip((relative * along).sum(axis=2) / (along**2).sum(axis=1), 0.0, 1.0)
        gap = relative - share[:, :, None] * along
        return np.where(self.is_free(places), np.sqrt((gap**2).sum(axis=2)).min(axis=1), 0.0)

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the walls (needs the extra ``kmcf[plot]``); ``style`` is passed to Matplotlib's LineCollection.

        Returns
        -------
        matplotlib axes
        """
        pyplot = require("matplotlib.pyplot", "plot")
        collections = require("matplotlib.collections", "plot")
        if ax is None:
            ax = pyplot.subplots(figsize=(9, 5.5))[1]
        ax.add_collection(collections.LineCollection(self.segments, **{"colors": "#444444", "linewidths": 1.5} | style))
        ax.autoscale()
        ax.set_aspect("equal")
        ax.set(xlabel="x [m]", ylabel="y [m]")
        return ax

    def _uncovered(self, piece: _Piece) -> list[_Piece]:
        """Return the parts of an edge behind which there is no other space."""
        start, end = np.array(piece[0]), np.array(piece[1])
        length = float(np.abs(end - start).sum())
        along = (end - start) / length
        behind = np.array([-along[1], along[0]]) * _OUTSIDE
        cuts = {0.0, length}
        for space in self.spaces:
            for corner in (space.corners[:2], space.corners[2:]):
                cuts.add(float(np.clip((np.array(corner) - start) @ along, 0.0, length)))
        places = sorted(cuts)
        rest: list[list[float]] = []
        for low, high in pairwise(places):
            middle = start + along * (low + high) / 2 + behind
            if high - low < _OUTSIDE or any(_within(space, middle) for space in self.spaces):
                continue
            if rest and abs(rest[-1][1] - low) < _OUTSIDE:
                rest[-1][1] = high
            else:
                rest.append([low, high])
        return [(_point(start + along * low), _point(start + along * high)) for low, high in rest]


_Piece = tuple[tuple[float, float], tuple[float, float]]


def _point(place: FloatArray) -> tuple[float, float]:
    return round(float(place[0]), 9), round(float(place[1]), 9)


def _within(space: Space, points: FloatArray, edge: float = 0.0) -> BoolArray:
    x_min, y_min, x_max, y_max = space.corners
    x, y = points[..., 0], points[..., 1]
    return np.asarray((x >= x_min - edge) & (x <= x_max + edge) & (y >= y_min - edge) & (y <= y_max + edge))


def _edges(space: Space, *, clockwise: bool) -> list[_Piece]:
    """Return the four edges; clockwise, the free side is inside."""
    x_min, y_min, x_max, y_max = map(float, space.corners)
    corners = [(x_min, y_min), (x_min, y_max), (x_max, y_max), (x_max, y_min)]
    if not clockwise:
        corners.reverse()
    return list(zip(corners, corners[1:] + corners[:1], strict=True))


def _index(space: Space, wall: _Piece, walls: list[_Piece]) -> int:
    """Return the number of a wall among those of its space; turned spaces count from the other corner."""
    x_min, y_min, x_max, y_max = space.corners
    origin, sign = ((x_max, y_max), -1.0) if space.turned else ((x_min, y_min), 1.0)

    def place(piece: _Piece) -> list[float]:
        return [round(sign * (end[axis] - origin[axis]), 6) + 0.0 for end in piece for axis in (0, 1)]

    return sorted(map(place, walls)).index(place(wall))
