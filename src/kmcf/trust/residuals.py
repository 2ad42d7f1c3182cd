"""How observations differ from those of the examples around the estimate: their residuals.

Observations that all have changed alike, by a constant, say, may each look like those of some examples. But they differ
from those of the examples around the estimate, and all in the same direction. So the running mean of residuals grows,
where usually they cancel. The spread at the same place is what they are measured by: it may differ much from place to
place, as in models of volatility.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Self

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import chdtri

from kmcf.numerics.arrays import FloatArray, IntArray, positive_or_one
from kmcf.numerics.circles import on_circles
from kmcf.numerics.objects import Objects, evenly_spaced, is_numeric
from kmcf.trust.signals import MEMORY

MOST_PIVOTS, MOST_ROWS = 128, 4000
"""The table has so many places at most, each averaged over so many examples at most."""
WIDTH = 0.3
"""Width of the averages, in standard deviations of the states, times the square root of the number of columns."""
LEAST_SHARE = 0.05
"""This share of a column's variance over all examples is added to that around each place."""
LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Expected:
    """What observations are like around a state: averages over the examples near it (Nadaraya and Watson's)."""

    centre: FloatArray
    scale: FloatArray
    pivots: FloatArray
    """Scaled states at which the averages are known, (P, d)."""
    table: FloatArray
    """Means and standard deviations of the c columns there, (P, 2c)."""
    angles: IntArray
    """State columns that are angles; they count by cosine and sine."""

    @classmethod
    def of(cls, states: Objects, coordinates: FloatArray, angles: Sequence[int] = ()) -> Self | None:
        """Average the coordinates of the examples' observations, (n, c); None where states are not numbers.

        Examples
        --------
        >>> x = np.linspace(0.0, 1.0, 200)[:, None]
        >>> noise = np.where(np.arange(200)[:, None] % 2, 0.5, -0.5)
        >>> expected = Expected.of(x, 10.0 * x + noise)
        >>> bool(abs(expected.residual(np.array([0.5]), np.array([5.0]))[0]) < 0.2)
        True
        >>> bool(expected.residual(np.array([0.5]), np.array([10.0]))[0] > 1.0)
        True
        """
        if not is_numeric(states) or len(states) == 0:
            return None
        rows = evenly_spaced(len(states), MOST_ROWS)
        chosen = np.asarray(states, dtype=np.float64).reshape(len(states), -1)[rows]
        columns = np.array(sorted(angles), dtype=np.intp)
        points = _unrolled(chosen, columns)
        centre, spread = points.mean(axis=0), points.std(axis=0)
        scale = positive_or_one(spread) * WIDTH * np.sqrt(points.shape[1])
        scaled = (points - centre) / scale
        places = evenly_spaced(len(rows), MOST_PIVOTS)
        weights = _shares(scaled[places], scaled)
        values = coordinates[rows]
        means = weights @ values
        variances = np.maximum(weights @ values**2 - means**2, 0.0) + LEAST_SHARE * values.var(axis=0) + LEAST
        return cls(centre, scale, scaled[places], np.hstack([means, np.sqrt(variances)]), columns)

    def residuals(self, means: FloatArray, coordinates: FloatArray) -> FloatArray:
        """Return observations less what is expected at some states, in units of its spread; outliers are drawn in.

        Parameters
        ----------
        means : array (m, d)
            The states; where one is NaN, so are the residuals.
        coordinates : array (m, c)
            The observations' coordinates.
        """
        points = (_unrolled(means, self.angles) - self.centre) / self.scale
        known = np.isfinite(points).all(axis=1)
        found = np.full(coordinates.shape, np.nan)
        around = _shares(points[known], self.pivots) @ self.table
        width = coordinates.shape[1]
        found[known] = np.arcsinh((coordinates[known] - around[:, :width]) / around[:, width:])
        return found

    def residual(self, mean: FloatArray, coordinates: FloatArray) -> FloatArray | None:
        """Return the same for one state (d,) and one observation (c,), with little overhead; None if it is NaN."""
        flat = mean if not len(self.angles) else _unrolled(mean[None], self.angles)[0]
        slopes, offsets, table = self._linear
        logs = slopes @ flat
        logs -= offsets
        largest = logs[logs.argmax()]
        if not math.isfinite(largest):
            return None
        logs -= largest
        around = np.exp(logs, out=logs) @ table  # sums, not yet averages; the last one is that of the weights
        if len(coordinates) == 1:
            mean, spread, total = around.tolist()
            return np.array([math.asinh((float(coordinates[0]) * total - mean) / spread)])
        width = len(coordinates)
        return np.asarray(np.arcsinh((coordinates * around[-1] - around[:width]) / around[width:-1]))

    @cached_property
    def _linear(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """−½‖p − z‖² for pivots p and the scaled state z, as linear in the state, less what is the same for all.

        And the table, with a column of ones.
        """
        slopes = self.pivots / self.scale
        offsets = slopes @ self.centre + 0.5 * (self.pivots**2).sum(axis=1)
        return slopes, offsets, np.hstack([self.table, np.ones((len(self.table), 1))])


def contradicted(running: FloatArray | None, chance: float) -> bool:
    """Say whether observations differ from those of the examples around the estimate by more than chance.

    Parameters
    ----------
    running : array (2, c), optional
        The running means of the observations' coordinates and of their residuals. None: nothing is known.
    chance : float
        How often running means of independent residuals, of unit size, are as large.

    Examples
    --------
    >>> alike, apart = np.array([[0.0, 0.0], [0.3, -0.3]]), np.array([[0.0, 0.0], [0.9, -0.9]])
    >>> contradicted(alike, 0.001), contradicted(apart, 0.001)
    (False, True)
    """
    return running is not None and float(running[1] @ running[1]) > _limit(running.shape[1], chance)


@lru_cache(maxsize=64)
def _limit(columns: int, chance: float) -> float:
    """Return what the sum of squares of running means of independent residuals exceeds by chance only so often."""
    return float((1.0 - MEMORY) / (1.0 + MEMORY) * chdtri(columns, chance))


def _shares(points: FloatArray, others: FloatArray) -> FloatArray:
    """Return the weights of others in averages around points, (m, n); rows sum to one."""
    logs = -0.5 * cdist(points, others, "sqeuclidean")
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _unrolled(states: FloatArray, angles: IntArray) -> FloatArray:
    """Replace angles by their cosines and sines."""
    return on_circles(states, angles.tolist()) if len(angles) else states
