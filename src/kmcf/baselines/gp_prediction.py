"""Predictions of a fitted Gaussian process at many points, at a cost set by the rank of its kernel matrix.

With the noise-free kernel matrix K ≈ U Uᵀ (pivoted Cholesky), L = U[pivots], noise D on its diagonal, the triangular
factor S of D^(−1/2) U = Q S, and

    C Cᵀ = L Lᵀ + (L S⁻¹) (L S⁻¹)ᵀ,      v(x) = C⁻¹ k(pivots, x),
    mean(x) = v(x)ᵀ C⁻¹ L S⁻¹ Qᵀ D^(−1/2) y,      variance(x) = k(x, x) − ‖v(x)‖²,

which is the textbook prediction up to the tolerance of the factor: at full rank C Cᵀ is K + D. Everything that depends
only on the examples is computed once, and a point costs a single triangular solve.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.linalg import pivoted_cholesky, solve_lower, solve_lower_transposed


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
        lower, root = found.pivot_factor, np.sqrt(noise)
        orthogonal, upper = np.linalg.qr(found.factor / root[:, None])
        both = np.vstack([lower.T, solve_lower(upper.T, lower.T)])
        self._lower = np.asarray(np.linalg.qr(both, mode="r")).T
        fitted = lower @ solve_lower_transposed(upper.T, orthogonal.T @ (targets / root))
        self._coefficients = solve_lower(self._lower, fitted)

    @property
    def rank(self) -> int:
        """Number of features in use."""
        return len(self._pivots)

    def __call__(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means and the variances, noise included, of the values at some points."""
        kernel = self._regressor.kernel_
        diagonal = kernel.diag(points)
        v = solve_lower(self._lower, kernel(points, self._pivots).T)  # in Fortran order
        means = self._shift + self._scale * (self._coefficients @ v)
        variances = diagonal - np.einsum("pm,pm->m", v, v)
        return means, self._scale**2 * np.maximum(variances, 1e-12 * diagonal)
