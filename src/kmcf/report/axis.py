"""Axes of a chart: what they mean, and from where to where they reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kmcf.numerics.arrays import BoolArray, FloatArray

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
