"""Textures at several resolutions in one flat array, so that all pixels of an image can be looked up at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kmcf.numerics.arrays import IntArray
from kmcf_lab.localize.building.painting import Shades

LEVELS = 5
"""Each level has half the resolution of the one before, so that distant surfaces do not flicker."""


@dataclass(frozen=True)
class Atlas:
    """Textures with all their levels of resolution.

    Attributes
    ----------
    values : array (pixels,)
        All textures, all levels, row by row.
    offsets, heights, widths : array (textures, LEVELS)
        Where each begins in ``values``, and its shape.
    resolution : float
        Pixels per metre of level 0.
    """

    values: Shades
    offsets: IntArray
    heights: IntArray
    widths: IntArray
    resolution: float

    @cached_property
    def _resolutions(self) -> Shades:
        return (self.resolution / 2.0 ** np.arange(LEVELS)).astype(np.float32)

    def levels(self, metres_per_pixel: Any) -> IntArray:
        """Return the level whose pixels are about as large as the image's pixels on the surface."""
        wanted = np.log2(np.maximum(self.resolution * np.asarray(metres_per_pixel), 1e-9))
        return np.clip(np.rint(wanted), 0, LEVELS - 1).astype(np.intp)

    def look_up(self, texture: IntArray, level: IntArray, x: Shades, y: Shades) -> Shades:
        """Interpolate textures at places (x, y) in metres from their lower left corners; all arguments broadcast."""
        scale = self._resolutions[level]
        width, height, offset = self.widths[texture, level], self.heights[texture, level], self.offsets[texture, level]
        column, right, across = _neighbours(x * scale, width)
        row, above, up = _neighbours(y * scale, height)
        low, high = offset + row * width, offset + above * width
        values = self.values
        lower = values[low + column] * (1 - across) + values[low + right] * across
        upper = values[high + column] * (1 - across) + values[high + right] * across
        return np.asarray(lower * (1 - up) + upper * up, dtype=np.float32)


def make_atlas(textures: Sequence[Shades], resolution: float) -> Atlas:
    """Collect textures and their coarser versions.

    Examples
    --------
    >>> atlas = make_atlas([np.array([[0.0, 1.0], [0.0, 1.0]], dtype=np.float32)], resolution=1.0)
    >>> zero = np.zeros(1, dtype=int)
    >>> [float(atlas.look_up(zero, zero + level, x=np.float32([1.5]), y=np.float32([0.5]))[0]) for level in (0, 1)]
    [1.0, 0.5]
    """
    pieces, shapes = [], []
    for texture in textures:
        for level in range(LEVELS):
            if level > 0:
                texture = _halve(texture)
            pieces.append(texture.ravel())
            shapes.append(texture.shape)
    heights, widths = np.array(shapes, dtype=np.intp).reshape(len(textures), LEVELS, 2).transpose(2, 0, 1)
    sizes = (heights * widths).ravel()
    offsets = (np.cumsum(sizes) - sizes).reshape(heights.shape)
    return Atlas(np.concatenate(pieces), offsets, heights, widths, resolution)


def _halve(texture: Shades) -> Shades:
    rows, columns = texture.shape
    even = np.pad(texture, ((0, rows % 2), (0, columns % 2)), mode="edge")
    return np.asarray(even.reshape(-(-rows // 2), 2, -(-columns // 2), 2).mean(axis=(1, 3)), dtype=np.float32)


def _neighbours(place: Shades, size: IntArray) -> tuple[IntArray, IntArray, Shades]:
    """Return the two pixels around a place measured in pixels, and the share of the second."""
    centred = place - np.float32(0.5)
    first = np.floor(centred).astype(np.int32)
    share = centred - first
    return np.clip(first, 0, size - 1), np.clip(first + 1, 0, size - 1), share.astype(np.float32)
