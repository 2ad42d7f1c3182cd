"""The simulated building by day, at night and in the sun, as a camera that changes: what is noticed and repaired.

Examples come from two laps under a cloudy sky; the laps to adapt to and to follow are photographed anew in another
light, along the same way. The camera is used in two ways: as words of images (:class:`~kmcf.kernels.SpatialPyramid`),
which ``kmcf.adapt`` cannot correct, and as grey levels of 6 × 8 patches: rows of numbers whose columns may have
changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import kmcf
from kmcf.filter import KernelMonteCarloFilter
from kmcf.kernels import Pose, SpatialPyramid
from kmcf.numerics.arrays import FloatArray
from kmcf.transitions import OdometryMotion
from kmcf_lab.bench.adaptation import RATE, WALKS, AdaptationCell, repairs
from kmcf_lab.localize.building import Building, Camera, simulated_building
from kmcf_lab.quiet import quiet

LIGHTS = ("cloudy", "night", "sunny")
WORDS, GREY = "building, words of images (m)", "building, grey levels (m)"
PATCHES = (6, 8)
INTERVAL = 2.27
"""Seconds between images, as in Section 6.3."""
NOISE = 0.1
"""All parameters of the odometry's motion."""


class Lap(NamedTuple):
    """What was seen on a lap, and what drove it."""

    states: FloatArray
    observations: Any
    controls: FloatArray


def measure_building(problem: str, light: str, seed: int, report: Callable[[str], None] = print) -> AdaptationCell:
    """Fit under a cloudy sky, adapt to a lap in another light, and measure the error on the lap after it.

    Parameters
    ----------
    problem : str
        WORDS or GREY.
    light : str
        "cloudy", "night" or "sunny".
    seed : int
        Of the laps.
    report : callable
        Takes a line about what is being done.
    """
    report(f"{problem}, {light}, data set {seed + 1}")
    read = (lambda images: images) if problem == WORDS else grey_levels
    with quiet(), threadpool_limits(limits=1):
        usual, now = (laps(seed, one, read) for one in ("cloudy", light))
        kernel = SpatialPyramid(words=50, n_descriptors=4000) if problem == WORDS else None
        flt = KernelMonteCarloFilter(
            OdometryMotion(*4 * (NOISE,)), state_kernel=Pose(), observation_kernel=kernel, angles=(2,), random_state=0,
            n_particles=300,
        )  # fmt: skip
        flt.fit(*(np.concatenate([getattr(lap, name) for lap in usual[:2]]) for name in ("states", "observations")))

        def error(fitted: Any, seen: Any) -> float:
            mode = np.asarray(fitted.filter(seen, now[3].controls).mode)
            return float(np.mean(np.linalg.norm(mode[:, :2] - now[3].states[:, :2], axis=1)))

        found = repairs(flt, now[2].observations, now[2].states, now[2].controls) if problem == GREY else None
        verdict = kmcf.sensor_changed(flt, now[2].observations, now[2].controls, rate=RATE, walks=WALKS)
        damaged = error(flt, now[3].observations)
        after = [damaged if one is None else error(one.filter, now[3].observations) for one in found or (None, None)]
        return AdaptationCell(
            problem, light, seed,
            clean=error(flt, usual[3].observations), damaged=damaged, unlabelled=after[0], labelled=after[1],
            adapted=bool(found and found[0].adapted), adapted_labelled=bool(found and found[1].adapted),
            noticed=float(verdict.changed), step=float("nan") if verdict.step is None else float(verdict.step),
        )  # fmt: skip


def laps(seed: int, light: str, read: Callable[[Any], Any]) -> list[Lap]:
    """Return four laps, the last two in some light; whatever that is, the robot goes the same way."""
    driven = simulated_building(
        laps=4, lighting=("cloudy", "cloudy", light, light), frame_interval=INTERVAL, building=Building(),
        camera=Camera(width=80, height=60), random_state=seed,
    )  # fmt: skip
    return [Lap(lap.states, read(lap.observations), np.asarray(lap.controls)) for lap in driven]


def grey_levels(images: Any) -> FloatArray:
    """Return the mean grey levels of patches, one row per image.

    Examples
    --------
    >>> grey_levels(np.full((3, 60, 80), 7, dtype=np.uint8)).shape
    (3, 48)
    """
    count, height, width = images.shape
    rows, columns = PATCHES
    patches = images.reshape(count, rows, height // rows, columns, width // columns)
    return np.asarray(patches.mean(axis=(2, 4)).reshape(count, -1))
