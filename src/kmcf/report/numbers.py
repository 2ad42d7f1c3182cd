"""Numbers as people read them."""

from __future__ import annotations

import math


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
