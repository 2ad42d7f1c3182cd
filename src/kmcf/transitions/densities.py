"""Logarithms of normal densities, on the line and on the circle."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.circles import wrapped_difference

_TURNS = 2.0 * np.pi * np.arange(-2, 3)


def log_normal(x: FloatArray, sd: Any) -> FloatArray:
    """Return log N(x; 0, sd²).

    Examples
    --------
    >>> log_normal(np.array([0.0]), 1.0).round(3)
    array([-0.919])
    """
    return -0.5 * (x / sd) ** 2 - np.log(sd) - 0.5 * np.log(2.0 * np.pi)


def log_wrapped_normal(angles: FloatArray, sd: Any) -> FloatArray:
    """Return the log density on the circle of a normal angle, summed over five turns (enough for sd up to 3 radians).

    Examples
    --------
    >>> log_wrapped_normal(np.array([0.1, 0.1 + 2 * np.pi]), 0.5).round(3)
    array([-0.246, -0.246])
    """
    copies = wrapped_difference(np.asarray(angles))[..., None] + _TURNS
    return np.logaddexp.reduce(log_normal(copies, np.asarray(sd)[..., None]), axis=-1)
