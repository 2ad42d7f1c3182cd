"""Charts with two axes: lines, points, stems and bars, drawn by Bokeh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.report.axis import Axis
from kmcf.report.canvas import Canvas, blank
from kmcf.report.figure import figure
from kmcf.report.marks import Place, Slot, draw_series
from kmcf.report.series import Series
from kmcf.report.table import Table
from kmcf.support.extras import require

HEIGHT = 350
MOST_LISTED = 400
_LONG = 40
"""Letters of all categories together that fit below a chart on a phone."""


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
        notes = ["there are no values to show.", *self._notes()] if empty else self._notes()
        numbers = self._numbers(name)
        return figure(
            name, self.title, self.drawn(), self._description(), caption=self.caption, notes=notes, numbers=numbers
        )

    def drawn(self) -> Canvas:
        """Draw the chart."""
        models = require("bokeh.models", "report")
        spans = [self.x.span(self._all("x")), self.y.span(self._all("y"))]
        kinds = {f"{name}_axis_type": "log" if axis.log else "linear" for name, axis in (("x", self.x), ("y", self.y))}
        ranges = {name: models.Range1d(*span) for name, span in zip(("x_range", "y_range"), spans, strict=True)}
        canvas = Canvas(blank(self.x.title, self.y.title, height=HEIGHT, **kinds, **ranges))
        for axis, made in ((self.x, canvas.plot.xaxis[0]), (self.y, canvas.plot.yaxis[0])):
            _label(axis, made)
        barred = [k for k, series in enumerate(self.series) if series.kind == "bars"]
        room = self._bar_room(barred, spans[0])
        slots = {k: Slot((rank - (len(barred) - 1) / 2) * room, 0.9 * room) for rank, k in enumerate(barred)}
        # Lines are drawn over bars, and the first series of the legend over the later ones.
        order = [k for k in range(len(self.series))[::-1] if k in slots]
        order += [k for k in range(len(self.series))[::-1] if k not in slots]
        for k in order:
            draw_series(canvas, self.series[k], Place(k, self.x, self.y, spans[1][0]), slots.get(k, Slot()))
        canvas.entries[:] = [canvas.entries[order.index(k)] for k in range(len(order))]
        return canvas

    def _bar_room(self, barred: list[int], span: tuple[float, float]) -> float:
        """Share the smallest distance of two places between the bars that stand there."""
        if not barred:
            return 0.0
        places = np.concatenate([self.series[k].places for k in barred])
        places = places[self.x.showable(places)]
        first, last = np.log10(span) if self.x.log else span
        gaps = np.diff(np.unique(np.log10(places) if self.x.log else places))
        gap = float(gaps.min()) if gaps.size else (last - first) / max(len(self.x.categories), 3)
        return float(0.8 * gap / len(barred))

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


def _label(axis: Axis, made: Any) -> None:
    """Write the names of categories at their places; long ones aslant."""
    models = require("bokeh.models", "report")
    if not axis.categories:
        return
    made.ticker = models.FixedTicker(ticks=list(range(len(axis.categories))))
    made.major_label_overrides = {k: models.PlainText(text=name) for k, name in enumerate(axis.categories)}
    if sum(map(len, axis.categories)) > _LONG:
        made.major_label_orientation = 0.6
        made.major_label_policy = models.AllLabels()
