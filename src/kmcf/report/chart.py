"""Charts with two axes: lines, points, stems and bars, drawn as SVG in Python; the page's script adds interaction.

Every chart is drawn twice, for wide and for narrow boxes, so that its text stays readable on a phone without a
script; the style sheet shows the one that fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.report.figure import figure
from kmcf.report.markup import element, text
from kmcf.report.numbers import compact, pixel
from kmcf.report.scale import Axis, Scale
from kmcf.report.series import Series, Slot, draw_series, swatch
from kmcf.report.table import Table

WIDE, NARROW = (720, 380), (360, 290)
MOST_LISTED = 400
_LETTER = 6.6


@dataclass(frozen=True)
class Chart:
    """A chart of one or more series.

    Parameters
    ----------
    title : str
        Heading of the figure.
    x, y : Axis
        What the axes mean.
    series : sequence of Series
        What is drawn, in the order of the legend.
    caption : str
        Text below.

    Examples
    --------
    >>> chart = Chart("Error", Axis("n", log=True), Axis("error", "m"), [Series("KMCF", [100, 200], [0.9, 0.8])])
    >>> chart.html("figure-1").startswith('<figure class="chart" id="figure-1">')
    True
    """

    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    caption: str = ""

    def html(self, name: str) -> str:
        """Write the figure under an id."""
        empty = not any(series.showable(self.x, self.y).any() for series in self.series)
        drawings = [self._drawing(size, kind, empty) for size, kind in ((WIDE, "wide"), (NARROW, "narrow"))]
        legend = [(swatch(series, k), series.name) for k, series in enumerate(self.series)]
        return figure(
            name,
            self.title,
            drawings,
            legend if len(legend) > 1 else [],
            caption=self.caption,
            notes=self._notes(),
            numbers=self._numbers(name),
            data=self._data(),
        )

    def _drawing(self, size: tuple[int, int], kind: str, empty: bool) -> str:
        width, height = size
        spans = self.x.span(self._all("x")), self.y.span(self._all("y"))
        # The left margin depends on the labels of the vertical axis, whose ticks depend on the height alone.
        vertical = Scale(*spans[1], height - 46.0, 10.0, self.y.log)
        ticks = vertical.ticks(max(3, height // 55))
        left = 34.0 + _LETTER * max([len(label) for _, label in ticks], default=1)
        scales = Scale(*spans[0], left, width - 12.0, self.x.log), vertical
        frame = _frame(self.x, self.y, scales, ticks, size)
        if empty:
            middle = {"x": pixel((left + width) / 2), "y": pixel(height / 2 - 20), "text_anchor": "middle"}
            content = element("text", "no values to show", class_="empty", **middle)
        else:
            content = self._marks(scales)
        inside = {"x": pixel(left), "y": 10, "width": pixel(width - 12 - left), "height": height - 56}
        window = " ".join(str(value) for value in inside.values())
        return element(
            "svg",
            frame,
            element("svg", content, viewBox=window, **inside),
            viewBox=f"0 0 {width} {height}",
            class_=f"drawing {kind}",
            role="img",
            aria_label=self._description(),
            data_scales=" ".join(f"{number:.9g}" for scale in scales for number in scale.numbers()),
        )

    def _marks(self, scales: tuple[Scale, Scale]) -> str:
        barred = [k for k, series in enumerate(self.series) if series.kind == "bars"]
        room = self._bar_room(scales[0], barred)
        slots = {k: Slot((rank - (len(barred) - 1) / 2) * room, 0.9 * room) for rank, k in enumerate(barred)}
        # Lines are drawn over bars, and the first series of the legend over the later ones.
        order = [k for k in range(len(self.series))[::-1] if k in slots]
        order += [k for k in range(len(self.series))[::-1] if k not in slots]
        axes = self.x, self.y
        return "".join(draw_series(self.series[k], k, axes, scales, slots.get(k, Slot(0, 0))) for k in order)

    def _bar_room(self, scale: Scale, barred: list[int]) -> float:
        """Share the smallest distance of two places between the bars that stand there."""
        if not barred:
            return 0.0
        places = np.unique(np.concatenate([scale(self.series[k].places) for k in barred]))
        gaps = np.diff(places[np.isfinite(places)])
        gap = float(gaps.min()) if gaps.size else abs(scale.end - scale.start) / max(len(self.x.categories), 3)
        return 0.8 * gap / len(barred)

    def _all(self, axis: str) -> FloatArray:
        """Collect the values an axis must hold."""
        if axis == "x":
            collected = [series.places[series.showable(self.x, self.y)] for series in self.series]
            return np.concatenate([*collected, np.zeros(0)])
        collected = []
        for series in self.series:
            good = series.showable(self.x, self.y)
            collected += [values[good] for values in (series.values, *(series.ends or ()))]
            if series.kind in ("bars", "stems"):
                # They grow from zero, or where there is no zero from well below the smallest.
                collected.append(np.zeros(1) if not self.y.log else series.values[good] / 3.0)
        return np.concatenate([*collected, np.zeros(0)])

    def _description(self) -> str:
        names = ", ".join(series.name for series in self.series)
        return f"{self.title}: {self.y.title} over {self.x.title}; shown are {names or 'no series'}."

    def _notes(self) -> list[str]:
        """List what could not be drawn, and why."""
        notes = []
        for axis, name in ((self.x, "places"), (self.y, "values")):
            arrays = [series.places if axis is self.x else series.values for series in self.series]
            missing = sum(int(np.sum(~np.isfinite(array))) for array in arrays)
            if missing:
                notes.append(f"{missing} of the {name} on the axis “{axis.label}” are missing or infinite: not drawn.")
            if axis.log:
                low = sum(int(np.sum(np.isfinite(array) & (array <= 0))) for array in arrays)
                if low:
                    notes.append(
                        f"{low} of the {name} on the axis “{axis.label}” are zero or negative and have no place on its "
                        "logarithmic scale: not drawn."
                    )
        return notes

    def _numbers(self, name: str) -> str:
        """Write the values as a table, for readers who want or need text instead of a picture."""
        total = sum(len(series.places) for series in self.series)
        if not 0 < total <= MOST_LISTED:
            return ""
        spread = any(series.ends is not None for series in self.series)
        columns = ["series", self.x.title, self.y.title, *(["lower", "upper"] if spread else [])]
        rows: list[list[Any]] = []
        for series in self.series:
            ends = series.ends or (np.full(len(series.places), np.nan),) * 2
            for x, y, lower, upper in zip(series.places, series.values, *ends, strict=True):
                rows.append([series.name, self._place(x), float(y), *([float(lower), float(upper)] if spread else [])])
        return Table(columns, rows).html(f"{name}-numbers")

    def _place(self, x: float) -> str | float:
        return self.x.categories[int(x)] if self.x.categories and np.isfinite(x) else float(x)

    def _data(self) -> dict[str, Any]:
        """Gather what the page's script needs for its tooltips."""
        series = []
        for one in self.series:
            entry: dict[str, Any] = {"name": one.name, "x": compact(one.places, 6), "y": compact(one.values)}
            if one.ends is not None:
                entry["lower"], entry["upper"] = (compact(values) for values in one.ends)
            series.append(entry)
        return {"x": self.x.title, "y": self.y.title, "categories": list(self.x.categories), "series": series}


def _frame(x: Axis, y: Axis, scales: tuple[Scale, Scale], ticks: list[tuple[float, str]], size: tuple[int, int]) -> str:
    """Draw grid, ticks and titles of the axes."""
    width, height = size
    left, right, bottom = scales[0].start, scales[0].end, scales[1].start
    parts = [
        element("path", d=f"M{pixel(left)},10V{pixel(bottom)}H{pixel(right)}", class_="axis"),
        *_vertical_ticks(ticks, scales),
        *_horizontal_ticks(x, scales[0], bottom, width),
        _title(x.title, (left + right) / 2, height - 6),
        _title(y.title, 12, (10 + bottom) / 2, turned=True),
    ]
    return element("g", *parts, class_="frame", aria_hidden="true")


def _vertical_ticks(ticks: list[tuple[float, str]], scales: tuple[Scale, Scale]) -> list[str]:
    parts = []
    for value, label in ticks:
        top = float(scales[1](value))
        parts.append(element("path", d=f"M{pixel(scales[0].start)},{pixel(top)}H{pixel(scales[0].end)}", class_="grid"))
        parts.append(element("text", text(label), x=pixel(scales[0].start - 6), y=pixel(top + 4), text_anchor="end"))
    return parts


def _horizontal_ticks(x: Axis, scale: Scale, bottom: float, width: int) -> list[str]:
    ticks = [(float(k), label) for k, label in enumerate(x.categories)] or scale.ticks(max(3, width // 90))
    room = _LETTER * max([len(label) for _, label in ticks], default=1) + 10
    every = max(1, int(np.ceil(room * len(ticks) / (scale.end - scale.start)))) if not x.categories else 1
    longest = int((scale.end - scale.start) / max(len(ticks), 1) / _LETTER)
    parts = []
    for k, (value, label) in enumerate(ticks):
        left = float(scale(value))
        parts.append(element("path", d=f"M{pixel(left)},{pixel(bottom)}v4", class_="axis"))
        if k % every == 0:
            fitting = label if not x.categories or len(label) <= longest else label[: max(longest - 1, 1)] + "…"
            parts.append(element("text", text(fitting), x=pixel(left), y=pixel(bottom + 17), text_anchor="middle"))
    return parts


def _title(words: str, left: float, top: float, *, turned: bool = False) -> str:
    where = {"x": pixel(left), "y": pixel(top), "text_anchor": "middle", "class_": "title"}
    if turned:
        where["transform"] = f"rotate(-90 {pixel(left)} {pixel(top)})"
    return element("text", text(words), **where)
