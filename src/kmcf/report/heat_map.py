"""Heat maps: how much of a belief lies where, with lines drawn over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.report.axis import Axis
from kmcf.report.canvas import COLOURS, INK, Canvas, blank, source
from kmcf.report.figure import figure
from kmcf.report.plane import Plane
from kmcf.support.extras import require

HEIGHT = 350
LEVELS = 8
"""So many shades are told apart; the lightest is not drawn."""


@dataclass(frozen=True)
class HeatMap:
    """A grid of amounts, the more the darker.

    Parameters
    ----------
    title : str
        Heading of the figure.
    amounts : array (columns, rows)
        Not negative; NaN counts as zero.
    x, y : Axis
        What the axes mean.
    x_edges, y_edges : arrays (columns + 1,), (rows + 1,)
        Where the cells begin and end, increasing.
    lines : mapping of str to pair of arrays
        Lines over it by name: x and y; NaN interrupts them.
    caption : str
        Text below.
    equal : bool
        Whether both axes have the same scale, as on a map.

    Examples
    --------
    >>> heat = HeatMap("Belief", [[0.0, 1.0]], Axis("time", "s"), Axis("x", "m"), [0.0, 1.0], [0.0, 1.0, 2.0])
    >>> heat.html("heat-1").startswith('<figure class="heatmap" id="heat-1">')
    True
    """

    title: str
    amounts: ArrayLike
    x: Axis
    y: Axis
    x_edges: ArrayLike
    y_edges: ArrayLike
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]] = field(default_factory=dict)
    caption: str = ""
    equal: bool = False

    def __post_init__(self) -> None:
        wanted = tuple(len(np.asarray(edges)) - 1 for edges in (self.x_edges, self.y_edges))
        if np.shape(self.amounts) != wanted:
            raise ValueError(f"{self.title!r} has amounts of shape {np.shape(self.amounts)} for {wanted} cells.")

    def html(self, name: str) -> str:
        """Write the figure under an id."""
        words = f"{self.title}: {self.y.title} over {self.x.title}, the more belief the darker."
        return figure(name, self.title, self.drawn(), words, caption=self.caption, kind="heatmap")

    def drawn(self) -> Canvas:
        """Draw the heat map."""
        canvas = self._canvas()
        box = {"left": "left", "right": "right", "bottom": "bottom", "top": "top", "fill_alpha": "shade"}
        cells = canvas.plot.quad(**box, source=source(**self._cells()), color=COLOURS[0], line_alpha=0.0)
        canvas.name("belief", "■", COLOURS[0], cells)
        for (name, (x, y)), colour in zip(self.lines.items(), (INK, *COLOURS[1:] * len(self.lines)), strict=False):
            track = np.array([x, y], dtype=np.float64)
            track[:, ~np.isfinite(track).all(axis=0)] = np.nan
            line = canvas.plot.line("x", "y", source=source(x=track[0], y=track[1]), color=colour, line_width=1.6)
            canvas.name(name, "━", colour, line)
        return canvas

    def _canvas(self) -> Canvas:
        (left, right), (bottom, top) = ((float(np.min(e)), float(np.max(e))) for e in (self.x_edges, self.y_edges))
        if self.equal:
            return Plane(left, right, bottom, top).canvas((self.x.title, self.y.title), "", np.zeros((0, 4)))
        models = require("bokeh.models", "report")
        ranges = {"x_range": models.Range1d(left, right), "y_range": models.Range1d(bottom, top)}
        return Canvas(blank(self.x.title, self.y.title, height=HEIGHT, **ranges))

    def _cells(self) -> dict[str, FloatArray]:
        """Return one rectangle for neighbours of the same shade in a column; the lightest is not drawn."""
        shades = _shades(np.asarray(self.amounts, dtype=np.float64))
        x, y = (np.asarray(edges, dtype=np.float64) for edges in (self.x_edges, self.y_edges))
        found = [(shade, *stack) for shade in range(1, LEVELS) for stack in _stacks(shades == shade)]
        shade, column, first, last = np.array(found, dtype=np.intp).reshape(-1, 4).T
        ends = {"left": x[column], "right": x[column + 1], "bottom": y[first], "top": y[last + 1]}
        return ends | {"shade": shade / (LEVELS - 1)}


def _shades(amounts: FloatArray) -> IntArray:
    """Return a shade from 0 to LEVELS − 1 for each amount; the square root keeps small amounts visible."""
    known = np.where(np.isfinite(amounts), np.maximum(amounts, 0.0), 0.0)
    largest = float(known.max(initial=0.0)) or 1.0
    return np.rint(np.sqrt(known / largest) * (LEVELS - 1)).astype(int)


def _stacks(chosen: ArrayLike) -> list[tuple[int, int, int]]:
    """Return column, first and last row of every run of chosen cells.

    Examples
    --------
    >>> _stacks(np.array([[True, True, False, True], [False] * 4]))
    [(0, 0, 1), (0, 3, 3)]
    """
    found = []
    for column, rows in enumerate(np.asarray(chosen)):
        ends = np.flatnonzero(np.diff(np.concatenate([[0], rows.astype(int), [0]])))
        found += [(column, int(a), int(b) - 1) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    return found


def mass_on_grid(values: FloatArray, weights: FloatArray, edges: FloatArray) -> FloatArray:
    """Return how much weight lies in each cell; cells whose signed weights add up to less than nothing hold none.

    Parameters
    ----------
    values : array (n,)
        Where the weights are.
    weights : array (n,)
        Their sizes, possibly negative.
    edges : array (m + 1,)
        Ends of the cells; what lies outside goes to the first or the last cell.

    Examples
    --------
    >>> mass_on_grid(np.array([0.5, 1.5, 1.6]), np.array([0.5, 0.75, -0.25]), np.array([0.0, 1.0, 2.0]))
    array([0.5, 0.5])
    """
    cells = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    mass = np.maximum(np.bincount(cells, weights=weights, minlength=len(edges) - 1), 0.0)
    return np.asarray(mass / (mass.sum() or 1.0))
