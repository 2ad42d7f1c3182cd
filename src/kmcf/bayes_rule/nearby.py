"""Which examples lie near a sample of particles: a spatial index over the example states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from typing import NamedTuple, Self

import numpy as np
from scipy.spatial import cKDTree

from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects, evenly_spaced

MANY_BOXES = 200
"""Particles in more boxes than this are everywhere: all examples count as near."""
FEW_BOXES, CELLS_PER_EXAMPLE = 8, 4
"""From more boxes on, a grid answers, unless it had more cells per example than this."""
MOST_COLUMNS = 3
"""The tree knows so many columns, those with the largest extent: trees in many dimensions are slow."""
SAMPLED = 100


class Grid(NamedTuple):
    """Examples in the cells of a grid."""

    origin: FloatArray
    shape: tuple[int, ...]
    codes: IntArray
    """The number of each example's cell."""


@dataclass(frozen=True, eq=False)
class Nearby:
    """The examples in a tree of the places that the state kernel gives them."""

    tree: cKDTree
    kernel: ExampleKernel
    columns: IntArray
    """Which columns of the places the tree knows."""
    radius: float
    """Examples further away than this have a negligible similarity."""

    @classmethod
    def of(cls, kernel: ExampleKernel, negligible: float) -> Self | None:
        """Build the tree; None if the state kernel does not fall off with a distance.

        Parameters
        ----------
        kernel : ExampleKernel
            The state kernel with the example states.
        negligible : float
            Similarity, relative to the largest, that counts as none.
        """
        found = kernel.neighbourhood(negligible)
        if found is None:
            return None
        rows = np.asarray(found.rows)
        columns = np.sort(np.argsort(-np.ptp(rows, axis=0), kind="stable")[:MOST_COLUMNS])
        # Sliding midpoints: as good for queries as medians, and built in a fraction of the time.
        tree = cKDTree(rows[:, columns], leafsize=32, balanced_tree=False, compact_nodes=False)
        return cls(tree, kernel, columns, found.radius)

    @property
    def size(self) -> int:
        """Number of examples, n."""
        return int(self.tree.n)

    def find(self, places: FloatArray) -> IntArray:
        """Return at least the examples within the radius of some place, sorted.

        Places are gathered into boxes, and each box asks the tree once, for the examples within the radius of the box.
        """
        low, high = _boxes(places, self.radius)
        if len(low) > MANY_BOXES:
            return np.arange(self.size)
        centres, halves = 0.5 * (low + high), 0.5 * np.linalg.norm(high - low, axis=1)
        if len(low) > FEW_BOXES and self._grid is not None:
            return self._in_neighbouring_cells(places)
        inside = np.zeros(self.size, dtype=bool)
        balls = self.tree.query_ball_point(centres, self.radius + halves, return_sorted=False)
        box = np.repeat(np.arange(len(low)), [len(found) for found in balls])
        indices = np.fromiter(chain.from_iterable(balls), dtype=np.intp, count=len(box))
        rows = self.tree.data[indices]
        gaps = np.maximum(np.maximum(low[box] - rows, rows - high[box]), 0.0)
        inside[indices[np.einsum("ij,ij->i", gaps, gaps) <= self.radius**2]] = True
        return np.flatnonzero(inside)

    @cached_property
    def _grid(self) -> Grid | None:
        """Which cell of a grid, as wide as the radius, each example is in; None if it had too many cells."""
        origin = np.asarray(self.tree.mins)
        cells = np.floor((self.tree.data - origin) / self.radius).astype(np.intp)
        shape = tuple(int(largest) + 1 for largest in cells.max(axis=0))
        if np.prod(shape, dtype=float) > CELLS_PER_EXAMPLE * self.size:
            return None
        return Grid(origin, shape, np.ravel_multi_index(tuple(cells.T), shape))

    def _in_neighbouring_cells(self, places: FloatArray) -> IntArray:
        """Return the examples in the cells of places and in those next to them."""
        assert self._grid is not None
        origin, shape, codes = self._grid
        cells = np.unique(np.floor((places - origin) / self.radius), axis=0)
        near = np.zeros(shape, dtype=bool)
        for offset in product((-1, 0, 1), repeat=len(shape)):
            moved = cells + offset
            known = moved[((moved >= 0) & (moved < shape)).all(axis=1)].astype(np.intp)
            near[tuple(known.T)] = True
        return np.flatnonzero(near.ravel()[codes])

    def around(self, states: Objects) -> IntArray:
        """Return at least the examples that resemble some of the states."""
        return self.find(self.places(states))

    def places(self, states: Objects) -> FloatArray:
        """Return where states are, in the coordinates of the tree."""
        return self.kernel.places(states)[:, self.columns]

    def typical(self) -> int:
        """Return how many examples lie within the radius of a typical example."""
        some = evenly_spaced(self.size, SAMPLED)
        return int(np.median(self.tree.query_ball_point(self.tree.data[some], self.radius, return_length=True)))


def _boxes(places: FloatArray, radius: float) -> tuple[FloatArray, FloatArray]:
    """Return the corners of boxes that hold all places: one if it is small, otherwise one per cell of a grid."""
    low, high = places.min(axis=0, keepdims=True), places.max(axis=0, keepdims=True)
    if float(np.linalg.norm(high - low)) <= 2.0 * radius:
        return low, high
    edge = 2.0 * radius / np.sqrt(places.shape[1])
    _, cell = np.unique(np.floor((places - low) / edge), axis=0, return_inverse=True)
    order = np.argsort(cell.ravel(), kind="stable")
    starts = np.flatnonzero(np.diff(cell.ravel()[order], prepend=-1))
    return np.minimum.reduceat(places[order], starts), np.maximum.reduceat(places[order], starts)


def spacing(places: FloatArray) -> float:
    """Return the median distance of a place to its nearest neighbour.

    Examples
    --------
    >>> spacing(np.array([[0.0], [1.0], [2.0]]))
    1.0
    """
    return float(np.median(cKDTree(places).query(places, k=2)[0][:, 1])) if len(places) > 1 else 0.0
