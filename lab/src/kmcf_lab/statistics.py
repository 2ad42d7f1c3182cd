"""Numbers that all experiments report: errors of estimates, means with their standard errors."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.report import Estimate

_ROUNDING = 1e-12


def rmse(means: FloatArray, states: FloatArray) -> float:
    """Root mean squared error, over steps, of the state vector."""
    return float(np.sqrt(np.mean(np.sum((means - states) ** 2, axis=1))))


def estimate(values: Iterable[float]) -> Estimate:
    """Return the mean and its standard error; that is unknown for a single value.

    Examples
    --------
    >>> str(estimate([1.0, 3.0])), str(estimate([3.3, 3.3000000000000003]))
    ('2.0 ± 1.0', '3.3')
    """
    numbers: FloatArray = np.array(list(values), dtype=np.float64)
    mean = float(numbers.mean())
    error = float(numbers.std(ddof=1) / math.sqrt(len(numbers))) if len(numbers) > 1 else math.nan
    return Estimate(mean, 0.0 if error < _ROUNDING * abs(mean) else error)
