"""A quadratic surface through noisy values near their maximum: where it is largest, and how well that is known.

The scores s_t(u) of all steps t were computed at several places u. A quadratic in u is fitted to each by least squares;
their sum has its maximum at the estimate. The sum's curvature H and the steps' gradients g_t there give the estimate's
covariance, H⁻¹ J H⁻¹ with J = Σ_t g_t g_tᵀ (with neighbouring steps, after Newey and West), as for any estimate that
maximises a sum of scores whose gradients have mean zero given the past. What the surface leaves unexplained is Monte
Carlo error, and is added.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.linalg import cholesky

LAGS = 4
"""Gradients of so many following steps may be correlated."""


class Peak(NamedTuple):
    """The maximum of a surface."""

    place: FloatArray
    covariance: FloatArray | None
    """Of the estimate; None where the surface has no maximum."""
    monte_carlo: FloatArray | None
    """The part of it that comes from random numbers of the filter."""
    value: float


def peak_of(places: FloatArray, scores: FloatArray, centre: FloatArray, radius: FloatArray) -> Peak:
    """Fit the surface to places (m, p) with scores (m, T), and find its maximum within a box around the centre.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> data, places = rng.normal(size=400), np.linspace(0.2, 0.8, 7)[:, None]
    >>> found = peak_of(places, -((places - 0.5 - data / 10) ** 2), np.array([0.5]), np.array([0.3]))
    >>> round(abs(float(found.place[0] - 0.5 - data.mean() / 10)), 6), round(float(found.covariance[0, 0] * 400), 2)
    (0.0, 0.01)
    """
    u = (places - centre) / radius
    p = u.shape[1]
    pairs = np.triu_indices(p)
    design = np.concatenate([np.ones((len(u), 1)), u, u[:, pairs[0]] * u[:, pairs[1]]], axis=1)
    factor = cholesky(design.T @ design, shift=1e-10 * len(u), name="the design", remedy="the number of places")
    fitted = np.asarray(factor.solve(design.T @ scores))  # (k, T)
    total = fitted.sum(axis=1)
    slope, curved = total[1 : p + 1], _hessian(total[p + 1 :], pairs, p)
    best = _maximum(total[0], slope, curved)
    value = float(total[0] + slope @ best + 0.5 * best @ curved @ best)
    place = centre + radius * best
    eigenvalues = np.linalg.eigvalsh(curved)
    if eigenvalues.max() >= -1e-12 * max(1.0, float(np.abs(eigenvalues).max())):
        return Peak(place, None, None, value)
    bends = [_hessian(column, pairs, p) @ best for column in fitted[p + 1 :].T]
    gradients = fitted[1 : p + 1].T + np.array(bends)  # (T, p)
    statistical = _sandwich(curved, long_run(gradients))
    residual = scores.sum(axis=1) - design @ total
    spare = max(len(u) - design.shape[1], 1)
    noise = float(residual @ residual) / spare
    at_best = np.concatenate([np.zeros((1, p)), np.eye(p), _derivatives(best, pairs, p)])
    monte_carlo = _sandwich(curved, noise * (at_best.T @ np.asarray(factor.solve(at_best))))
    scale = np.outer(radius, radius)
    return Peak(place, scale * (statistical + monte_carlo), scale * monte_carlo, value)


def long_run(gradients: FloatArray) -> FloatArray:
    """Return the covariance of the sum of gradients (T, p), whose neighbours may be correlated.

    Examples
    --------
    >>> long_run(np.array([[1.0], [-1.0], [1.0], [-1.0]] * 100)).shape
    (1, 1)
    """
    centred = gradients - gradients.mean(axis=0)
    found = centred.T @ centred
    floor = found.copy()
    for lag in range(1, min(LAGS, len(centred) - 1) + 1):
        product = centred[lag:].T @ centred[:-lag]
        found += (1.0 - lag / (LAGS + 1)) * (product + product.T)
    # Negative correlation would promise more than independent steps do.
    return np.where(np.diagonal(found).min() < np.diagonal(floor).min(), floor, found)


def _hessian(coefficients: FloatArray, pairs: tuple[Any, Any], p: int) -> FloatArray:
    """Return the matrix of second derivatives of Σ_{i≤j} c_ij u_i u_j."""
    matrix = np.zeros((p, p))
    matrix[pairs] = coefficients
    return matrix + matrix.T


def _derivatives(u: FloatArray, pairs: tuple[Any, Any], p: int) -> FloatArray:
    """Return the gradients of the products u_i u_j, one row each."""
    unit = np.eye(p)
    return unit[pairs[0]] * u[pairs[1]][:, None] + unit[pairs[1]] * u[pairs[0]][:, None]


def _maximum(offset: float, slope: FloatArray, curved: FloatArray) -> FloatArray:
    """Return where a quadratic is largest within the box [−1, 1]^p."""
    starts = [np.zeros(len(slope)), np.sign(slope)]
    found = [
        minimize(
            lambda u: -(offset + slope @ u + 0.5 * u @ curved @ u),
            start,
            jac=lambda u: -(slope + curved @ u),
            bounds=[(-1.0, 1.0)] * len(slope),
            method="L-BFGS-B",
        )
        for start in starts
    ]
    return np.asarray(min(found, key=lambda one: float(one.fun)).x, dtype=np.float64)


def _sandwich(curved: FloatArray, middle: FloatArray) -> FloatArray:
    """Return H⁻¹ J H⁻¹ for a negative definite H."""
    factor = cholesky(-curved, shift=0.0, name="the curvature", remedy="the number of steps")
    half = np.asarray(factor.solve(middle))
    return np.asarray(factor.solve(half.T))
