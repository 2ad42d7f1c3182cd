"""Series of numbers and the marks that show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.report.markup import element
from kmcf.report.numbers import pixel
from kmcf.report.scale import Axis, Scale

COLOURS = 8
MOST_MARKERS = 80
_SHAPES = (
    "M{x},{y}m-3.4,0a3.4,3.4 0 1,0 6.8,0a3.4,3.4 0 1,0 -6.8,0",
    "M{x},{y}m-3,-3h6v6h-6z",
    "M{x},{y}m0,-4.4l4,4.4l-4,4.4l-4,-4.4z",
    "M{x},{y}m0,-4l4,7h-8z",
    "M{x},{y}m0,4l4,-7h-8z",
)


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


class Slot(NamedTuple):
    """Where the bars of one series stand beside those of the others, in pixels."""

    offset: float
    width: float


def draw_series(series: Series, place: int, axes: tuple[Axis, Axis], scales: tuple[Scale, Scale], slot: Slot) -> str:
    """Draw the marks of a series: uncertainty first, then lines, then markers."""
    good = series.showable(*axes)
    left = scales[0](np.where(good, series.places, scales[0].low))
    top = scales[1](np.where(good, series.values, scales[1].low))
    left = left + slot.offset if series.kind == "bars" else left
    parts = [_spread(series, good, left, scales[1])] if series.ends is not None else []
    base = float(scales[1](0.0)) if not axes[1].log else scales[1].start
    if series.kind == "line":
        parts.append(element("path", d=_polyline(left, top, good), class_="line dashed" if series.dashed else "line"))
    elif series.kind == "stems":
        sticks = "".join(f"M{pixel(a)},{pixel(base)}V{pixel(b)}" for a, b in zip(left[good], top[good], strict=True))
        parts.append(element("path", d=sticks, class_="line thin"))
    elif series.kind == "bars":
        parts.insert(0, _bars(left[good], top[good], base, slot.width))
    if _has_markers(series):
        shape = _SHAPES[place % len(_SHAPES)]
        marks = "".join(shape.format(x=pixel(a), y=pixel(b)) for a, b in zip(left[good], top[good], strict=True))
        parts.append(element("path", d=marks, class_="mark"))
    return element("g", *parts, class_=f"series c{colour_of(series, place)}", data_series=place)


def _has_markers(series: Series) -> bool:
    """Markers would run together on long lines, and references have none."""
    if series.kind == "line":
        return len(series.places) <= MOST_MARKERS and not series.dashed
    return series.kind != "bars"


def colour_of(series: Series, place: int) -> int:
    """Return the place of a series in the palette."""
    return (place if series.colour is None else series.colour) % COLOURS


def swatch(series: Series, place: int) -> str:
    """Draw the small sign of a series in the legend."""
    if series.kind == "bars":
        sign = element("rect", x=4, y=2, width=18, height=10, class_="mark")
    else:
        mark = element("path", d=_SHAPES[place % len(_SHAPES)].format(x=13, y=7), class_="mark")
        line = element("path", d="M1,7H25", class_="line dashed" if series.dashed else "line")
        sign = (line if series.kind != "points" else "") + (mark if _has_markers(series) else "")
    return element("svg", sign, viewBox="0 0 26 14", class_=f"swatch c{colour_of(series, place)}", aria_hidden="true")


def _polyline(left: FloatArray, top: FloatArray, good: BoolArray) -> str:
    """Join neighbouring points; a point that cannot be shown interrupts the line."""
    words, pen_down = [], False
    for a, b, shown in zip(left, top, good, strict=True):
        if shown:
            words.append(f"{'L' if pen_down else 'M'}{pixel(a)},{pixel(b)}")
        pen_down = bool(shown)
    return "".join(words)


def _spread(series: Series, good: BoolArray, left: FloatArray, scale: Scale) -> str:
    """Draw the uncertainty; on a logarithmic axis an end that is not positive runs out of the picture."""
    lower, upper = series.ends or (series.values, series.values)
    known = good & np.isfinite(lower) & np.isfinite(upper)
    bottom, top = scale(np.where(known, lower, scale.low)), scale(np.where(known, upper, scale.low))
    if series.spread == "band":
        return "".join(_band(left[run], bottom[run], top[run]) for run in _runs(known))
    whiskers = "".join(
        f"M{pixel(a)},{pixel(b)}V{pixel(c)}m-3,0h6M{pixel(a - 3)},{pixel(b)}h6"
        for a, b, c in zip(left[known], bottom[known], top[known], strict=True)
    )
    return element("path", d=whiskers, class_="line thin")


def _band(left: FloatArray, bottom: FloatArray, top: FloatArray) -> str:
    there = [f"{pixel(a)},{pixel(b)}" for a, b in zip(left, top, strict=True)]
    back = [f"{pixel(a)},{pixel(b)}" for a, b in zip(left[::-1], bottom[::-1], strict=True)]
    return element("path", d="M" + "L".join(there + back) + "Z", class_="band")


def _bars(left: FloatArray, top: FloatArray, base: float, width: float) -> str:
    outlines = "".join(
        f"M{pixel(a - width / 2)},{pixel(base)}V{pixel(b)}h{pixel(width)}V{pixel(base)}z"
        for a, b in zip(left, top, strict=True)
    )
    return element("path", d=outlines, class_="bar")


def _runs(good: BoolArray) -> list[slice]:
    """Return the stretches of neighbouring points that can be shown."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(np.int8)))
    return [slice(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]
