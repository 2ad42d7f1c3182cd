"""Numbers that all experiments report: errors of estimates, means and slopes with their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy import stats

from kmcf.numerics.arrays import FloatArray
from kmcf.report import Estimate
from kmcf.report.numbers import shown

_ROUNDING = 1e-12


def rmse(means: FloatArray, states: FloatArray) -> float:
    """Return the root mean squared error of the state vector over all steps.

    Examples
    --------
    >>> rmse(np.array([[3.0, 4.0], [0.0, 0.0]]), np.zeros((2, 2)))
    3.5355339059327378
    """
    return float(np.sqrt(np.mean(np.sum((means - states) ** 2, axis=1))))


def estimate(values: Iterable[float]) -> Estimate:
    """Return the mean with its standard error, which is unknown for a single value.

    Examples
    --------
    >>> str(estimate([1.0, 3.0])), str(estimate([3.3, 3.3000000000000003]))
    ('2.0 ± 1.0', '3.3')
    """
    numbers = np.array(list(values), dtype=np.float64)
    mean = float(numbers.mean())
    error = float(numbers.std(ddof=1) / math.sqrt(len(numbers))) if len(numbers) > 1 else math.nan
    return Estimate(mean, 0.0 if error < _ROUNDING * abs(mean) else error)


class Interval(NamedTuple):
    """A mean with its 95 % confidence interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Write it as value [low, high].

        Examples
        --------
        >>> str(Interval(-0.5, -0.6, -0.4))
        '−0.5 [−0.6, −0.4]'
        """
        return f"{shown(self.value)} [{shown(self.low)}, {shown(self.high)}]"


def confidence(values: FloatArray, level: float = 0.95) -> Interval:
    """Return the mean of independent values with Student's interval, infinite for a single value.

    Examples
    --------
    >>> confidence(np.array([1.0, 2.0, 3.0]))
    Interval(value=2.0, low=-0.484..., high=4.484...)
    """
    count, mean = len(values), float(np.mean(values))
    if count < 2:
        return Interval(mean, -np.inf, np.inf)
    half = float(stats.t.ppf(0.5 + 0.5 * level, count - 1) * np.std(values, ddof=1) / np.sqrt(count))
    return Interval(mean, mean - half, mean + half)


def slope(x: FloatArray, y: FloatArray) -> Interval:
    """Fit a power law y ∝ x^slope to each repetition by least squares in logarithms.

    Parameters
    ----------
    x : array (m,) or (R, m)
        Positive abscissae, common or per repetition.
    y : array (R, m)
        Positive values.

    Examples
    --------
    >>> x = np.array([1.0, 10.0, 100.0])
    >>> round(slope(x, np.stack([x**-0.5, 3 * x**-0.5])).value, 6)
    -0.5
    """
    if np.any(~(np.asarray(x) > 0)) or np.any(~(y > 0)):
        raise ValueError("a power law can only be fitted to positive numbers.")
    abscissae, values = np.broadcast_to(np.log(x), y.shape), np.log(y)
    centred = abscissae - abscissae.mean(axis=1, keepdims=True)
    return confidence(np.sum(centred * values, axis=1) / np.sum(centred**2, axis=1))


def factor(logarithm: Interval) -> Interval:
    """Turn the interval of a logarithm into that of the factor.

    Examples
    --------
    >>> factor(Interval(0.0, -math.inf, 0.0))
    Interval(value=1.0, low=0.0, high=1.0)
    """
    return Interval(*(float(np.exp(value)) for value in logarithm))


def detectable(logarithms: FloatArray, level: float = 0.95, power: float = 0.8) -> float:
    """Return the smallest relative change that an experiment of this size and spread sees.

    An effect of this size leaves 1 outside the confidence interval of the factor in ``power`` of all repetitions of
    the whole experiment.

    Parameters
    ----------
    logarithms : array (R,)
        Logarithms of ratios, one for each independent repetition.
    level : float
        Of the confidence interval.
    power : float
        Share of experiments that would see the effect.

    Examples
    --------
    >>> round(detectable(np.log([0.9, 1.0, 1.1, 1.0])), 3)
    0.186
    """
    count = len(logarithms)
    if count < 2:
        return math.inf
    quantiles = stats.t.ppf([0.5 + 0.5 * level, power], count - 1).sum()
    return float(np.expm1(quantiles * np.std(logarithms, ddof=1) / np.sqrt(count)))
