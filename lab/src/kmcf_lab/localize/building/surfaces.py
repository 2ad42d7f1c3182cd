"""Walls, floors and ceilings of a plan, painted and furnished according to their styles."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from kmcf.numerics.arrays import IntArray
from kmcf_lab.localize.building.fixtures import FIXTURES, books, cupboard
from kmcf_lab.localize.building.lighting import Lighting
from kmcf_lab.localize.building.painting import BACKGROUNDS, Canvas, Shades, grain, soften_corners
from kmcf_lab.localize.building.plan import FloorPlan, Space, Wall
from kmcf_lab.localize.building.textures import Atlas, make_atlas

WALL_HEIGHT = 3.0
FLOOR_PIXELS_PER_METRE = 32
_LAMP_SPACING = 2.75
_CLEAR_OF_CORNERS = 0.35

FURNITURE: dict[str, tuple[str, ...]] = {
    "corridor": ("door", "poster", "door", "notice board", "door", "extinguisher", "poster", "door", "sign"),
    "gallery": ("window", "poster", "radiator", "window", "pipes"),
    "passage": ("notice board", "pipes", "door", "poster", "extinguisher", "clock"),
    "library": ("shelf", "shelf", "window", "shelf", "clock"),
    "laboratory": ("blackboard", "cupboard", "window", "pipes", "poster", "radiator"),
    "office": ("window", "poster", "cupboard", "notice board", "clock"),
}
"""What hangs on the walls of each style, in turn."""


@dataclass(frozen=True)
class Surfaces:
    """Everything that can be seen, each in two layers: what reflects light, and what shines."""

    wall_matter: Atlas
    wall_light: Shades
    floor_matter: Atlas
    floor_light: Shades
    ceiling_matter: Atlas
    ceiling_light: Shades
    texture_of_wall: IntArray
    origin: tuple[float, float]
    """Lower left corner of floor and ceiling textures."""

    def lit(self, lighting: Lighting) -> tuple[Atlas, Atlas, Atlas]:
        """Return walls, floor and ceiling as they look in this light."""
        return (
            _lit(self.wall_matter, lighting.ambient, self.wall_light, lighting.sky),
            _lit(self.floor_matter, lighting.ambient, self.floor_light, lighting.sun),
            _lit(self.ceiling_matter, lighting.ambient, self.ceiling_light, 2.0 * lighting.lamps),
        )


def furnish(plan: FloorPlan, seed: int = 0) -> Surfaces:
    """Paint and furnish a building; ``seed`` chooses one of countless ways."""
    painted: dict[tuple[str, int], int] = {}
    canvases: list[Canvas] = []
    for wall in plan.walls:
        key = _look(wall.space), wall.index
        if key not in painted:
            painted[key] = len(canvases)
            canvases.append(_paint_wall(wall, _generator(seed, *key), is_outer=_is_outer(wall, plan)))
    numbers = np.array([painted[_look(wall.space), wall.index] for wall in plan.walls], dtype=np.intp)
    walls, wall_light = _atlases(canvases)
    origin = np.floor(plan.bounds[0]) - 1.0, np.floor(plan.bounds[1]) - 1.0
    size = np.ceil(plan.bounds[2]) + 1.0 - origin[0], np.ceil(plan.bounds[3]) + 1.0 - origin[1]
    floor = Canvas(*size, rng=_generator(seed, "floor", 0), resolution=FLOOR_PIXELS_PER_METRE)
    ceiling = Canvas(*size, rng=_generator(seed, "ceiling", 0), resolution=FLOOR_PIXELS_PER_METRE)
    for space in plan.spaces:
        _lay(floor, origin, space, _paint_floor(space, _generator(seed, _look(space), -1)))
        _lay(ceiling, origin, space, _paint_ceiling(space, _generator(seed, _look(space), -2)))
    for wall, number in zip(plan.walls, numbers, strict=True):
        _shine_in(floor, origin, wall, canvases[number])
    return Surfaces(walls, wall_light, *_atlases([floor]), *_atlases([ceiling]), numbers, origin)


def _look(space: Space) -> str:
    return space.look or space.name


def _generator(seed: int, look: str, number: int) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(look.encode()), number + 2])


def _atlases(canvases: list[Canvas]) -> tuple[Atlas, Shades]:
    resolution = float(canvases[0].resolution)
    matter = make_atlas([canvas.matter for canvas in canvases], resolution)
    return matter, make_atlas([canvas.light for canvas in canvases], resolution).values


def _lit(matter: Atlas, ambient: float, light: Shades, strength: float) -> Atlas:
    values = np.float32(ambient) * matter.values + np.float32(strength) * light
    return Atlas(values, matter.offsets, matter.heights, matter.widths, matter.resolution)


def _is_outer(wall: Wall, plan: FloorPlan) -> bool:
    """Return whether nothing of the building lies behind the middle of a wall."""
    start, end = np.array(wall.start), np.array(wall.end)
    outwards = np.array([start[1] - end[1], end[0] - start[0]]) / wall.length
    reach = np.arange(0.05, np.hypot(plan.bounds[2] - plan.bounds[0], plan.bounds[3] - plan.bounds[1]), 0.1)
    return not plan.is_free((start + end) / 2 + reach[:, None] * outwards).any()


def _paint_wall(wall: Wall, rng: np.random.Generator, *, is_outer: bool) -> Canvas:
    style = wall.space.style
    if style not in BACKGROUNDS:
        raise ValueError(
            f"space {wall.space.name!r} has the unknown style {style!r}; styles are {', '.join(BACKGROUNDS)}."
        )
    canvas = Canvas(wall.length, WALL_HEIGHT, rng)
    BACKGROUNDS[style](canvas)
    if style == "bookcase":
        books(canvas, 0.0, wall.length)
    elif style == "cabinet":
        for left in np.arange(0.0, wall.length, 1.2):
            cupboard(canvas, float(left))
    else:
        names = FURNITURE.get(style, ())
        _hang(canvas, names if is_outer else tuple(name for name in names if name != "window"))
    soften_corners(canvas)
    return canvas


def _hang(canvas: Canvas, names: tuple[str, ...]) -> None:
    """Put fixtures on a wall from left to right, starting anywhere in the list."""
    if not names:
        return
    turn = int(canvas.rng.integers(len(names)))
    place = _CLEAR_OF_CORNERS + canvas.rng.uniform(0.0, 0.4)
    skipped = 0
    while skipped < len(names):
        fixture = FIXTURES[names[turn % len(names)]]
        turn += 1
        if place + fixture.width > canvas.width - _CLEAR_OF_CORNERS:
            skipped += 1
            continue
        fixture.paint(canvas, place)
        place += fixture.width + canvas.rng.uniform(0.25, 0.9)


def _paint_floor(space: Space, rng: np.random.Generator) -> Canvas:
    x_min, y_min, x_max, y_max = space.corners
    canvas = Canvas(x_max - x_min, y_max - y_min, rng, FLOOR_PIXELS_PER_METRE)
    grain(canvas, {"laboratory": 0.6, "library": 0.38, "gallery": 0.5}.get(space.style, 0.45), 0.12)
    side = {"corridor": 1.0, "gallery": 0.5, "laboratory": 0.4, "library": 0.25, "passage": 2.0}.get(space.style)
    if side is not None:
        for row, bottom in enumerate(np.arange(0.0, canvas.height, side)):
            for column, left in enumerate(np.arange(0.0, canvas.width, side)):
                chequered = 0.75 if (row + column) % 2 and space.style in ("gallery", "laboratory") else 1.0
                box = canvas.box(left, bottom, left + side, bottom + side)
                canvas.matter[box] *= chequered * rng.uniform(0.92, 1.08)
            canvas.fill(0, bottom, canvas.width, bottom + 0.03, 0.28)
        for left in np.arange(0.0, canvas.width, side):
            canvas.fill(left, 0, left + 0.03, canvas.height, 0.28)
    soften_corners(canvas)
    return canvas


def _paint_ceiling(space: Space, rng: np.random.Generator) -> Canvas:
    x_min, y_min, x_max, y_max = space.corners
    canvas = Canvas(x_max - x_min, y_max - y_min, rng, FLOOR_PIXELS_PER_METRE)
    grain(canvas, 0.75, 0.05)
    for place in np.arange(0.0, max(canvas.width, canvas.height), 0.6):
        canvas.fill(place, 0, place + 0.04, canvas.height, 0.5)
        canvas.fill(0, place, canvas.width, place + 0.04, 0.5)
    columns, rows = (max(1, round(extent / _LAMP_SPACING)) for extent in (canvas.width, canvas.height))
    for x in (np.arange(columns) + 0.5) * canvas.width / columns:
        for y in (np.arange(rows) + 0.5) * canvas.height / rows:
            canvas.light[canvas.box(x - 0.6, y - 0.15, x + 0.6, y + 0.15)] = 1.0
    return canvas


def _lay(surface: Canvas, origin: tuple[float, float], space: Space, piece: Canvas) -> None:
    """Put the floor (or ceiling) of one space in its place, turned if its look is turned."""
    x_min, y_min, x_max, y_max = space.corners
    target = surface.box(x_min - origin[0], y_min - origin[1], x_max - origin[0], y_max - origin[1])
    for whole, part in ((surface.matter, piece.matter), (surface.light, piece.light)):
        laid = part[::-1, ::-1] if space.turned else part
        rows, columns = whole[target].shape
        whole[target] = np.pad(laid, ((0, 1), (0, 1)), mode="edge")[:rows, :columns]


def _shine_in(floor: Canvas, origin: tuple[float, float], wall: Wall, canvas: Canvas) -> None:
    """Let the sun shine through the windows of a wall onto the floor in front of it, slanting to the right."""
    bright = canvas.light[round(1.5 * canvas.resolution)] > 0
    if not bright.any():
        return
    along = (np.array(wall.end) - np.array(wall.start)) / wall.length
    inwards = np.array([along[1], -along[0]])
    rows, columns = (np.arange(size) + 0.5 for size in floor.matter.shape)
    x = columns[None, :] / floor.resolution + origin[0] - wall.start[0]
    y = rows[:, None] / floor.resolution + origin[1] - wall.start[1]
    depth = x * inwards[0] + y * inwards[1]
    place = x * along[0] + y * along[1] - 0.5 * depth
    pixel = np.clip((place * canvas.resolution).astype(np.intp), 0, len(bright) - 1)
    reached = (depth > 0.5) & (depth < 2.0) & (place > 0) & (place < wall.length) & bright[pixel]
    floor.light[reached] = np.maximum(floor.light, floor.matter)[reached]
