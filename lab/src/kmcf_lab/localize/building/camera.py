"""A camera: one ray per image column hits a wall; the rows of the column see wall, floor and ceiling."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf_lab.localize.building.lighting import Lighting
from kmcf_lab.localize.building.painting import Shades
from kmcf_lab.localize.building.surfaces import WALL_HEIGHT, Surfaces
from kmcf_lab.localize.building.textures import Atlas

Images: TypeAlias = npt.NDArray[np.uint8]

_MIST = 0.02  # per metre: distant surfaces are darker
_NEAREST = 0.02  # m
_TYPICAL = 0.4  # mean brightness at which automatic exposure changes nothing
_GAMMA = 0.7
_GAP = 1e-9  # m; walls reach this far beyond their ends, so that no ray slips through a corner


class Hits(NamedTuple):
    """What the rays of an image hit, one entry per column."""

    wall: IntArray
    depth: FloatArray
    """Distance in metres along the optical axis (along the ray, images would look as if taken with a fisheye)."""
    place: FloatArray
    """Metres from the start of the wall."""


@dataclass(frozen=True)
class Camera:
    """A grey-scale pinhole camera that looks along the robot's heading.

    Parameters
    ----------
    width, height : int
        Pixels.
    field_of_view : float
        Horizontal, in degrees.
    elevation : float
        Height of the lens above the floor in metres.
    noise : float
        Standard deviation of the noise at full brightness, in grey levels; half of it remains in the dark.
    vignetting : float
        Share of the light that is lost in the corners of the image.
    automatic_exposure : float
        0: always the same exposure; 1: every image equally bright.
    unsteadiness : float
        Standard deviation of the logarithm of the exposure from image to image.

    Examples
    --------
    >>> Camera(width=4, field_of_view=90.0).focal_length
    2.0
    """

    width: int = 160
    height: int = 120
    field_of_view: float = 68.9
    elevation: float = 1.0
    noise: float = 4.0
    vignetting: float = 0.25
    automatic_exposure: float = 0.7
    unsteadiness: float = 0.03

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            if not isinstance(getattr(self, name), int | np.integer) or getattr(self, name) < 1:
                raise ValueError(f"the camera has {name} = {getattr(self, name)!r}; it must be an integer >= 1.")
        limits = {
            "field_of_view": (0.0, 180.0),
            "elevation": (0.0, WALL_HEIGHT),
        }
        for name, (low, high) in limits.items():
            if not low < getattr(self, name) < high:
                raise ValueError(
                    f"the camera has {name} = {getattr(self, name)!r}; it must be between {low:g} and {high:g}."
                )
        for name, high in {"noise": 255.0, "vignetting": 1.0, "automatic_exposure": 1.0, "unsteadiness": 10.0}.items():
            if not 0 <= getattr(self, name) <= high:
                raise ValueError(f"the camera has {name} = {getattr(self, name)!r}; it must be from 0 to {high:g}.")

    @property
    def focal_length(self) -> float:
        """In pixels."""
        return float(round(self.width / 2.0 / np.tan(np.deg2rad(self.field_of_view) / 2.0), 9))

    @cached_property
    def _sideways(self) -> FloatArray:
        """Tangent of each column's angle to the right."""
        return np.asarray((np.arange(self.width) + 0.5 - self.width / 2.0) / self.focal_length)

    @cached_property
    def _downwards(self) -> FloatArray:
        """Tangent of each row's angle downwards."""
        return np.asarray((np.arange(self.height) + 0.5 - self.height / 2.0) / self.focal_length)

    def cast(self, pose: Any, segments: FloatArray) -> Hits:
        """Return what each column of an image sees of walls (n, 2, 2) from a pose (x, y, heading)."""
        rays = self._rays(pose)
        starts = segments[:, 0] - np.asarray(pose)[:2]
        along = segments[:, 1] - segments[:, 0]
        lengths = np.hypot(along[:, 0], along[:, 1])
        along = along / lengths[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            slant = rays[:, :1] * along[:, 1] - rays[:, 1:] * along[:, 0]
            depth = (starts[:, 0] * along[:, 1] - starts[:, 1] * along[:, 0]) / slant
            place = (starts[:, 0] * rays[:, 1:] - starts[:, 1] * rays[:, :1]) / slant
            met = (depth > 0) & (place >= -_GAP) & (place <= lengths + _GAP)
        depth = np.where(met, depth, np.inf)
        wall = depth.argmin(axis=1)
        columns = np.arange(self.width)
        return Hits(wall, np.maximum(depth[columns, wall], _NEAREST), place[columns, wall])

    def _rays(self, pose: Any) -> FloatArray:
        """Return the directions of the columns, scaled to one metre along the optical axis."""
        cosine, sine = np.cos(pose[2]), np.sin(pose[2])
        side = self._sideways
        return np.stack([cosine + side * sine, sine - side * cosine], axis=1)

    def render(
        self, poses: Any, segments: FloatArray, surfaces: Surfaces, lighting: Lighting, rng: np.random.Generator
    ) -> Images:
        """Take one image (height, width) at each pose (n, 3)."""
        atlases = surfaces.lit(lighting)
        images = np.empty((len(poses), self.height, self.width), dtype=np.uint8)
        for number, pose in enumerate(poses):
            images[number] = self._develop(self._radiance(pose, segments, surfaces, atlases), rng)
        return images

    def _radiance(
        self, pose: Any, segments: FloatArray, surfaces: Surfaces, atlases: tuple[Atlas, Atlas, Atlas]
    ) -> Shades:
        """Return the light that reaches each pixel."""
        walls, floor, ceiling = atlases
        hits = self.cast(pose, segments)
        down = self._downwards[:, None]
        height = (self.elevation - down * hits.depth).astype(np.float32)
        level = walls.levels(hits.depth / self.focal_length)
        texture = surfaces.texture_of_wall[hits.wall]
        image = walls.look_up(texture, level, hits.place.astype(np.float32), height)
        image *= (1.0 / (1.0 + _MIST * hits.depth)).astype(np.float32)
        for seen, atlas, rise in (
            (height < 0, floor, self.elevation),
            (height > WALL_HEIGHT, ceiling, self.elevation - WALL_HEIGHT),
        ):
            rows, columns = np.nonzero(seen)
            image[rows, columns] = self._flat(pose, atlas, surfaces.origin, rise, rows, columns)
        return image

    def _flat(
        self, pose: Any, atlas: Atlas, origin: tuple[float, float], rise: float, rows: IntArray, columns: IntArray
    ) -> Shades:
        """Return the light of pixels that see the floor or the ceiling, ``rise`` metres below the lens."""
        depth = rise / self._downwards[rows]
        # A pixel covers more of a flat surface in depth than across; the level is a compromise between the two.
        level = atlas.levels(depth / self.focal_length * np.sqrt(np.maximum(depth / abs(rise), 1.0)))
        rays = self._rays(pose)
        x = (pose[0] - origin[0] + depth * rays[columns, 0]).astype(np.float32)
        y = (pose[1] - origin[1] + depth * rays[columns, 1]).astype(np.float32)
        light = atlas.look_up(np.zeros(1, dtype=np.intp), level, x, y)
        return np.asarray(light / (1.0 + _MIST * depth), dtype=np.float32)

    @cached_property
    def _lens(self) -> Shades:
        """Share of the light that the lens lets through at each pixel."""
        off_axis = self._sideways[None, :] ** 2 + self._downwards[:, None] ** 2
        return np.asarray(1.0 - self.vignetting * off_axis / off_axis.max(), dtype=np.float32)

    def _develop(self, radiance: Shades, rng: np.random.Generator) -> Images:
        """Expose, add noise, and round to bytes."""
        seen = radiance * self._lens
        exposure = (_TYPICAL / max(float(seen.mean()), 1e-3)) ** self.automatic_exposure
        exposure *= float(np.exp(self.unsteadiness * rng.standard_normal()))
        bright = np.minimum(seen * np.float32(exposure), 1.0)
        grey = np.float32(255.0) * np.maximum(bright, 0.0) ** np.float32(_GAMMA)
        spread = np.float32(self.noise) * np.float32(0.5) * (1.0 + bright)
        grey += spread * rng.standard_normal(grey.shape, dtype=np.float32)
        return np.clip(np.rint(grey), 0, 255).astype(np.uint8)
