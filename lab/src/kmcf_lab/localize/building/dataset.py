"""Laps of a robot with a camera through a simulated building."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmcf.datasets.recording import MOTION, Recording
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.poses import odometry_controls
from kmcf_lab.localize.building.building import Building
from kmcf_lab.localize.building.camera import Camera
from kmcf_lab.localize.building.drive import drive_lap
from kmcf_lab.localize.building.lighting import Lighting, lighting_named
from kmcf_lab.localize.building.odometry import measure_motions

FRAME_INTERVAL = 2.27 / 4
"""Seconds; every fourth, eighth and twelfth frame give the paper's three intervals."""


def simulated_building(
    laps: int = 3,
    lighting: str | Lighting | Sequence[str | Lighting] = "cloudy",
    speed: float = 0.4,
    frame_interval: float = FRAME_INTERVAL,
    odometry_noise: float | Sequence[float] = 0.01,
    lighting_variation: float = 0.1,
    camera: Camera | None = None,
    building: Building | None = None,
    random_state: int = 0,
) -> list[Recording]:
    """Drive a robot with a camera through a building and return one recording per lap.

    The data stand in for the COLD database in the paper's Section 6.3: images, poses and odometry of several laps along
    the same route, about 380 s and 670 images each. States are (x, y, heading); observations are grey images of bytes;
    controls are the odometry since the frame before, (turn, distance, turn), with ``controls[0]`` = 0.

    Parameters
    ----------
    laps : int
        Number of laps.
    lighting : str, Lighting, or one of these for each lap
        "cloudy" (as in the paper), "sunny" or "night".
    speed : float
        Metres per second, approximately; slower in curves.
    frame_interval : float
        Seconds between images.
    odometry_noise : float or four floats
        The four parameters of Table 5.6 of Probabilistic Robotics, per frame; 0: exact odometry.
    lighting_variation : float
        Standard deviation of the logarithm of the lamps' and the sky's strength from lap to lap.
    camera : Camera, optional
        Size of the images, field of view, noise.
    building : Building, optional
        The building; by default an office building with look-alike corridors.
    random_state : int
        The same seed gives the same laps to the last bit, and lap k does not depend on how many follow.

    Returns
    -------
    list of Recording

    Examples
    --------
    >>> laps = simulated_building(laps=1, frame_interval=20.0)
    >>> laps[0].states.shape[1], laps[0].observations.shape[1:], laps[0].controls.shape[1]
    (3, (120, 160), 3)
    """
    _check(laps, speed, frame_interval, lighting_variation)
    noise = _noise_parameters(odometry_noise)
    lightings = _lighting_of_laps(lighting, laps)
    place = building or Building()
    recordings = []
    for number in range(laps):
        rng = np.random.default_rng([random_state, number])
        time, poses = drive_lap(place.plan, place.route, speed, frame_interval, rng)
        controls = measure_motions(odometry_controls(poses), noise, rng)
        light = _varied(lightings[number], lighting_variation, rng)
        images = place.photograph(poses, camera, light, rng)
        units = {"time": "s", "states": "m, m, rad", "observations": "grey level", "controls": "rad, m, rad"}
        names: dict[str, tuple[str, ...]] = {"states": ("x", "y", "heading"), "controls": MOTION}
        lap = Recording(f"lap {number + 1}", time, poses, images, controls, units, names, angles=(2,))
        recordings.append(lap)
    return recordings


def _check(laps: int, speed: float, frame_interval: float, lighting_variation: float) -> None:
    if not isinstance(laps, int | np.integer) or isinstance(laps, bool) or laps < 1:
        raise ValueError(f"laps = {laps!r}; it must be an integer >= 1.")
    for name, value in {"speed": speed, "frame_interval": frame_interval}.items():
        if not 0 < value < np.inf:
            raise ValueError(f"{name} = {value!r}; it must be a positive number.")
    if not 0 <= lighting_variation < np.inf:
        raise ValueError(f"lighting_variation = {lighting_variation!r}; it must be a number >= 0.")


def _noise_parameters(odometry_noise: Any) -> FloatArray:
    noise = np.asarray(odometry_noise, dtype=np.float64)
    if noise.shape not in ((), (4,)) or not np.isfinite(noise).all() or (noise < 0).any():
        raise ValueError(f"odometry_noise = {odometry_noise!r}; it must be one number >= 0, or four.")
    return np.broadcast_to(noise, (4,))


def _lighting_of_laps(lighting: Any, laps: int) -> list[Lighting]:
    if isinstance(lighting, str | Lighting):
        return [lighting_named(lighting)] * laps
    if len(lighting) != laps:
        raise ValueError(f"lighting has {len(lighting)} entries for {laps} laps; pass one, or one for each lap.")
    return [lighting_named(name) for name in lighting]


def _varied(lighting: Lighting, variation: float, rng: np.random.Generator) -> Lighting:
    lamps, sky = np.exp(variation * rng.standard_normal(2))
    return Lighting(lighting.lamps * float(lamps), lighting.sky * float(sky), lighting.sun * float(sky))
