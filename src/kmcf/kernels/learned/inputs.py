"""What the regressors of a learnt kernel see of an observation."""

from __future__ import annotations

import numpy as np

from kmcf.arrays import FloatArray
from kmcf.kernels.robust import asinh_scaled, centre_and_scale


class RobustInputs:
    """Robustly scaled columns, z = asinh((y − median)/MAD), within the range of the examples.

    Beyond that range inputs stay at its edge: an extreme observation is then treated like the most extreme example,
    where a regressor left to itself would return to the mean.
    """

    def __init__(self, rows: FloatArray) -> None:
        self.centre, self.scale = centre_and_scale(rows)
        scaled = asinh_scaled(rows, self.centre, self.scale)
        self.low, self.high = scaled.min(axis=0), scaled.max(axis=0)

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Return z, (n, d)."""
        z: FloatArray = np.clip(asinh_scaled(rows, self.centre, self.scale), self.low, self.high)
        return z


def with_magnitudes(z: FloatArray) -> FloatArray:
    """Append |z|, for observations whose spread rather than value tells about the state.

    Examples
    --------
    >>> with_magnitudes(np.array([[1.0, -2.0]]))
    array([[ 1., -2.,  1.,  2.]])
    """
    return np.concatenate([z, np.abs(z)], axis=1)


def pooled(z: FloatArray) -> FloatArray:
    """Return statistics over all columns, for many sensors of one kind.

    Mean, mean magnitude, log mean square, largest, smallest.

    Examples
    --------
    >>> pooled(np.array([[1.0, -1.0]])).round(3)
    array([[ 0.   ,  1.   ,  0.001,  1.   , -1.   ]])
    """
    columns = [
        z.mean(axis=1),
        np.abs(z).mean(axis=1),
        np.log(np.mean(z**2, axis=1) + 1e-3),
        z.max(axis=1),
        z.min(axis=1),
    ]
    return np.stack(columns, axis=1)
