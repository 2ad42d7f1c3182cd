"""Painting on surfaces measured in metres: what a wall, floor or ceiling reflects, and what light it gives off."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter

Shades: TypeAlias = npt.NDArray[np.float32]

PIXELS_PER_METRE = 48
GRAIN = (0.7, 3.0, 10.0)
"""Sizes in pixels of the irregularities of plaster, concrete and linoleum."""


class Canvas:
    """A surface that is being painted: ``matter`` (share of light reflected) and ``light`` (shining by itself).

    Row 0 is at the bottom (height 0), column 0 at the left.

    Parameters
    ----------
    width, height : float
        In metres.
    rng : Generator
        Of everything random on it.
    resolution : int
        Pixels per metre.
    """

    def __init__(self, width: float, height: float, rng: np.random.Generator, resolution: int = PIXELS_PER_METRE):
        self.width, self.height, self.rng, self.resolution = width, height, rng, resolution
        shape = max(1, round(height * resolution)), max(1, round(width * resolution))
        self.matter: Shades = np.full(shape, 0.5, dtype=np.float32)
        self.light: Shades = np.zeros(shape, dtype=np.float32)

    def box(self, left: float, bottom: float, right: float, top: float) -> tuple[slice, slice]:
        """Return the pixels of a rectangle in metres, cut at the canvas's edges."""
        height, width = self.matter.shape
        rows = (min(max(0, round(place * self.resolution)), height) for place in (bottom, top))
        columns = (min(max(0, round(place * self.resolution)), width) for place in (left, right))
        return slice(*rows), slice(*columns)

    def fill(self, left: float, bottom: float, right: float, top: float, shade: float) -> None:
        """Paint a rectangle."""
        self.matter[self.box(left, bottom, right, top)] = shade

    def frame(self, left: float, bottom: float, right: float, top: float, width: float, shade: float) -> None:
        """Paint the border of a rectangle, inwards."""
        self.fill(left, bottom, right, bottom + width, shade)
        self.fill(left, top - width, right, top, shade)
        self.fill(left, bottom, left + width, top, shade)
        self.fill(right - width, bottom, right, top, shade)

    def disc(self, x: float, y: float, radius: float, shade: float) -> None:
        """Paint a disc."""
        box = self.box(x - radius, y - radius, x + radius, y + radius)
        rows, columns = np.ogrid[box]
        scale = self.resolution
        inside = ((rows + 0.5) / scale - y) ** 2 + ((columns + 0.5) / scale - x) ** 2 < radius**2
        self.matter[box][inside] = shade

    def shade(self, factor: Shades) -> None:
        """Darken or brighten everything."""
        self.matter *= factor


def grain(canvas: Canvas, shade: float, contrast: float) -> None:
    """Plaster, concrete: irregular at several scales."""
    texture = np.zeros_like(canvas.matter)
    for size in GRAIN:
        rough = gaussian_filter(canvas.rng.standard_normal(canvas.matter.shape, dtype=np.float32), size)
        texture += rough / max(float(rough.std()), 1e-6)
    canvas.matter[:] = shade * (1.0 + contrast / len(GRAIN) * texture)


def plaster(canvas: Canvas) -> None:
    """Light plaster above a darker washable paint, with a rail between."""
    grain(canvas, 0.72, 0.08)
    canvas.matter[canvas.box(0, 0, canvas.width, 1.1)] *= 0.68
    canvas.fill(0, 1.08, canvas.width, 1.14, 0.25)


def concrete(canvas: Canvas) -> None:
    """Concrete cast in panels, with the holes of the formwork."""
    grain(canvas, 0.5, 0.16)
    for left in np.arange(0.0, canvas.width, 1.5):
        canvas.fill(left, 0, left + 0.03, canvas.height, 0.3)
        for x in (left + 0.3, left + 1.2):
            for y in (0.5, 1.5, 2.5):
                canvas.disc(x, y, 0.035, 0.22)
    canvas.fill(0, 1.49, canvas.width, 1.52, 0.33)


def brick(canvas: Canvas) -> None:
    """Bricks of different shades in running bond."""
    grain(canvas, 0.66, 0.1)
    height, length, joint = 0.14, 0.34, 0.022
    for course, bottom in enumerate(np.arange(0.0, canvas.height, height)):
        for left in np.arange(-length / 2 if course % 2 else 0.0, canvas.width, length):
            box = canvas.box(left + joint, bottom + joint, left + length, bottom + height)
            canvas.matter[box] *= canvas.rng.uniform(0.35, 0.75)


def panelling(canvas: Canvas) -> None:
    """Upright planks of wood."""
    grain(canvas, 0.5, 0.06)
    left = 0.0
    while left < canvas.width:
        width = canvas.rng.uniform(0.12, 0.22)
        box = canvas.box(left, 0, left + width, canvas.height)
        lines = 1.0 + 0.12 * gaussian_filter(canvas.rng.standard_normal(canvas.matter[box].shape[1]), 0.7)
        canvas.matter[box] *= (canvas.rng.uniform(0.8, 1.2) * lines).astype(np.float32)
        canvas.fill(left, 0, left + 0.02, canvas.height, 0.2)
        left += width
    canvas.fill(0, 0.9, canvas.width, 0.98, 0.28)


def tiles(canvas: Canvas) -> None:
    """Glazed tiles up to 2 m, some of them dark, plaster above."""
    grain(canvas, 0.78, 0.05)
    side = 0.2
    for bottom in np.arange(0.0, 2.0, side):
        for left in np.arange(0.0, canvas.width, side):
            shade = 0.3 if canvas.rng.random() < 0.08 else canvas.rng.uniform(0.68, 0.84)
            canvas.fill(left + 0.02, bottom + 0.02, left + side, bottom + side, shade)
    canvas.fill(0, 2.0, canvas.width, 2.06, 0.3)


def wallpaper(canvas: Canvas) -> None:
    """Stripes with a small motif."""
    grain(canvas, 0.66, 0.04)
    for number, left in enumerate(np.arange(0.0, canvas.width, 0.25)):
        if number % 2:
            canvas.matter[canvas.box(left, 0, left + 0.25, canvas.height)] *= 0.82
            for y in np.arange(0.25, canvas.height, 0.5):
                canvas.disc(left + 0.125, y, 0.05, 0.38)
    canvas.fill(0, 0, canvas.width, 0.12, 0.25)


def timber(canvas: Canvas) -> None:
    """Dark wood: the jambs of doorways."""
    grain(canvas, 0.3, 0.12)


BACKGROUNDS: dict[str, Callable[[Canvas], None]] = {
    "corridor": plaster,
    "gallery": brick,
    "passage": concrete,
    "library": panelling,
    "laboratory": tiles,
    "office": wallpaper,
    "doorway": timber,
    "bookcase": timber,
    "cabinet": timber,
}


def soften_corners(canvas: Canvas) -> None:
    """Darken a surface towards its edges, which get little light."""
    rows, columns = (np.arange(size, dtype=np.float32) / canvas.resolution for size in canvas.matter.shape)
    edge_distance_y = np.minimum(rows, canvas.height - rows)
    edge_distance_x = np.minimum(columns, canvas.width - columns)
    dark_y = 1.0 - 0.35 * np.exp(-np.maximum(edge_distance_y, 0.0) / 0.2)
    dark_x = 1.0 - 0.35 * np.exp(-np.maximum(edge_distance_x, 0.0) / 0.2)
    canvas.shade((dark_y[:, None] * dark_x[None, :]).astype(np.float32))
