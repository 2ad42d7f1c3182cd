"""Ratios of errors and times with intervals: what counts as a difference, and from which effect it can be seen."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf_lab.statistics import Interval, confidence

MARGIN = 1.05
"""A ratio counts as a difference only if its interval lies beyond this factor: 5 % of the error."""
COMPETITIVE = 1.1
"""We call an error competitive if it is at most 10 % larger."""
Side = Literal["below", "above"]
SIMILAR = 1.5
"""We call times competitive or similar up to this factor, and different beyond it."""


def as_ratio(logs: FloatArray, level: float = 0.95) -> Interval:
    """Return the geometric mean of ratios with its confidence interval, given their logarithms."""
    with np.errstate(over="ignore"):
        return Interval(*(float(np.exp(value)) for value in confidence(logs, level)))


def written(ratio: Interval) -> str:
    """Write a ratio and its interval with two decimals.

    Examples
    --------
    >>> written(Interval(1.0, 0.98765, 1.0123))
    '1.00 [0.99, 1.01]'
    """
    value, low, high = (f"{number:.2f}" if number < 1e4 else "∞" for number in ratio)
    return f"{value} [{low}, {high}]"


def visible(ratio: Interval, side: Side, bound: float) -> str:
    """Say which ratio decides, and from which one on these data could have shown it.

    Examples
    --------
    >>> visible(Interval(1.2, 1.2 / 1.02, 1.2 * 1.02), "above", 1.05)
    'holds above 1.05, seen from 1.07'
    >>> visible(Interval(0.9, 0.0, math.inf), "below", 0.952)
    'holds below 0.95, which a single data set cannot show'
    """
    decides = f"holds {side} {bound:.2f}"
    if not (ratio.low > 0 and math.isfinite(ratio.high)):
        return f"{decides}, which a single data set cannot show"
    half = math.sqrt(ratio.high / ratio.low)
    return f"{decides}, seen from {bound / half if side == 'below' else bound * half:.2f}"
