"""The probability of a region under a sample that was stretched around its centre and smoothed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.circles import wrapped_columns

COPIES = 16


class Smoothed(NamedTuple):
    """A weighted sample whose points are normal distributions, independent in each coordinate."""

    rows: FloatArray
    """(n, d)"""
    weights: FloatArray
    """(n,), of any sign."""
    deviations: FloatArray
    """(d,)"""
    angles: tuple[int, ...] = ()

    @classmethod
    def stretched(
        cls,
        rows: FloatArray,
        weights: FloatArray,
        centre: FloatArray,
        factors: FloatArray,
        deviations: FloatArray,
        angles: Sequence[int] = (),
    ) -> Smoothed:
        """Move the points away from a centre by a factor per coordinate, and smooth them."""
        away = wrapped_columns(rows - centre, angles)
        return cls(wrapped_columns(centre + factors * away, angles), weights, factors * deviations, tuple(angles))

    def box(self, lower: FloatArray, upper: FloatArray) -> float:
        """Return the probability of a box, between 0 and 1.

        Examples
        --------
        >>> one = Smoothed(np.zeros((1, 1)), np.ones(1), np.ones(1))
        >>> round(one.box(np.array([-1.96]), np.array([1.96])), 3)
        0.95
        """
        inside = np.ones(len(self.rows))
        for j, deviation in enumerate(self.deviations):
            turns = (-2.0 * np.pi, 0.0, 2.0 * np.pi) if j in self.angles else (0.0,)
            at = self.rows[:, j]
            ends = [(ndtr((upper[j] - at - t) / deviation), ndtr((lower[j] - at - t) / deviation)) for t in turns]
            inside = inside * sum(high - low for high, low in ends)
        return float(np.clip(self.weights @ inside, 0.0, 1.0))

    def copies(self) -> FloatArray:
        """Return points that stand for the normal distributions, 16 for each, always the same: (16 n, d)."""
        noise = np.random.default_rng(0).normal(size=(COPIES, *self.rows.shape))
        moved = (self.rows + noise * self.deviations).reshape(-1, self.rows.shape[1])
        return wrapped_columns(moved, self.angles)

    def share(self, inside: FloatArray) -> float:
        """Return the probability of a region that holds some of the :meth:`copies`."""
        return float(np.clip(inside.reshape(COPIES, -1).mean(axis=0) @ self.weights, 0.0, 1.0))
