"""Robust scaling of columns: z = asinh((y − median) / MAD)."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, array_namespace, positive_or_one


def centre_and_scale(rows: Any) -> tuple[FloatArray, FloatArray]:
    """Return each column's median and median absolute deviation (unscaled, and 1 where it is zero); NaN is ignored.

    Examples
    --------
    >>> centre_and_scale(np.array([[-1.0], [0.0], [1.0], [1000.0]]))
    (array([0.5]), array([1.]))
    """
    values = np.asarray(rows, dtype=np.float64)
    median = np.nanmedian if np.isnan(values).any() else np.median
    centre: FloatArray = median(values, axis=0)
    deviation = median(np.abs(values - centre), axis=0)
    return centre, positive_or_one(deviation)


def asinh_scaled(rows: Array, centre: FloatArray, scale: FloatArray) -> Array:
    """Return asinh((rows − centre) / scale): linear near the centre, logarithmic in the tails.

    Examples
    --------
    >>> asinh_scaled(np.array([[0.0], [2e6]]), np.array([0.0]), np.array([1.0])).round(2)
    array([[ 0. ],
           [15.2]])
    """
    if type(rows) is np.ndarray and rows.dtype == np.float64:
        return np.arcsinh((rows - centre) / scale)
    xp = array_namespace(rows)
    own_centre, own_scale = (xp.asarray(part, dtype=rows.dtype) for part in (centre, scale))
    return xp.asinh((rows - own_centre) / own_scale)
