"""From a confidence interval to a verdict: holds, does not hold, not distinguishable."""

from __future__ import annotations

from kmcf.report import Verdict
from kmcf_lab.statistics import Interval


def below(interval: Interval, bound: float) -> Verdict:
    """Judge the claim that a value is below a bound.

    Examples
    --------
    >>> [below(Interval(0.9, 0.8, high), 1.0).value for high in (0.95, 1.2)]
    ['holds', 'not distinguishable']
    """
    if interval.high < bound:
        return Verdict.HOLDS
    return Verdict.FAILS if interval.low > bound else Verdict.UNCLEAR


def above(interval: Interval, bound: float) -> Verdict:
    """Judge the claim that a value is above a bound."""
    if interval.low > bound:
        return Verdict.HOLDS
    return Verdict.FAILS if interval.high < bound else Verdict.UNCLEAR


def near(interval: Interval, value: float, tolerance: float) -> Verdict:
    """Judge the claim that a value equals another up to a tolerance: all of the interval must lie within it."""
    if value - tolerance <= interval.low and interval.high <= value + tolerance:
        return Verdict.HOLDS
    outside = interval.high < value - tolerance or interval.low > value + tolerance
    return Verdict.FAILS if outside else Verdict.UNCLEAR


def consistent(interval: Interval, value: float, tolerance: float) -> Verdict:
    """Judge the claim that a value equals another up to a tolerance, more leniently than :func:`near`.

    It is enough that the interval reaches into the tolerance, provided that the interval is narrow.
    """
    if interval.high < value - tolerance or interval.low > value + tolerance:
        return Verdict.FAILS
    narrow = interval.high - interval.low <= 4 * tolerance
    return Verdict.HOLDS if narrow else Verdict.UNCLEAR
