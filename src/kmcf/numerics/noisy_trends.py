"""Numbers that follow a trend over others, with noise that is alike everywhere but for its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from kmcf.numerics.arrays import FloatArray, positive_or_one
from kmcf.numerics.trends import Trend, Trends

ROUNDS = 3
LEAST_SQUARE = 1e-3
"""Added to squared residuals, in units of their mean, before logarithms are taken."""


@dataclass(frozen=True, eq=False)
class NoisyTrend:
    """A location–scale model: a trend of the mean, and one of the size of the noise, which all columns share."""

    mean: Trend
    log_square: Trend
    """Of the noise, up to a constant."""
    variances: FloatArray
    """Of the noise of each column where ``log_square`` is zero, (c,)."""

    @classmethod
    def fit(cls, inputs: FloatArray, targets: FloatArray) -> Self:
        """Learn both trends in turn: where the noise is small, a row counts more.

        Parameters
        ----------
        inputs : array (n, d)
            Where.
        targets : array (n, c)
            What was found there.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(500, 1))
        >>> model = NoisyTrend.fit(x, 2.0 * x + np.exp(0.5 * x) * rng.normal(size=(500, 4)))
        >>> model.sizes(np.array([[2.0]])) / model.sizes(np.array([[0.0]])) > 2.0
        array([ True])
        """
        trends = Trends(inputs)
        weights: FloatArray | None = None  # at first all rows count alike
        for _ in range(ROUNDS):
            mean = trends.fit(targets, weights)
            squares = (targets - mean(inputs)) ** 2
            usual = positive_or_one(np.average(squares, axis=0, weights=weights))
            # A mean of squares has a logarithm with less noise than the logarithms of single squares have.
            overall = np.mean(squares / usual, axis=1, keepdims=True)
            log_square = trends.fit(np.log(overall + LEAST_SQUARE))
            weights = np.exp(-log_square(inputs)[:, 0])
        assert weights is not None
        return cls(mean, log_square, positive_or_one(np.mean(squares * weights[:, None], axis=0)))

    def sizes(self, inputs: FloatArray) -> FloatArray:
        """Return how large the noise is at some inputs, up to a factor that depends on the column alone, (m,)."""
        return np.exp(0.5 * self.log_square(inputs)[:, 0])

    def carried(self, inputs: FloatArray, targets: FloatArray, others: FloatArray) -> FloatArray:
        """Return what would be found at other inputs with the noise of what was found at some.

        Examples
        --------
        >>> x = np.linspace(-1.0, 1.0, 40)[:, None]
        >>> NoisyTrend.fit(x, 3.0 * x).carried(x[:1], 3.0 * x[:1], np.array([[2.0]])).round(3)
        array([[6.]])
        """
        grown = self.sizes(others) / self.sizes(inputs)
        return self.mean(others) + grown[:, None] * (targets - self.mean(inputs))
