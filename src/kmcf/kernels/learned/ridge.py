"""Kernel ridge regression that chooses its kernel and its ridge by the closed-form leave-one-out error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from kmcf.kernels.distances import median_distance, squared_euclidean
from kmcf.kernels.learned.inputs import compared
from kmcf.numerics.arrays import Array, FloatArray, array_namespace, positive_or_one

WIDTHS = (0.5, 1.0, 2.0, 4.0)
ADDITIVE_WIDTHS = (0.5, 1.0, 2.0)
MOST_COLUMNS_ADDITIVE = 1000
"""With more columns (images) additive kernels would take minutes, and are not tried."""
RIDGES = 10.0 ** np.linspace(-6.0, 0.0, 11)


class LeftOut(NamedTuple):
    """The ridge with the least leave-one-out error, and what comes with it."""

    error: float
    coefficients: FloatArray
    predictions: FloatArray
    """For every training point, made without it."""


class RidgeRegression:
    r"""Multi-output kernel ridge regression on transformed inputs.

    With :math:`A = (K + n\lambda I)^{-1}` the leave-one-out residuals are :math:`(A T)_i / A_{ii}`, so one
    eigendecomposition per kernel gives the error of every ridge. Gaussian and additive (mean of one-dimensional
    Gaussians) kernels are tried, on a part of the training points where these are many.

    Parameters
    ----------
    transform : callable
        Applied to the inputs first.
    """

    def __init__(self, transform: Callable[[Array], Array]) -> None:
        self._transform = transform

    def fit(self, z: FloatArray, targets: FloatArray, weights: FloatArray) -> RidgeRegression:
        """Fit; ``out_of_sample`` then holds the leave-one-out predictions."""
        rows = self._transform(z)
        self._mean, spread = rows.mean(axis=0), rows.std(axis=0)
        self._spread = positive_or_one(spread)
        self._low, self._high = rows.min(axis=0), rows.max(axis=0)
        self._rows = (rows - self._mean) / self._spread
        self._kernel_width = median_distance(self._rows)
        columns = self._rows.T if rows.shape[1] <= MOST_COLUMNS_ADDITIVE else self._rows.T[:0]
        some = compared(self._rows)
        self._column_widths = np.array([median_distance(column[some, None]) for column in columns])
        best = np.inf
        for additive, width, gram in self._grams(self._rows[some]):
            found = best_ridge(gram, targets[some], weights)
            if found.error < best:
                best, self._additive, self._width, kept = found.error, additive, width, found
        if len(some) < len(rows):
            kept = best_ridge(self._gram(self._rows, self._additive, self._width), targets, weights)
        self._coefficients, self.out_of_sample = kept.coefficients, kept.predictions
        return self

    def predict(self, z: Array) -> Array:
        """Predict the targets of new inputs."""
        rows = array_namespace(z).clip(self._transform(z), self._low, self._high)
        gram = self._gram((rows - self._mean) / self._spread, self._additive, self._width)
        return gram @ self._coefficients

    def to_store(self) -> dict[str, Any]:
        """Store what predictions need."""
        return {name: value for name, value in vars(self).items() if name != "out_of_sample"}

    def from_store(self, state: dict[str, Any]) -> None:
        """Fill a blank object from what a file holds."""
        self.__dict__.update(state)

    def _grams(self, rows: FloatArray) -> Iterator[tuple[bool, float, FloatArray]]:
        """Yield the kernel matrices to compare: whether additive, the width, the matrix."""
        squares = squared_euclidean(rows, rows) / self._kernel_width**2
        for width in WIDTHS:
            yield False, width, np.exp(-0.5 * squares / width**2)
        if not len(self._column_widths):
            return
        totals = np.zeros((len(ADDITIVE_WIDTHS), len(rows), len(rows)))
        for j, column_width in enumerate(self._column_widths):
            difference = (rows[:, j, None] - rows[None, :, j]) / column_width
            exponent = -0.5 * difference * difference
            for k, width in enumerate(ADDITIVE_WIDTHS):
                totals[k] += np.exp(exponent / width**2)
        for width, total in zip(ADDITIVE_WIDTHS, totals, strict=True):
            yield True, width, total / rows.shape[1]

    def _gram(self, rows: Array, additive: bool, width: float) -> Array:
        """Return the kernel of some rows with the training rows."""
        xp = array_namespace(rows)
        if not additive:
            squares = squared_euclidean(rows, self._rows) / (width * self._kernel_width) ** 2
            return xp.exp(-0.5 * squares)
        if len(rows) == 1:  # one observation of a filter: all columns at once
            difference = (rows - self._rows) / (width * self._column_widths)
            return xp.mean(xp.exp(-0.5 * difference**2), axis=1)[None, :]
        total = xp.zeros((len(rows), len(self._rows)))
        for j, column_width in enumerate(self._column_widths):
            difference = (rows[:, j, None] - self._rows[None, :, j]) / (width * column_width)
            total += xp.exp(-0.5 * difference**2)
        return total / rows.shape[1]


def best_ridge(gram: FloatArray, targets: FloatArray, weights: FloatArray) -> LeftOut:
    """Choose the ridge for a kernel matrix by the weighted leave-one-out error.

    Examples
    --------
    >>> found = best_ridge(np.eye(3), np.array([[1.0], [2.0], [3.0]]), np.ones(1))
    >>> found.predictions.ravel().round(6) + 0.0
    array([0., 0., 0.])
    """
    values, vectors = np.linalg.eigh(gram)
    rotated = vectors.T @ targets
    inverses = 1.0 / (np.maximum(values, 0.0)[:, None] + RIDGES * len(gram))
    diagonals = (vectors**2) @ inverses
    best = LeftOut(np.inf, targets, targets)
    for inverse, diagonal in zip(inverses.T, diagonals.T, strict=True):
        coefficients = vectors @ (inverse[:, None] * rotated)
        residuals = coefficients / diagonal[:, None]
        error = float(np.mean((residuals * weights) ** 2))
        if error < best.error:
            best = LeftOut(error, coefficients, targets - residuals)
    return best
