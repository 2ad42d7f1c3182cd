"""The plane of a map: both axes in the same unit and at the same scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kmcf.numerics.arrays import BoolArray, FloatArray
from kmcf.report.markup import element, text
from kmcf.report.numbers import pixel
from kmcf.report.scale import Scale

WIDTH = 720
_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 12.0, 10.0, 44.0
_LEAST_HEIGHT, _MOST_HEIGHT = 200.0, 620.0


def positions(values: ArrayLike | None, what: str) -> FloatArray:
    """Read positions as (n, 2); an error says what is wrong with them.

    Examples
    --------
    >>> positions([1.0, 2.0], "the true state")
    array([[1., 2.]])
    """
    array = np.zeros((0, 2)) if values is None else np.asarray(values, dtype=np.float64)
    array = array[None] if array.shape == (2,) else array
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{what} has shape {array.shape}; a map needs positions of shape (n, 2).")
    return array


def known(points: FloatArray) -> BoolArray:
    """Return which of the positions (n, 2) are finite."""
    return np.all(np.isfinite(points), axis=1)


def segments(walls: ArrayLike | None) -> FloatArray:
    """Read walls as (m, 4): x and y of one end, x and y of the other."""
    array = np.zeros((0, 4)) if walls is None else np.asarray(walls, dtype=np.float64)
    if array.ndim == 3 and array.shape[1:] == (2, 2):
        array = array.reshape(-1, 4)
    if array.ndim != 2 or array.shape[1] != 4:
        raise ValueError(f"walls have shape {array.shape}; give segments (m, 4): x and y of one end and of the other.")
    return array


@dataclass(frozen=True)
class Plane:
    """Equal scales of both directions that hold everything to be shown."""

    x: Scale
    y: Scale
    height: int

    @classmethod
    def around(cls, collections: Sequence[FloatArray]) -> Plane:
        """Choose the smallest plane around positions (n, 2) that are finite and not strays."""
        everything = np.concatenate([*collections, np.zeros((0, 2))])
        everything = _without_strays(everything[known(everything)])
        low, high = everything.min(axis=0), everything.max(axis=0)
        room = 0.04 * float((high - low).max()) or 0.5
        low, high = low - room, high + room
        inner = WIDTH - _LEFT - _RIGHT
        wanted = inner * (high[1] - low[1]) / (high[0] - low[0])
        tall = float(np.clip(wanted, _LEAST_HEIGHT, _MOST_HEIGHT))
        per_unit = min(inner / (high[0] - low[0]), tall / (high[1] - low[1]))
        middle, half = (low + high) / 2, np.array([inner, tall]) / per_unit / 2
        (left, bottom), (right, top) = middle - half, middle + half
        return cls(
            Scale(float(left), float(right), _LEFT, _LEFT + inner),
            Scale(float(bottom), float(top), _TOP + tall, _TOP),
            round(_TOP + tall + _BOTTOM),
        )

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the pixels (n, 2) of positions (n, 2)."""
        return np.column_stack([self.x(points[:, 0]), self.y(points[:, 1])])

    def outside(self, points: FloatArray) -> int:
        """Count the positions that lie beyond the edges."""
        x, y = points[known(points)].T
        return int(np.sum((x < self.x.low) | (x > self.x.high) | (y < self.y.low) | (y > self.y.high)))

    @property
    def per_unit(self) -> float:
        """Pixels per unit of length."""
        return (self.x.end - self.x.start) / (self.x.high - self.x.low)

    def path(self, points: FloatArray) -> str:
        """Join positions by a line that stops where one is missing."""
        words, pen_down = [], False
        for (left, top), shown in zip(self(points), known(points), strict=True):
            if shown:
                words.append(f"{'L' if pen_down else 'M'}{pixel(left)},{pixel(top)}")
            pen_down = bool(shown)
        return "".join(words)

    def walls(self, walls: FloatArray) -> str:
        """Draw segments (m, 4)."""
        ends = zip(self(walls[:, :2]), self(walls[:, 2:]), strict=True)
        lines = "".join(f"M{pixel(a[0])},{pixel(a[1])}L{pixel(b[0])},{pixel(b[1])}" for a, b in ends)
        return element("path", d=lines, class_="wall")

    def drawing(self, unit: str, description: str, *layers: str, axes: tuple[str, str] = ("x", "y")) -> str:
        """Put layers on the plane with its grid and ticks."""
        ticks = _ticks(self.x, self.y)
        words = f" ({unit})" if unit else ""
        middle, bottom = (self.x.start + self.x.end) / 2, self.height - 8
        frame = element(
            "g",
            *ticks,
            element("text", text(f"{axes[0]}{words}"), x=pixel(middle), y=bottom, text_anchor="middle", class_="title"),
            element(
                "text",
                text(f"{axes[1]}{words}"),
                transform=f"translate(16 {pixel((self.y.start + _TOP) / 2)}) rotate(-90)",
                text_anchor="middle",
                class_="title",
            ),
            class_="frame",
            aria_hidden="true",
        )
        width, tall = self.x.end - self.x.start, self.y.start - self.y.end
        inside = {"x": pixel(_LEFT), "y": pixel(_TOP), "width": pixel(width), "height": pixel(tall)}
        scales = " ".join(f"{number:.9g}" for scale in (self.x, self.y) for number in scale.numbers())
        return element(
            "svg",
            frame,
            element("svg", *layers, viewBox=" ".join(str(value) for value in inside.values()), **inside),
            viewBox=f"0 0 {WIDTH} {self.height}",
            class_="drawing plane",
            role="img",
            aria_label=description,
            data_scales=scales,
        )


def _without_strays(points: FloatArray) -> FloatArray:
    """Drop what lies far outside of nearly everything else: signed weights can put a mean anywhere."""
    if len(points) == 0:
        return np.array([[0.0, 0.0], [1.0, 1.0]])
    low = np.quantile(points, 0.05, axis=0, method="higher")
    high = np.quantile(points, 0.95, axis=0, method="lower")
    far = 2.0 * float(np.max(high - low))
    near: BoolArray = np.all((points >= low - far) & (points <= high + far), axis=1)
    return points[near] if far > 0 else points


def _ticks(x: Scale, y: Scale) -> list[str]:
    """Draw few ticks, because on a phone their labels grow relative to the map."""
    parts = []
    for value, label in x.ticks(6):
        left = pixel(float(x(value)))
        parts.append(element("path", d=f"M{left},{pixel(y.start)}V{pixel(y.end)}", class_="grid"))
        parts.append(element("text", text(label), x=left, y=pixel(y.start + 18), text_anchor="middle"))
    for value, label in y.ticks(5):
        top = float(y(value))
        parts.append(element("path", d=f"M{pixel(x.start)},{pixel(top)}H{pixel(x.end)}", class_="grid"))
        parts.append(element("text", text(label), x=pixel(x.start - 6), y=pixel(top + 4), text_anchor="end"))
    return parts
