"""Predictions of a fitted Gaussian process at many points, at a cost set by the rank of its kernel matrix.

With the noise-free kernel matrix K ≈ U Uᵀ (pivoted Cholesky), noise D on its diagonal, φ(x) = L⁻¹ k(pivots, x) and
A = I + Uᵀ D⁻¹ U = R Rᵀ,

    mean(x) = φ(x)ᵀ A⁻¹ Uᵀ D⁻¹ y,      variance(x) = k(x, x) − ‖φ(x)‖² + ‖R⁻¹ φ(x)‖²,

which is the textbook prediction up to the tolerance of the factor; everything that depends only on the examples is
computed once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.linalg import cholesky, pivoted_cholesky, solve_lower


class FastPrediction:
    """The prediction of one fitted ``GaussianProcessRegressor`` with one target.

    Parameters
    ----------
    regressor : GaussianProcessRegressor
        Fitted, perhaps to some of the examples only. Its ``kernel_`` is the prior covariance of noisy values, and the
        ``WhiteKernel`` part of that, if any, the noise.
    rows : array (n, d)
        Where the examples were taken.
    values : array (n,)
        The values there.
    jitter : float
        Added to the noise.
    tolerance : float
        Largest residual diagonal entry of the factor, relative to the noise, in which the residual drowns.
    """

    def __init__(
        self, regressor: Any, rows: FloatArray, values: FloatArray, *, jitter: float, tolerance: float
    ) -> None:
        self._regressor = regressor
        kernel = regressor.kernel_
        self._shift, self._scale = float(values.mean()), float(values.std()) or 1.0
        targets = (values - self._shift) / self._scale
        # Given two arguments, even equal ones, a scikit-learn kernel leaves out the noise.
        signal = np.array([float(kernel(row[None], row[None])[0, 0]) for row in rows])
        noise = kernel.diag(rows) - signal + jitter
        relative = tolerance * float(noise.min()) / float(signal.max())
        found = pivoted_cholesky(lambda i: np.asarray(kernel(rows, rows[i])), signal, tolerance=relative)
        self._pivots = rows[found.pivots]
        self._lower = np.asfortranarray(found.pivot_factor)
        U = found.factor
        self._factor = cholesky((U / noise[:, None]).T @ U, shift=1.0, name="I + Uᵀ D⁻¹ U", remedy="jitter")
        self._coefficients = self._factor.solve(U.T @ (targets / noise))

    @property
    def rank(self) -> int:
        """Number of features in use."""
        return len(self._pivots)

    def __call__(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means and the variances, noise included, of the values at some points."""
        kernel = self._regressor.kernel_
        diagonal = kernel.diag(points)
        phi = solve_lower(self._lower, np.asfortranarray(kernel(self._pivots, points)))
        remaining = solve_lower(self._factor.lower, phi)
        variances = diagonal - np.einsum("pm,pm->m", phi, phi) + np.einsum("pm,pm->m", remaining, remaining)
        means = self._shift + self._scale * (self._coefficients @ phi)
        return means, self._scale**2 * np.maximum(variances, 1e-12 * diagonal)
