"""Proper scores of a distribution: lower is better, and on average the true distribution does best."""

from __future__ import annotations

import numpy as np

from kmcf.numerics.arrays import FloatArray


def crps(points: FloatArray, weights: FloatArray, truth: float) -> float:
    """Return the continuous ranked probability score ∫ (F(z) − 1[z ≥ truth])² dz of a weighted sample on a line.

    The cumulative sum of signed weights need not increase. As for quantiles, F is the average of the smallest
    non-decreasing function above and the largest below it, cut to [0, 1]: a distribution function, for which the score
    is proper. With non-negative weights that is the cumulative sum itself.

    Parameters
    ----------
    points, weights : arrays (n,)
        The sample; the weights sum to one.
    truth : float
        What happened.

    Examples
    --------
    >>> crps(np.array([2.0]), np.array([1.0]), 5.0)  # of a single point it is the distance
    3.0
    """
    order = np.argsort(points, kind="stable")
    z, total = points[order], np.cumsum(weights[order])
    above = np.maximum.accumulate(total)
    below = np.minimum.accumulate(total[::-1])[::-1]
    F = np.clip(0.5 * (above + below), 0.0, 1.0)
    F[-1] = 1.0
    edges = np.sort(np.append(z, truth))
    height = np.concatenate([[0.0], F])[np.searchsorted(z, edges[:-1], side="right")]
    return float(np.sum((height - (edges[:-1] >= truth)) ** 2 * np.diff(edges)))


def crps_of_quantiles(levels: FloatArray, quantiles: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the same score from quantiles, as twice the integral over levels of the pinball loss, (d,).

    Parameters
    ----------
    levels : array (K,)
        Equally spaced in (0, 1), as (k − ½) / K.
    quantiles : array (K, d)
        The quantiles of each coordinate.
    truth : array (d,)
        What happened.

    Examples
    --------
    >>> levels = (np.arange(200) + 0.5) / 200
    >>> crps_of_quantiles(levels, levels[:, None], np.array([0.5])).round(4)  # uniform: 1/12
    array([0.0833])
    """
    under = truth - quantiles
    loss = np.where(under >= 0, levels[:, None] * under, (levels[:, None] - 1.0) * under)
    return 2.0 * np.mean(loss, axis=0)


def interval_score(lower: FloatArray, upper: FloatArray, truth: FloatArray, level: float = 0.95) -> FloatArray:
    """Return the interval score: the width, plus 2 / (1 − level) times how far the truth lies outside.

    Parameters
    ----------
    lower, upper, truth : arrays
        Of one shape.
    level : float
        How much the interval should hold.

    Examples
    --------
    >>> interval_score(np.array([0.0, 0.0]), np.array([1.0, 1.0]), np.array([0.5, 1.1]), level=0.9).round(3)
    array([1., 3.])
    """
    outside = np.maximum(lower - truth, 0.0) + np.maximum(truth - upper, 0.0)
    return np.asarray(upper - lower + 2.0 / (1.0 - level) * outside)
