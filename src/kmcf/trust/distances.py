"""How far an observation is from the nearest example observations, in raw columns.

A learnt kernel looks only at what tells about the state, so a sensor that has changed in another way goes unnoticed by
it. The raw columns, each divided by its spread over the examples, see the change. Where distances of the examples
themselves are needed, those recorded shortly before or after do not count: a new recording has nothing like them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from kmcf.numerics.arrays import FloatArray, IntArray, positive_or_one
from kmcf.numerics.objects import Objects, evenly_spaced, is_numeric, take
from kmcf.trust.residuals import Expected

NEIGHBOURS = 3
"""The distance is the mean over this many nearest examples."""
TREE_COLUMNS, MOST_IN_TREE = 20, 20_000
"""Up to this many columns a tree finds them, among so many examples."""
MOST_ROWS, MOST_COLUMNS = 2000, 256
"""Beyond, they are looked for among MOST_ROWS examples, in MOST_COLUMNS evenly spaced columns (of images, say)."""
SMALL = 2000
"""Up to this many numbers, looking at all examples takes less time than asking the tree."""
MOST_GUARD = 20
LEAST = 1e-6
"""The smallest distance, of which the logarithm is taken."""
FURTHEST = 1e6
"""Scaled columns are clipped here."""


@dataclass(frozen=True, eq=False)
class RawDistances:
    """The example observations as scaled rows, among which the nearest are looked for."""

    rows: FloatArray
    """Scaled observations, (N, c)."""
    positions: IntArray
    """Which example each row is, in the order in which they were recorded."""
    columns: IntArray
    centre: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, observations: Objects) -> Self | None:
        """Scale the example observations; None where they are not numbers.

        Examples
        --------
        >>> distances = RawDistances.of(np.arange(100.0)[:, None])
        >>> near, far = distances.logs(np.array([[50.0], [500.0]]))
        >>> bool(far - near > 4)
        True
        """
        if not is_numeric(observations) or len(observations) == 0:
            return None
        flat = np.asarray(observations, dtype=np.float64).reshape(len(observations), -1)
        columns = evenly_spaced(flat.shape[1], MOST_COLUMNS)
        most = min(len(flat), MOST_IN_TREE if len(columns) <= TREE_COLUMNS else MOST_ROWS)
        positions = evenly_spaced(len(flat), most)
        chosen = flat[np.ix_(positions, columns)]
        centre, scale = _robust(chosen)
        return cls(_scaled(chosen, centre, scale), positions, columns, centre, scale)

    @cached_property
    def _tree(self) -> cKDTree | None:
        return cKDTree(self.rows) if len(self.columns) <= TREE_COLUMNS else None

    def logs(self, observations: Objects) -> FloatArray:
        """Return the logarithms of the distances of new observations, (m,)."""
        distances, _ = self._nearest(self._points(observations), min(NEIGHBOURS, len(self.rows)))
        return _log(distances.mean(axis=1))

    def of_one(self, observation: Objects) -> tuple[float, FloatArray]:
        """Return the log distance and the coordinates of a collection of length 1, with as little overhead as possible.

        Examples
        --------
        >>> distances = RawDistances.of(np.arange(100.0)[:, None])
        >>> log_distance, coordinates = distances.of_one(np.array([[50.0]]))
        >>> bool(np.isclose(log_distance, distances.logs(np.array([[50.0]]))[0])), coordinates.shape
        (True, (1,))
        """
        if len(self.columns) == 1:
            return self._of_number(float(observation.reshape(-1)[self.columns[0]]))
        points = self._points(observation)
        coordinates = np.arcsinh(points[0]) - self._middle
        if self.rows.size > SMALL:
            distances, _ = self._nearest(points, min(NEIGHBOURS, len(self.rows)))
            return _log_mean(distances[0].tolist()), coordinates
        squares = self.rows - points[0]
        squares *= squares
        near = squares.sum(axis=1)
        if len(near) > NEIGHBOURS:
            near = np.partition(near, NEIGHBOURS - 1)[:NEIGHBOURS]
        return _log_mean([math.sqrt(value) for value in near.tolist()]), coordinates

    def _of_number(self, number: float) -> tuple[float, FloatArray]:
        """Return the same where there is one column: the nearest are neighbours in its order."""
        ordered, centre, scale, middle = self._numbers
        scaled = min(max((number - centre) / scale, -FURTHEST), FURTHEST)
        place = bisect_left(ordered, scaled)
        around = ordered[max(0, place - NEIGHBOURS) : place + NEIGHBOURS]
        near = sorted([abs(value - scaled) for value in around])[:NEIGHBOURS]
        return _log_mean(near), np.array([math.asinh(scaled) - middle])

    @cached_property
    def _numbers(self) -> tuple[list[float], float, float, float]:
        """The only column as Python's numbers: in order, its centre, its scale and its middle."""
        ordered = sorted(self.rows[:, 0].tolist())
        return ordered, float(self.centre[0]), float(self.scale[0]), float(self._middle[0])

    def coordinates(self, observations: Objects) -> FloatArray:
        """Return observations as points whose average over the examples is zero, (m, c): scaled, outliers drawn in."""
        return np.arcsinh(self._points(observations)) - self._middle

    def coordinates_of(self, examples: IntArray) -> FloatArray:
        """Return the same for some of the examples, (..., c)."""
        places = np.searchsorted(self.positions, examples.ravel()).clip(max=len(self.positions) - 1)
        return (np.arcsinh(self.rows[places]) - self._middle).reshape(*examples.shape, -1)

    def expected(self, states: Objects, angles: Sequence[int]) -> Expected | None:
        """Return what the coordinates of observations are like around a state; None where states are not numbers."""
        return Expected.of(take(states, self.positions), self.coordinates_of(self.positions), angles)

    @cached_property
    def _middle(self) -> FloatArray:
        return np.arcsinh(self.rows).mean(axis=0)

    def logs_left_out(self, examples: IntArray) -> FloatArray:
        """Return the same for some of the examples, compared with those recorded at another time."""
        places = np.searchsorted(self.positions, examples.ravel()).clip(max=len(self.positions) - 1)
        return _log(self._apart(places).mean(axis=1)).reshape(examples.shape)

    def _apart(self, places: IntArray) -> FloatArray:
        """Return the distances of rows to the nearest ones recorded at another time, (m, NEIGHBOURS)."""
        guard = guard_of(len(self.rows))
        distances, found = self._nearest(self.rows[places], min(2 * guard + 1 + NEIGHBOURS, len(self.rows)))
        near = np.abs(found - places[:, None]) <= guard
        order = np.argsort(near, axis=1, kind="stable")[:, :NEIGHBOURS]  # those apart come first, nearest first
        return np.take_along_axis(distances, order, axis=1)

    def _points(self, observations: Objects) -> FloatArray:
        flat = np.asarray(observations, dtype=np.float64).reshape(len(observations), -1)
        return _scaled(flat[:, self.columns], self.centre, self.scale)

    def _nearest(self, points: FloatArray, count: int) -> tuple[FloatArray, IntArray]:
        """Return the distances to the nearest rows and their places, nearest first, (m, count) each."""
        if self._tree is None:
            return _brute(points, self.rows, count)
        distances, found = self._tree.query(points, k=np.arange(1, count + 1))
        return distances, found


def guard_of(count: int) -> int:
    """Return how many examples before and after another one count as recorded at the same time."""
    return max(1, min(count // 32, MOST_GUARD))


def _brute(points: FloatArray, rows: FloatArray, count: int) -> tuple[FloatArray, IntArray]:
    distances = cdist(points, rows)
    found = np.argpartition(distances, count - 1, axis=1)[:, :count]
    chosen = np.take_along_axis(distances, found, axis=1)
    order = np.argsort(chosen, axis=1, kind="stable")
    return np.take_along_axis(chosen, order, axis=1), np.take_along_axis(found, order, axis=1)


def _robust(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return medians and spreads: the mean absolute deviation, which a column that is mostly constant has, too."""
    present = np.where(np.isfinite(rows), rows, np.nan)
    empty = np.isnan(present).all(axis=0)
    present = np.where(empty, 0.0, present)
    centre = np.nanmedian(present, axis=0)
    scale = np.nanmean(np.abs(present - centre), axis=0)
    return centre, positive_or_one(scale)


def _scaled(rows: FloatArray, centre: FloatArray, scale: FloatArray) -> FloatArray:
    """Centre and scale the columns; gaps become the median."""
    scaled = (rows - centre) / scale
    if abs(scaled).max(initial=0.0) <= FURTHEST:  # false if something is NaN
        return scaled
    return np.nan_to_num(scaled, nan=0.0, posinf=FURTHEST, neginf=-FURTHEST).clip(-FURTHEST, FURTHEST)


def _log(distances: Any) -> FloatArray:
    return np.log(np.maximum(distances, LEAST))


def _log_mean(distances: list[float]) -> float:
    return math.log(max(sum(distances) / len(distances), LEAST))


def kernel_distance(coverage: float) -> float:
    """Return the log distance of an observation that is not numbers: −log of its similarity to the closest example.

    Examples
    --------
    >>> kernel_distance(1.0), kernel_distance(0.0)
    (-0.0, 27.631021115928547)
    """
    return -float(np.log(max(coverage, 1e-12)))
