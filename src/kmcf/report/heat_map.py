"""Heat maps: how much of a belief lies where, with lines drawn over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.report.figure import figure
from kmcf.report.markup import element, text
from kmcf.report.numbers import pixel
from kmcf.report.scale import Axis, Scale

WIDTH, HEIGHT = 720.0, 380.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, 12.0, 10.0, 46.0
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
    >>> heat.html("heat-1").count('class="heat"')
    1
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
        x, y, size = self._scales()
        marks = [element("g", *self._cells(x, y), class_="series c0", data_series=0)]
        marks += [_line(values, x, y, place) for place, values in enumerate(self.lines.values(), 1)]
        legend = [(_swatch(0), "belief"), *((_swatch(k), words) for k, words in enumerate(self.lines, 1))]
        drawing = element(
            "svg",
            *self._frame(x, y, size),
            *marks,
            viewBox=f"0 0 {pixel(size[0])} {pixel(size[1])}",
            class_="drawing",
            role="img",
            aria_label=f"{self.title}: {self.y.title} over {self.x.title}, the more belief the darker.",
        )
        return figure(name, self.title, [drawing], legend if self.lines else [], caption=self.caption, kind="heatmap")

    def _scales(self) -> tuple[Scale, Scale, tuple[float, float]]:
        (left, right), (bottom, top) = ((float(np.min(e)), float(np.max(e))) for e in (self.x_edges, self.y_edges))
        wide = WIDTH - _LEFT - _RIGHT
        tall = float(np.clip(wide * (top - bottom) / (right - left), 200.0, 620.0)) if self.equal else HEIGHT - 56.0
        wide = min(wide, tall * (right - left) / (top - bottom)) if self.equal else wide
        x = Scale(left, right, _LEFT, _LEFT + wide)
        return x, Scale(bottom, top, _TOP + tall, _TOP), (WIDTH, _TOP + tall + _BOTTOM)

    def _cells(self, x: Scale, y: Scale) -> list[str]:
        """Draw one path per shade: neighbours of the same shade in a column are one rectangle."""
        shades = _shades(np.asarray(self.amounts, dtype=np.float64))
        left, top = x(np.asarray(self.x_edges)), y(np.asarray(self.y_edges))
        paths = []
        for shade in range(1, LEVELS):
            words = []
            for column, first, last in _stacks(shades == shade):
                wide, tall = left[column + 1] - left[column], top[last + 1] - top[first]
                words.append(f"M{pixel(left[column])},{pixel(top[first])}h{pixel(wide)}v{pixel(tall)}h{pixel(-wide)}z")
            if words:
                opacity = f"{shade / (LEVELS - 1):.2f}"
                paths.append(
                    element("path", d="".join(words), class_="heat", fill="currentColor", fill_opacity=opacity)
                )
        return paths

    def _frame(self, x: Scale, y: Scale, size: tuple[float, float]) -> list[str]:
        parts = [element("path", d=f"M{pixel(x.start)},{pixel(y.end)}V{pixel(y.start)}H{pixel(x.end)}", class_="axis")]
        for value, label in y.ticks(6):
            parts.append(_words(label, x.start - 6, float(y(value)) + 4, "end"))
        for value, label in x.ticks(6):
            parts.append(_words(label, float(x(value)), y.start + 17, "middle"))
        middle = (y.start + y.end) / 2
        parts.append(_words(self.x.title, (x.start + x.end) / 2, size[1] - 6, "middle", class_="title"))
        turn = f"rotate(-90 12 {pixel(middle)})"
        parts.append(_words(self.y.title, 12.0, middle, "middle", class_="title", transform=turn))
        return [element("g", *parts, class_="frame", aria_hidden="true")]


def _words(words: str, left: float, top: float, anchor: str, **more: str) -> str:
    return element("text", text(words), x=pixel(left), y=pixel(top), text_anchor=anchor, **more)


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


def _line(values: tuple[ArrayLike, ArrayLike], x: Scale, y: Scale, place: int) -> str:
    words, down = [], False
    for a, b in zip(*(np.asarray(part, dtype=np.float64) for part in values), strict=True):
        known = bool(np.isfinite(a) and np.isfinite(b))
        if known:
            words.append(f"{'L' if down else 'M'}{pixel(float(x(a)))},{pixel(float(y(b)))}")
        down = known
    return element(
        "g", element("path", d="".join(words), class_="line thin"), class_=f"series c{place}", data_series=place
    )


def _swatch(place: int) -> str:
    mark = "M4,2h18v10h-18z" if place == 0 else "M1,6h24v2h-24z"
    return element(
        "svg",
        element("path", d=mark, class_="mark"),
        viewBox="0 0 26 14",
        class_=f"swatch c{place}",
        aria_hidden="true",
    )


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
