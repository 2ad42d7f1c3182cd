"""Mean and covariance of a weighted sample, for arrays of any library."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.numerics.arrays import Array, array_namespace
from kmcf.numerics.circles import wrapped_columns


def weighted_mean(rows: Array, weights: Array, angles: Sequence[int] = ()) -> Array:
    """Return Σ w_i x_i, (d,); in the angle columns the direction of the weighted mean of the points (cos x, sin x).

    Examples
    --------
    >>> weighted_mean(np.array([[0.0, 3.0], [2.0, -3.0]]), np.array([0.5, 0.5]), [1]).round(4)
    array([1.    , 3.1416])
    """
    mean = weights @ rows
    if not len(angles):
        return mean
    xp = array_namespace(rows)
    directions = xp.arctan2(weights @ xp.sin(rows), weights @ xp.cos(rows))
    return xp.where(np.isin(np.arange(rows.shape[1]), np.asarray(angles)), directions, mean)


def weighted_covariance(rows: Array, weights: Array, mean: Array, angles: Sequence[int] = ()) -> Array:
    """Return Σ w_i (x_i − mean)(x_i − mean)ᵀ, (d, d), exactly symmetric; differences of angles are wrapped.

    Examples
    --------
    >>> weighted_covariance(np.array([[0.0], [2.0]]), np.array([0.5, 0.5]), np.array([1.0]))
    array([[1.]])
    """
    deviations = wrapped_columns(rows - mean, angles)
    covariance = (deviations * weights[:, None]).T @ deviations
    return 0.5 * (covariance + covariance.T)
