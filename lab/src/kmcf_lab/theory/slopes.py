"""Power laws, fitted only where there is one: a curve that has reached its floor has no slope there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.report.numbers import shown
from kmcf_lab.cells import Row
from kmcf_lab.statistics import Interval, confidence, slope
from kmcf_lab.tables import grid

# A step is flat if the curve falls less than this share of its initial slope. Fewer points than this give no slope.
FLAT, FEWEST = 0.3, 3


class Curve(NamedTuple):
    """A quantity over another: mean and standard error over repetitions, and its power law where it follows one."""

    x: FloatArray
    mean: FloatArray
    error: FloatArray
    slope: Interval
    """Over the falling part; everywhere if nothing falls."""
    end: int
    """How many points the falling part has; the rest is the plateau."""

    @property
    def plateau(self) -> float | None:
        """The mean level of the plateau; None if the curve falls to its end."""
        return None if self.end == len(self.x) else float(np.exp(np.mean(np.log(self.mean[self.end - 1 :]))))

    def __str__(self) -> str:
        """Write the slope with its range, and the floor if there is one."""
        words = f"slope {self.slope} over {self.x[0]:g} to {self.x[self.end - 1]:g}"
        floor = self.plateau
        return words if floor is None else f"{words}, then a plateau at {shown(floor)}"


def curve(rows: Sequence[Row], across: str, value: str) -> Curve:
    """Average a quantity over repetitions and fit its slope up to the plateau."""
    x, values = grid(rows, across, value)
    count = len(values)
    error = values.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.zeros(len(x))
    end = falling(x, values)
    return Curve(x, values.mean(axis=0), error, slope(x[:end], values[:, :end]), end)


def falling(x: FloatArray, values: FloatArray) -> int:
    """Return how many of the first points belong to the falling part of a curve, for values (R, m) of R repetitions.

    The initial slope is that of the first three points. The plateau is the longest end of the curve on which every
    step falls by less than a third of it, significantly so over the repetitions.

    Examples
    --------
    >>> x = np.array([1.0, 10.0, 100.0, 1e3, 1e4])
    >>> falling(x, np.stack([1 / x, 2 / x])), falling(x, np.maximum([1 / x, 1.01 / x], 1e-2))
    (5, 3)
    """
    initial = slope(x[:FEWEST], values[:, :FEWEST]).value
    if len(x) <= FEWEST or initial >= 0 or len(values) < 2:
        return len(x)
    steps = np.diff(np.log(values), axis=1) / np.diff(np.log(x))
    end = len(x)
    while end > FEWEST and confidence(steps[:, end - 2]).low > FLAT * initial:
        end -= 1
    return end
