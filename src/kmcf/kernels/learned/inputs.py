"""What the regressors of a learnt kernel see of an observation."""

from __future__ import annotations

import numpy as np

from kmcf.kernels.robust import asinh_scaled, centre_and_scale
from kmcf.numerics.arrays import Array, FloatArray, IntArray, array_namespace

MOST_COMPARED = 400
"""Settings of a predictor are compared on so many training points."""


class RobustInputs:
    """Robustly scaled columns, z = asinh((y − median)/MAD), clipped to the range of the examples.

    An extreme observation is thus treated like the most extreme example; a regressor left to itself would return to
    the mean.
    """

    def __init__(self, rows: FloatArray) -> None:
        self.centre, self.scale = centre_and_scale(rows)
        scaled = asinh_scaled(rows, self.centre, self.scale)
        self.low, self.high = scaled.min(axis=0), scaled.max(axis=0)

    def __call__(self, rows: Array) -> Array:
        """Return z, (n, d)."""
        return array_namespace(rows).clip(asinh_scaled(rows, self.centre, self.scale), self.low, self.high)


def with_magnitudes(z: Array) -> Array:
    """Append |z|, for observations whose spread rather than value carries information about the state.

    Examples
    --------
    >>> with_magnitudes(np.array([[1.0, -2.0]]))
    array([[ 1., -2.,  1.,  2.]])
    """
    return array_namespace(z).concat([z, abs(z)], axis=1)


def pooled(z: Array) -> Array:
    """Return statistics over all columns, for many sensors of one kind.

    Mean, mean magnitude, log mean square, largest, smallest.

    Examples
    --------
    >>> pooled(np.array([[1.0, -1.0]])).round(3)
    array([[ 0.   ,  1.   ,  0.001,  1.   , -1.   ]])
    """
    xp = array_namespace(z)
    columns = [
        z.mean(axis=1),
        abs(z).mean(axis=1),
        xp.log(xp.mean(z**2, axis=1) + 1e-3),
        z.max(axis=1),
        z.min(axis=1),
    ]
    return xp.stack(columns, axis=1)


def compared(rows: FloatArray) -> IntArray:
    """Return on which training points settings are compared: all, or 400 that do not depend on their order.

    Examples
    --------
    >>> len(compared(np.zeros((50, 1)))), len(compared(np.zeros((5000, 1))))
    (50, 400)
    """
    if len(rows) <= MOST_COMPARED:
        return np.arange(len(rows))
    order = np.lexsort(rows.T[::-1])
    return order[np.random.default_rng(0).choice(len(rows), MOST_COMPARED, replace=False)]
