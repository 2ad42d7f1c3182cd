"""Things on walls and set into them; each function paints one, with its left edge at a place in metres."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kmcf_lab.localize.building.painting import Canvas


def door(canvas: Canvas, left: float) -> None:
    """Paint a closed door with frame, handle, kick plate, and a name plate beside it."""
    leaf = canvas.rng.uniform(0.35, 0.62)
    canvas.fill(left, 0, left + 1.1, 2.15, 0.18)
    canvas.fill(left + 0.08, 0, left + 1.02, 2.07, leaf)
    if canvas.rng.random() < 0.4:
        canvas.fill(left + 0.3, 1.3, left + 0.8, 1.9, 0.12)
    else:
        canvas.frame(left + 0.2, 1.15, left + 0.9, 1.95, 0.04, leaf * 0.7)
        canvas.frame(left + 0.2, 0.35, left + 0.9, 1.0, 0.04, leaf * 0.7)
    canvas.fill(left + 0.08, 0, left + 1.02, 0.2, 0.75)
    canvas.fill(left + 0.85, 1.02, left + 1.0, 1.07, 0.9)
    canvas.fill(left + 1.15, 1.5, left + 1.35, 1.68, 0.92)
    writing(canvas, left + 1.17, 1.52, left + 1.33, 1.66, 0.15)


def window(canvas: Canvas, left: float) -> None:
    """Paint a window with bars, a sill, and the world outside: sky above, houses and trees below."""
    right, bottom, top = left + 1.6, 0.9, 2.5
    canvas.fill(left - 0.06, bottom - 0.06, right + 0.06, top + 0.06, 0.85)
    box = canvas.box(left, bottom, right, top)
    view = canvas.light[box]
    rows = np.linspace(0.0, 1.0, view.shape[0], dtype=np.float32)[:, None]
    view[:] = 0.75 + 0.25 * rows
    edge = 0
    while edge < view.shape[1]:
        width, height = canvas.rng.integers(6, 20), int(view.shape[0] * canvas.rng.uniform(0.15, 0.6))
        view[:height, edge : edge + width] = canvas.rng.uniform(0.15, 0.5)
        edge += int(width)
    canvas.fill(left, bottom, right, top, 0.06)
    for place in (left, left + 0.78, right - 0.05):
        canvas.light[canvas.box(place, bottom, place + 0.05, top)] = 0.0
        canvas.fill(place, bottom, place + 0.05, top, 0.8)
    canvas.light[canvas.box(left, 1.95, right, 2.0)] = 0.0
    canvas.fill(left, 1.95, right, 2.0, 0.8)
    canvas.fill(left - 0.12, bottom - 0.1, right + 0.12, bottom, 0.55)


def poster(canvas: Canvas, left: float) -> None:
    """Paint a framed picture of blocks and discs."""
    bottom = canvas.rng.uniform(1.15, 1.35)
    right, top = left + 0.7, bottom + 0.95
    canvas.fill(left, bottom, right, top, 0.08)
    canvas.fill(left + 0.04, bottom + 0.04, right - 0.04, top - 0.04, canvas.rng.uniform(0.3, 0.95))
    for _ in range(canvas.rng.integers(4, 9)):
        x, y = canvas.rng.uniform(left + 0.12, right - 0.12), canvas.rng.uniform(bottom + 0.2, top - 0.12)
        size = canvas.rng.uniform(0.03, 0.16)
        shade = canvas.rng.choice([0.05, 0.2, 0.5, 0.75, 0.97])
        if canvas.rng.random() < 0.5:
            canvas.disc(x, y, min(size, x - left - 0.04, right - 0.04 - x), shade)
        else:
            canvas.fill(max(left + 0.04, x - size), y - size / 2, min(right - 0.04, x + size), y + size / 2, shade)
    writing(canvas, left + 0.08, bottom + 0.06, right - 0.08, bottom + 0.16, canvas.rng.choice([0.05, 0.9]))


def notice_board(canvas: Canvas, left: float) -> None:
    """Paint a cork board full of sheets."""
    canvas.fill(left, 1.0, left + 1.6, 2.1, 0.15)
    canvas.fill(left + 0.05, 1.05, left + 1.55, 2.05, 0.42)
    for _ in range(canvas.rng.integers(7, 13)):
        x, y = canvas.rng.uniform(left + 0.08, left + 1.25), canvas.rng.uniform(1.1, 1.68)
        width, height = ((0.21, 0.3), (0.3, 0.21), (0.15, 0.15))[canvas.rng.integers(3)]
        canvas.fill(x, y, x + width, y + height, canvas.rng.uniform(0.55, 1.0))
        writing(canvas, x + 0.02, y + 0.02, x + width - 0.02, y + height - 0.03, 0.2)


def sign(canvas: Canvas, left: float) -> None:
    """Paint a bright sign with an arrow under the ceiling."""
    canvas.fill(left, 2.3, left + 0.6, 2.55, 0.1)
    canvas.fill(left + 0.05, 2.4, left + 0.35, 2.45, 0.97)
    canvas.fill(left + 0.3, 2.35, left + 0.36, 2.5, 0.97)
    canvas.disc(left + 0.48, 2.43, 0.07, 0.95)


def extinguisher(canvas: Canvas, left: float) -> None:
    """Paint a fire extinguisher below its sign."""
    canvas.fill(left, 0.5, left + 0.2, 1.0, 0.16)
    canvas.fill(left + 0.06, 1.0, left + 0.14, 1.12, 0.05)
    canvas.fill(left + 0.03, 0.68, left + 0.17, 0.85, 0.9)
    canvas.fill(left - 0.02, 1.5, left + 0.22, 1.74, 0.2)
    canvas.disc(left + 0.1, 1.62, 0.07, 0.95)


def radiator(canvas: Canvas, left: float) -> None:
    """Paint a ribbed radiator."""
    canvas.fill(left, 0.15, left + 1.0, 0.75, 0.82)
    for place in np.arange(left + 0.06, left + 1.0, 0.1):
        canvas.fill(place, 0.18, place + 0.04, 0.72, 0.4)


def shelf(canvas: Canvas, left: float) -> None:
    """Paint two metres of books."""
    books(canvas, left, min(left + 2.0, canvas.width - 0.05))


def blackboard(canvas: Canvas, left: float) -> None:
    """Paint a blackboard with writing and a diagram."""
    canvas.fill(left, 0.9, left + 2.4, 2.1, 0.7)
    canvas.fill(left + 0.05, 0.95, left + 2.35, 2.05, 0.1)
    for _ in range(3):
        x = canvas.rng.uniform(left + 0.1, left + 1.6)
        y = canvas.rng.uniform(1.2, 1.7)
        writing(canvas, x, y, x + canvas.rng.uniform(0.3, 0.7), y + 0.3, 0.8)
    canvas.disc(left + 2.0, 1.5, 0.25, 0.75)
    canvas.disc(left + 2.0, 1.5, 0.22, 0.1)


def pipes(canvas: Canvas, left: float) -> None:
    """Paint three upright pipes with clamps."""
    for number, shade in enumerate((0.85, 0.35, 0.6)):
        place = left + 0.2 * number
        canvas.fill(place, 0, place + 0.1, canvas.height, shade)
        canvas.fill(place + 0.07, 0, place + 0.1, canvas.height, 0.15)
        for y in canvas.rng.uniform(0.3, 2.7, size=3):
            canvas.fill(place - 0.03, y, place + 0.13, y + 0.08, 0.1)


def cupboard(canvas: Canvas, left: float) -> None:
    """Paint a cupboard with two doors and a label on each."""
    canvas.fill(left, 0, left + 1.2, 1.9, 0.2)
    for side in (left + 0.04, left + 0.62):
        shade = canvas.rng.uniform(0.5, 0.75)
        canvas.fill(side, 0.06, side + 0.54, 1.86, shade)
        canvas.fill(side + 0.15, 1.4, side + 0.4, 1.6, 0.95)
        writing(canvas, side + 0.17, 1.42, side + 0.38, 1.58, 0.2)
    canvas.fill(left + 0.5, 0.9, left + 0.54, 1.1, 0.9)
    canvas.fill(left + 0.66, 0.9, left + 0.7, 1.1, 0.9)


def clock(canvas: Canvas, left: float) -> None:
    """Paint a clock."""
    canvas.disc(left + 0.2, 2.3, 0.2, 0.1)
    canvas.disc(left + 0.2, 2.3, 0.17, 0.95)
    canvas.fill(left + 0.19, 2.3, left + 0.22, 2.44, 0.05)
    canvas.fill(left + 0.19, 2.29, left + 0.31, 2.32, 0.05)


def books(canvas: Canvas, left: float, right: float) -> None:
    """Paint shelves of books from side to side."""
    canvas.fill(left, 0, right, 2.4, 0.12)
    for bottom in np.arange(0.12, 2.2, 0.38):
        x = left + 0.05
        while x < right - 0.08:
            thick, tall = canvas.rng.uniform(0.03, 0.1), canvas.rng.uniform(0.2, 0.32)
            if canvas.rng.random() < 0.92:
                shade = canvas.rng.uniform(0.15, 0.95)
                canvas.fill(x, bottom, min(x + thick, right - 0.05), bottom + tall, shade)
                canvas.fill(x, bottom + 0.2, min(x + thick, right - 0.05), bottom + 0.23, 1.0 - shade)
            x += thick + 0.008
        canvas.fill(left, bottom - 0.05, right, bottom, 0.45)


def writing(canvas: Canvas, left: float, bottom: float, right: float, top: float, shade: float) -> None:
    """Paint lines of words too small to read."""
    for y in np.arange(bottom, top - 0.02, 0.05):
        x = left
        while x < right:
            word = canvas.rng.uniform(0.03, 0.12)
            canvas.fill(x, y, min(x + word, right), y + 0.025, shade)
            x += word + 0.03


class Fixture(NamedTuple):
    """Something that can be put on a wall."""

    paint: Callable[[Canvas, float], None]
    width: float
    """Metres of wall it takes."""


FIXTURES = {
    "door": Fixture(door, 1.4),
    "window": Fixture(window, 1.75),
    "poster": Fixture(poster, 0.75),
    "notice board": Fixture(notice_board, 1.65),
    "sign": Fixture(sign, 0.65),
    "extinguisher": Fixture(extinguisher, 0.3),
    "radiator": Fixture(radiator, 1.05),
    "shelf": Fixture(shelf, 2.05),
    "blackboard": Fixture(blackboard, 2.45),
    "pipes": Fixture(pipes, 0.65),
    "cupboard": Fixture(cupboard, 1.25),
    "clock": Fixture(clock, 0.45),
}
