"""The marks of a series on a canvas: uncertainty first, then lines, then markers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.report.axis import Axis
from kmcf.report.canvas import COLOURS, MARKERS, Canvas, source
from kmcf.report.series import Series
from kmcf.support.extras import require

MOST_MARKERS, FEW_MARKERS = 80, 12
"""Every point of a line with so many has a marker; longer ones have few, which tell them apart without colours."""
_HATCHES = (" ", "/", "x", ".", "-")
_REACH = 18
"""Pixels within which a point is found by pointing at it."""


class Slot(NamedTuple):
    """Where the bars of one series stand beside those of the others, in units of the (logarithmic) axis."""

    offset: float = 0.0
    width: float = 0.0


class Place(NamedTuple):
    """Where a series stands in its chart: its number, the axes, and the lower end of the vertical one."""

    number: int
    x: Axis
    y: Axis
    low: float


def draw_series(canvas: Canvas, series: Series, place: Place, slot: Slot) -> None:
    """Draw a series and name it in the legend."""
    colour = COLOURS[(place.number if series.colour is None else series.colour) % len(COLOURS)]
    good = series.showable(place.x, place.y)
    data = _columns(series, place, good)
    plot, models, sign = canvas.plot, [], ""
    if series.kind == "bars":
        models.append(_bars(plot, series, place, slot, data, colour))
    if series.ends is not None:
        models.append(_spread(plot, series, data, good, colour, slot, place))
    if series.kind == "line":
        dash = "dashed" if series.dashed else "solid"
        models.append(plot.line("x", "y", source=data, color=colour, line_width=2, line_dash=dash))
        sign = "╍╍" if series.dashed else "━"
    elif series.kind == "stems":
        models.append(plot.segment("x", "base", "x", "y", source=data, color=colour, line_width=1.2))
        sign = "┃"
    if series.kind == "bars":
        sign, target = "▆", models[0]
    else:
        if not (series.kind == "line" and series.dashed):
            models.append(_markers(plot, series, place, data, colour))
            sign += tuple(MARKERS.values())[place.number % len(MARKERS)]
        target = plot.scatter("x", "y", source=data, size=_REACH, alpha=0.0)
        models.append(target)
    canvas.name(series.name, sign, colour, *models)
    canvas.tell(series.name, target, *_words(series, place))


def _columns(series: Series, place: Place, good: BoolArray) -> Any:
    """Return the data of a series, with gaps where there is nothing to draw."""
    columns: dict[str, Any] = {
        "x": np.where(good, series.places, np.nan),
        "y": np.where(good, series.values, np.nan),
    }
    if series.ends is not None:
        columns["lower"], columns["upper"] = series.ends
    if series.kind in ("stems", "bars"):
        columns["base"] = np.full(len(good), place.low if place.y.log else 0.0)
    if place.x.categories:
        names, shown = place.x.categories, zip(series.places, good, strict=True)
        columns["place"] = [names[int(k)] if there else "" for k, there in shown]
    return source(**columns)


def _markers(plot: Any, series: Series, place: Place, data: Any, colour: str) -> Any:
    models = require("bokeh.models", "report")
    marker = tuple(MARKERS)[place.number % len(MARKERS)]
    style = {"marker": marker, "size": 7, "color": colour}
    count = len(series.places)
    if series.kind == "line" and count > MOST_MARKERS:
        # The lines of a chart have theirs at different places, so that they do not hide each other.
        first = (place.number * count // FEW_MARKERS) // 5
        chosen = range(first, count, count // FEW_MARKERS)
        style["view"] = models.CDSView(filter=models.IndexFilter(list(chosen)))
    return plot.scatter("x", "y", source=data, **style)


def _spread(plot: Any, series: Series, data: Any, good: BoolArray, colour: str, slot: Slot, place: Place) -> Any:
    """Draw the uncertainty; on a logarithmic axis an end that is not positive runs out of the picture."""
    lower, upper = series.ends or (series.values, series.values)
    known = good & np.isfinite(lower) & np.isfinite(upper)
    if place.y.log:
        lower, upper = (np.where(values > 0, values, place.low) for values in (lower, upper))
    if series.spread == "band":
        outlines = [_outline(series.places[run], lower[run], upper[run]) for run in _runs(known)]
        columns = {"xs": [x for x, _ in outlines], "ys": [y for _, y in outlines]}
        return plot.patches("xs", "ys", source=source(**columns), color=colour, fill_alpha=0.16, line_alpha=0.0)
    at = _moved(series.places[known], slot.offset, place.x.log)
    ends = source(x=at, lower=lower[known], upper=upper[known])
    models = require("bokeh.models", "report")
    head = models.TeeHead(line_color=colour, size=7)
    whisker = models.Whisker(source=ends, base="x", lower="lower", upper="upper", line_color=colour)
    whisker.update(lower_head=head, upper_head=head, line_width=1.2)
    plot.add_layout(whisker)
    return whisker


def _bars(plot: Any, series: Series, place: Place, slot: Slot, data: Any, colour: str) -> Any:
    at = data.data["x"]
    data.data["left"] = _moved(at, slot.offset - slot.width / 2, place.x.log)
    data.data["right"] = _moved(at, slot.offset + slot.width / 2, place.x.log)
    hatch = {"hatch_pattern": _HATCHES[place.number % len(_HATCHES)], "hatch_color": "white", "hatch_alpha": 0.6}
    box = {"left": "left", "right": "right", "bottom": "base", "top": "y"}
    return plot.quad(**box, source=data, color=colour, fill_alpha=0.8, line_alpha=0.0, **hatch)


def _moved(places: FloatArray, offset: float, log: bool) -> FloatArray:
    return places * 10.0**offset if log else places + offset


def _outline(x: FloatArray, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.concatenate([x, x[::-1]]), np.concatenate([upper, lower[::-1]])


def _runs(good: BoolArray) -> list[slice]:
    """Return the stretches of neighbouring points that can be shown.

    Examples
    --------
    >>> _runs(np.array([True, True, False, True]))
    [slice(0, 2, None), slice(3, 4, None)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(np.int8)))
    return [slice(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _words(series: Series, place: Place) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return what is told of a point: its place, its value and the ends of its uncertainty."""
    value, formatters = "@y{%.4g}", {"@x": "printf", "@y": "printf", "@lower": "printf", "@upper": "printf"}
    if series.ends is not None:
        value += " [@lower{%.4g}, @upper{%.4g}]"
    where = "@place" if place.x.categories else "@x{%.6g}"
    return [(place.x.title, where), (place.y.title, value)], formatters
