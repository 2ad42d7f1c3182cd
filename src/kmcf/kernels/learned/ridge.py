"""Kernel ridge regression that chooses its kernel and its ridge by the closed-form leave-one-out error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kmcf.kernels.distances import median_distance, squared_euclidean
from kmcf.numerics.arrays import Array, FloatArray, array_namespace

WIDTHS = (0.5, 1.0, 2.0, 4.0)
ADDITIVE_WIDTHS = (0.5, 1.0, 2.0)
MOST_COLUMNS_ADDITIVE = 1000
"""With more columns (images) additive kernels would take minutes, and are not tried."""
RIDGES = 10.0 ** np.linspace(-6.0, 0.0, 11)


class RidgeRegression:
    r"""Multi-output kernel ridge regression on transformed inputs.

    With :math:`A = (K + n\lambda I)^{-1}` the leave-one-out residuals are :math:`(A T)_i / A_{ii}`, so one
    eigendecomposition per kernel gives the error of every ridge. Gaussian and additive (mean of one-dimensional
    Gaussians) kernels are tried.

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
        self._spread = np.where(spread > 0, spread, 1.0)
        self._low, self._high = rows.min(axis=0), rows.max(axis=0)
        self._rows = (rows - self._mean) / self._spread
        self._kernel_width = median_distance(self._rows)
        columns = self._rows.T if rows.shape[1] <= MOST_COLUMNS_ADDITIVE else self._rows.T[:0]
        self._column_widths = np.array([median_distance(column[:, None]) for column in columns])
        best = np.inf
        additive_widths = ADDITIVE_WIDTHS if len(columns) else ()
        for additive, width in [(False, w) for w in WIDTHS] + [(True, w) for w in additive_widths]:
            values, vectors = np.linalg.eigh(self._gram(self._rows, additive, width))
            rotated = vectors.T @ targets
            for ridge in RIDGES:
                inverse = 1.0 / (np.maximum(values, 0.0) + ridge * len(rows))
                coefficients = vectors @ (inverse[:, None] * rotated)
                residuals = coefficients / ((vectors**2) @ inverse)[:, None]
                error = float(np.mean((residuals * weights) ** 2))
                if error < best:
                    best, self._additive, self._width = error, additive, width
                    self._coefficients, self.out_of_sample = coefficients, targets - residuals
        return self

    def predict(self, z: Array) -> Array:
        """Predict the targets of new inputs."""
        rows = array_namespace(z).clip(self._transform(z), self._low, self._high)
        gram = self._gram((rows - self._mean) / self._spread, self._additive, self._width)
        return gram @ self._coefficients

    def _gram(self, rows: Array, additive: bool, width: float) -> Array:
        xp = array_namespace(rows)
        if not additive:
            scale = width * self._kernel_width
            return xp.exp(-0.5 * squared_euclidean(rows / scale, self._rows / scale))
        total = xp.zeros((len(rows), len(self._rows)))
        for j, column_width in enumerate(self._column_widths):
            difference = (rows[:, j, None] - self._rows[None, :, j]) / (width * column_width)
            total += xp.exp(-0.5 * difference**2)
        return total / rows.shape[1]
