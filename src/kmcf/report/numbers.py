"""Numbers as people read them, and as compact JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def shown(value: float, digits: int = 3) -> str:
    """Write a number with some significant digits, without an exponent where that is short.

    Examples
    --------
    >>> [shown(value) for value in (0.125, 1000, 12345.6, 8.49e-10, 0.000047, float("nan"), float("-inf"))]
    ['0.125', '1000', '12346', '8.49e-10', '4.70e-5', '–', '−∞']
    >>> shown(-0.5), shown(2), shown(0.0), shown(0.4999)
    ('−0.5', '2', '0', '0.500')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return _unsigned(abs(value), digits) if value >= 0 else "−" + _unsigned(-value, digits)


def _unsigned(value: float, digits: int) -> str:
    if value == int(value) and value < 1e6:
        return str(int(value))
    if 1e-3 <= value < 1e6:
        if float(f"{value:.{digits - 1}g}") == value:
            return f"{value:g}"
        decimals = max(digits - 1 - math.floor(math.log10(value)), 0)
        return f"{value:.{decimals}f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def power_of_ten(exponent: int) -> str:
    """Write 10 to a whole power with raised digits.

    Examples
    --------
    >>> power_of_ten(-4), power_of_ten(0), power_of_ten(1)
    ('10⁻⁴', '1', '10')
    """
    return {0: "1", 1: "10"}.get(exponent, "10" + str(exponent).translate(_SUPERSCRIPTS))


def compact(values: Iterable[float], digits: int = 4) -> list[float | int | None]:
    """Round to significant digits for JSON; what is not finite becomes None.

    Examples
    --------
    >>> compact([1.0, 0.123456, float("nan"), 12345678.0])
    [1, 0.1235, None, 12350000]
    """
    return [_compact_one(float(value), digits) for value in values]


def _compact_one(value: float, digits: int) -> float | int | None:
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e15 else rounded


def pixel(value: float | np.floating) -> str:
    """Write a coordinate of a drawing: one decimal is finer than any screen.

    Examples
    --------
    >>> pixel(12.04), pixel(3.25), pixel(-0.01)
    ('12', '3.2', '0')
    """
    written = f"{float(value):.1f}".removesuffix(".0")
    return "0" if written == "-0" else written
