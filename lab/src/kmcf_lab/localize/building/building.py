"""A building to photograph: plan, route, paint and furniture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf_lab.localize.building.camera import Camera, Images
from kmcf_lab.localize.building.drive import smooth_route
from kmcf_lab.localize.building.lighting import Lighting, lighting_named
from kmcf_lab.localize.building.office import OFFICE_PLAN, OFFICE_ROUTE
from kmcf_lab.localize.building.plan import FloorPlan
from kmcf_lab.localize.building.surfaces import Surfaces, furnish


@dataclass(frozen=True)
class Building:
    """A furnished building with a route through it; by default an office building with look-alike corridors.

    Parameters
    ----------
    plan : FloorPlan
        Where the walls are.
    waypoints : sequence of (x, y)
        Corners of the closed route that the robot drives.
    seed : int
        Chooses the paint and the furniture.

    Examples
    --------
    >>> building = Building()
    >>> building.walls.shape[1:]
    (2, 2)
    >>> building.photograph([[5.0, 1.0, 0.0]]).shape
    (1, 120, 160)
    """

    plan: FloorPlan = OFFICE_PLAN
    waypoints: tuple[tuple[float, float], ...] = OFFICE_ROUTE
    seed: int = 0

    @property
    def walls(self) -> FloatArray:
        """The walls as line segments (walls, 2, 2): start and end, x and y in metres."""
        return self.plan.segments

    @cached_property
    def route(self) -> FloatArray:
        """The closed route as points (n, 2) about 2 cm apart."""
        return smooth_route(self.waypoints)

    @cached_property
    def surfaces(self) -> Surfaces:
        """Paint and furniture."""
        return furnish(self.plan, self.seed)

    def photograph(
        self,
        poses: Any,
        camera: Camera | None = None,
        lighting: str | Lighting = "cloudy",
        random_state: Any = 0,
    ) -> Images:
        """Take images (n, height, width), grey bytes, at poses (n, 3): x, y, heading.

        Parameters
        ----------
        poses : array (n, 3)
            Metres and radians; each in the free space.
        camera : Camera, optional
            The default is 160 × 120 pixels, 69° wide.
        lighting : str or Lighting
            "cloudy", "sunny" or "night".
        random_state : int or Generator
            Of the camera's noise.
        """
        places = np.asarray(poses, dtype=np.float64)
        if places.ndim != 2 or places.shape[1] != 3 or not np.isfinite(places).all():
            raise ValueError(f"poses must be finite numbers (n, 3): x, y, heading; got an array {places.shape}.")
        free = self.plan.is_free(places[:, :2])
        if not free.all():
            number = int(np.argmin(free))
            x, y = places[number, :2]
            raise ValueError(f"pose {number}, ({x:g}, {y:g}), is not in the free space of the building.")
        rng = np.random.default_rng(random_state)
        return (camera or Camera()).render(places, self.walls, self.surfaces, lighting_named(lighting), rng)

    def plot(self, ax: Any = None, *, route: bool = False, **style: Any) -> Any:
        """Draw the walls and, if wanted, the route (needs the extra ``kmcf[plot]``); return the axes."""
        ax = self.plan.plot(ax, **style)
        if route:
            closed = np.concatenate([self.route, self.route[:1]])
            ax.plot(closed[:, 0], closed[:, 1], color="#d9822b", linewidth=1.0, linestyle="--")
        return ax
