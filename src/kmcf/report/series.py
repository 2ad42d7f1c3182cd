"""Series of numbers to draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.report.axis import Axis


@dataclass(frozen=True)
class Series:
    """Values to draw, with their uncertainty.

    Parameters
    ----------
    name : str
        The entry of the legend.
    x, y : array (n,)
        Where and how much; what is not finite leaves a gap.
    lower, upper : array (n,), optional
        Ends of the uncertainty of y, both or neither.
    kind : {"line", "points", "stems", "bars"}
        How the values are drawn.
    spread : {"whiskers", "band"}
        How the uncertainty is drawn.
    dashed : bool
        A dashed line, e.g. for a reference.
    colour : int, optional
        Place in the palette; None: the series' place in the chart.
    """

    name: str
    x: ArrayLike
    y: ArrayLike
    lower: ArrayLike | None = None
    upper: ArrayLike | None = None
    kind: Literal["line", "points", "stems", "bars"] = "line"
    spread: Literal["whiskers", "band"] = "whiskers"
    dashed: bool = False
    colour: int | None = None

    def __post_init__(self) -> None:
        shapes = [np.shape(values) for values in (self.x, self.y, self.lower, self.upper) if values is not None]
        if len(set(shapes)) != 1 or len(shapes[0]) != 1:
            raise ValueError(f"series {self.name!r} has arrays of shapes {shapes}; give one number of each per point.")
        if (self.lower is None) != (self.upper is None):
            raise ValueError(f"series {self.name!r} has one end of its uncertainty only; give lower and upper.")
        if self.kind not in ("line", "points", "stems", "bars"):
            raise ValueError(f"kind = {self.kind!r} of series {self.name!r}; choose line, points, stems or bars.")

    @property
    def places(self) -> FloatArray:
        """The values of x."""
        return np.asarray(self.x, dtype=np.float64)

    @property
    def values(self) -> FloatArray:
        """The values of y."""
        return np.asarray(self.y, dtype=np.float64)

    @property
    def ends(self) -> tuple[FloatArray, FloatArray] | None:
        """The ends of the uncertainty."""
        if self.lower is None:
            return None
        return np.asarray(self.lower, dtype=np.float64), np.asarray(self.upper, dtype=np.float64)

    def showable(self, x: Axis, y: Axis) -> BoolArray:
        """Return which points can be drawn on these axes."""
        return x.showable(self.places) & y.showable(self.values)
