"""What the regressors of a learnt kernel see of an observation."""

from __future__ import annotations

from kmcf.kernels.robust import asinh_scaled, centre_and_scale
from kmcf.numerics.arrays import Array, FloatArray, array_namespace


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
    >>> import numpy as np
    >>> with_magnitudes(np.array([[1.0, -2.0]]))
    array([[ 1., -2.,  1.,  2.]])
    """
    return array_namespace(z).concat([z, abs(z)], axis=1)


def pooled(z: Array) -> Array:
    """Return statistics over all columns, for many sensors of one kind.

    Mean, mean magnitude, log mean square, largest, smallest.

    Examples
    --------
    >>> import numpy as np
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
