"""Axes: from the values of data to the places of a drawing, and the ticks between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.report.numbers import power_of_ten, shown

# Powers of ten that a float can hold, with room for arithmetic.
_DECADES = 300.0


@dataclass(frozen=True)
class Axis:
    """What an axis of a chart means.

    Parameters
    ----------
    label : str
        What is measured.
    unit : str
        Its unit, empty for pure numbers.
    log : bool
        Logarithmic; values that are zero or negative are then left out, and the chart says so.
    limits : pair of float, optional
        Fixed ends; None: from the data.
    categories : sequence of str
        Names of the places 0, 1, 2, …, for charts whose horizontal axis has no numbers.

    Examples
    --------
    >>> Axis("error", unit="m").title
    'error (m)'
    """

    label: str
    unit: str = ""
    log: bool = False
    limits: tuple[float, float] | None = None
    categories: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.limits is not None:
            low, high = self.limits
            if not (math.isfinite(low) and math.isfinite(high) and low < high and (low > 0 or not self.log)):
                raise ValueError(
                    f"limits = {self.limits!r} of the axis {self.label!r}; give two finite numbers in increasing order"
                    f"{', positive because the axis is logarithmic' if self.log else ''}."
                )

    @property
    def title(self) -> str:
        """The label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def showable(self, values: ArrayLike) -> BoolArray:
        """Return which values have a place on the axis: finite, and positive if it is logarithmic."""
        array = np.asarray(values, dtype=np.float64)
        return np.isfinite(array) & (array > 0) if self.log else np.isfinite(array)

    def span(self, values: FloatArray) -> tuple[float, float]:
        """Return the ends of the axis: its limits, or those of the data with a little room."""
        if self.limits is not None:
            return self.limits
        if self.categories:
            return -0.5, len(self.categories) - 0.5
        chosen = values[self.showable(values)]
        if chosen.size == 0:
            return (1.0, 10.0) if self.log else (0.0, 1.0)
        low, high = float(chosen.min()), float(chosen.max())
        if self.log:
            first, last = math.log10(low), math.log10(high)
            room = 0.04 * (last - first) or 0.3
            return 10.0 ** max(first - room, -_DECADES), 10.0 ** min(last + room, _DECADES)
        room = 0.04 * (high - low) if high > low else 0.5 * abs(low) or 0.5
        return low - room, high + room


@dataclass(frozen=True)
class Scale:
    """A straight or logarithmic map from values between ``low`` and ``high`` to pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, values: ArrayLike) -> FloatArray:
        """Return the pixels of values; on a logarithmic axis what is not positive is put at the low end."""
        array, low, high = np.asarray(values, dtype=np.float64), self.low, self.high
        if self.log:
            array, low, high = np.log10(np.where(array > 0, array, low)), math.log10(low), math.log10(high)
        return self.start + (array - low) / (high - low) * (self.end - self.start)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return values worth a tick and their labels, about ``most`` at most."""
        return log_ticks(self.low, self.high, most) if self.log else linear_ticks(self.low, self.high, most)

    def numbers(self) -> list[float]:
        """Return what the page's script needs to repeat the map."""
        return [self.low, self.high, self.start, self.end, float(self.log)]


def linear_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Choose multiples of 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> [label for _, label in linear_ticks(0.03, 1.02, 6)]
    ['0.2', '0.4', '0.6', '0.8', '1.0']
    >>> [label for _, label in linear_ticks(-130, 560, 5)]
    ['0', '200', '400']
    """
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [index * step for index in range(first, last + 1)]
    if max(abs(low), abs(high)) >= 1e6 or step < 1e-4:
        return [(value, shown(value)) for value in values]
    decimals = max(-math.floor(math.log10(step) + 1e-9), 0)
    return [(value, f"{value:.{decimals}f}".replace("-", "−")) for value in values]


def log_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Choose powers of ten; within little more than a decade also their multiples.

    Examples
    --------
    >>> [label for _, label in log_ticks(2e-5, 300, 4)]
    ['10⁻⁴', '10⁻²', '1', '10²']
    >>> [label for _, label in log_ticks(90, 1100, 6)]
    ['100', '200', '500', '1000']
    """
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first >= 2:
        step = max(1, math.ceil((last - first + 1) / most))
        return [(10.0**k, power_of_ten(k)) for k in range(first, last + 1) if k % step == 0]
    multiples = [factor * 10.0**k for k in range(first - 1, last + 1) for factor in (1, 2, 5)]
    inside = [value for value in multiples if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
    if len(inside) >= 2:
        return [(value, shown(value, 1)) for value in inside]
    return linear_ticks(low, high, most)
