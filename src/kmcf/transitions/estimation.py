"""Learning variances from residuals, by maximum likelihood or with the worst residuals left out."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtr, gammaincinv

from kmcf.numerics.arrays import BoolArray, FloatArray, positive_or_one

_ROUNDS = 20
_SMALLEST = 1e-9  # times a typical value: a smaller variance counts as zero


def second_moments(residuals: FloatArray, trim: float = 0.0) -> tuple[FloatArray, BoolArray]:
    r"""Return the second moments of zero-mean residuals, and which residuals were used.

    With ``trim`` = α > 0 the share α of the rows with the largest Mahalanobis norm is left out. Of a normal sample in d
    dimensions that leaves the moments too small by :math:`F_{d+2}(q) / F_d(q)` with the χ² distribution functions F and
    :math:`F_d(q) = 1 - \alpha`, which is corrected. The choice is repeated until it no longer changes.

    Parameters
    ----------
    residuals : array (n, d)
        One residual per row.
    trim : float
        Share of the rows to leave out.

    Examples
    --------
    >>> residuals = np.random.default_rng(0).normal(size=(2000, 1))
    >>> residuals[:20] = 1000.0
    >>> second_moments(residuals, trim=0.05)[0].round(1)
    array([[1.]])
    """
    count, width = residuals.shape
    kept = np.ones(count, dtype=bool)
    moments = residuals.T @ residuals / count
    fewer = count - int(trim * count)
    if fewer == count:
        return moments, kept
    limit = 2.0 * gammaincinv(0.5 * width, fewer / count)  # quantile of χ² with as many degrees of freedom
    correction = chdtr(width, limit) / chdtr(width + 2, limit)
    for _ in range(_ROUNDS):
        chosen = np.zeros(count, dtype=bool)
        chosen[np.argsort(_norms(residuals, moments), kind="stable")[:fewer]] = True
        if np.array_equal(chosen, kept):
            break
        kept = chosen
        moments = correction * residuals[kept].T @ residuals[kept] / fewer
    return moments, kept


def variance_weights(design: FloatArray, squares: FloatArray, trim: float = 0.0) -> FloatArray:
    r"""Return non-negative weights a such that the residuals look like draws from N(0, design @ a).

    Maximum likelihood: :math:`\sum_i \log v_i + e_i^2 / v_i` with :math:`v = D a` is minimised over a ≥ 0. ``trim``
    leaves out the share of residuals that are largest compared with their variance, as in :func:`second_moments`.

    Parameters
    ----------
    design : array (n, k)
        D, non-negative. Rows of zeros mean that there is no noise, and are ignored.
    squares : array (n,)
        e², squared residuals.
    trim : float
        Share of the residuals to leave out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> design = rng.uniform(size=(5000, 2))
    >>> residuals = rng.normal(size=5000) * np.sqrt(design @ [1.0, 0.5])
    >>> variance_weights(design, residuals**2).round(1)
    array([1. , 0.5])
    """
    moving = design.any(axis=1)
    design, squares = design[moving], squares[moving]
    if len(squares) == 0:
        return np.zeros(design.shape[1])
    fewer = len(squares) - int(trim * len(squares))
    limit = 2.0 * gammaincinv(0.5, fewer / len(squares))
    correction = 1.0 if fewer == len(squares) else chdtr(1, limit) / chdtr(3, limit)
    weights = _likeliest(design, squares)
    kept = np.arange(len(squares))
    for _ in range(_ROUNDS if fewer < len(squares) else 0):
        chosen = np.sort(np.argsort(squares / (design @ weights), kind="stable")[:fewer])
        if np.array_equal(chosen, kept):
            break
        kept = chosen
        weights = _likeliest(design[kept], correction * squares[kept])
    typical = float(np.mean(squares))
    return np.where(weights * design.mean(axis=0) > 10 * _SMALLEST * typical, weights, 0.0)


def factor(measured: FloatArray, true: FloatArray, trim: float = 0.0) -> float:
    """Return by how much true values are larger than measured ones; 1 where that is within twice its standard error.

    Least squares through the origin, with an error that does not take the residuals to be equally large. ``trim``
    leaves out the share of the pairs with the largest residuals, as in :func:`second_moments`.

    Parameters
    ----------
    measured, true : array (n,)
        Pairs of values.
    trim : float
        Share of the pairs to leave out.

    Examples
    --------
    >>> measured = np.linspace(1.0, 2.0, 50)
    >>> factor(measured, 0.9 * measured).__round__(3), factor(measured, measured + np.tile([0.1, -0.1], 25))
    (0.9, 1.0)
    """
    kept = np.arange(len(measured))
    slope = 1.0
    for _ in range(_ROUNDS):
        squares = float(measured[kept] @ measured[kept])
        if squares == 0.0:
            return 1.0
        slope = float(measured[kept] @ true[kept]) / squares
        residuals = np.abs(true - slope * measured)
        chosen = np.sort(np.argsort(residuals, kind="stable")[: len(measured) - int(trim * len(measured))])
        if np.array_equal(chosen, kept):
            break
        kept = chosen
    error = np.sqrt(float(np.sum((measured * residuals)[kept] ** 2))) / squares
    return slope if slope > 0.0 and abs(slope - 1.0) > 2.0 * error else 1.0


def _likeliest(design: FloatArray, squares: FloatArray) -> FloatArray:
    """Minimise Σ log v + e²/v over the logarithms of the weights, columns and residuals scaled to mean 1."""
    columns = design.mean(axis=0)
    columns = positive_or_one(columns)
    typical = max(float(np.mean(squares)), np.finfo(float).tiny)
    scaled, target = design / columns, squares / typical

    def cost(logarithms: FloatArray) -> tuple[float, FloatArray]:
        weights = np.exp(logarithms)
        variances = scaled @ weights
        slope = 1.0 / variances - target / variances**2
        return float(np.sum(np.log(variances) + target / variances)), (slope @ scaled) * weights

    start = np.full(design.shape[1], -np.log(design.shape[1]))
    bounds = [(np.log(_SMALLEST), np.log(1e9))] * design.shape[1]
    from scipy.optimize import minimize

    best = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.exp(best.x) * typical / columns


def _norms(residuals: FloatArray, moments: FloatArray) -> FloatArray:
    """Return squared Mahalanobis norms; directions without any variance count little."""
    values, vectors = np.linalg.eigh(moments)
    floor = max(float(values[-1]) * 1e-12, np.finfo(float).tiny)
    return np.sum((residuals @ vectors) ** 2 / np.maximum(values, floor), axis=1)
