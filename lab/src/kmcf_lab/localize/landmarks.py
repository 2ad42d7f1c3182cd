"""Small robots among barcoded posts: MRCLAM."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from kmcf.datasets import mrclam, mrclam_landmarks, recent_landmarks
from kmcf.kernels import LandmarkSet, PlacedLandmarks, Pose
from kmcf.transitions import OdometryMotion
from kmcf_lab.localize.problem import Data, Measure, Problem, Settings
from kmcf_lab.localize.splits import MOST_QUICK_STEPS, leave_one_out

WINDOWED = {
    f"posts of {seconds} s": {"load": {"window": float(seconds)}, "split": {"used_every": seconds}}
    for seconds in (5, 10)
}
"""Posts seen in some seconds, carried along by odometry, make one observation, which is used once.

Methods that compare sets of posts with those of examples need this: one look alone shows too few."""
MRCLAM_SETTINGS = Settings(
    transition=OdometryMotion(),
    inflation=1.5,
    observation_kernel=LandmarkSet(absent=0.8, multiplier=0.5),
    state_kernel=Pose(multiplier=0.15),
    load={"step": 1.0, "window": 0.0, "command_delay": 0.2},
    split={"every": 4, "used_every": 1},
    # Odometry is good to a centimetre but examples lie decimetres apart: a posterior on particles keeps the precision,
    # and posts that examples place in the world can be looked for from where a particle is.
    kmcf={
        "support": "particles",
        "observation_kernel": PlacedLandmarks(absent=0.3),
        "state_kernel": Pose(multiplier=0.5),
        "delta": float("inf"),
        "n_particles": 1000,
        "background": 0.05,
    },
    alternatives=WINDOWED,
)


def load_robots(path: Path, *, step: float, window: float, command_delay: float = 0.0) -> Data:
    """Load the robots of a folder; a post counts as seen for ``window`` seconds."""
    robots = mrclam(path, step=step, command_delay=command_delay, aligned=True)
    robots = [recent_landmarks(robot, window) for robot in robots]
    return Data(robots, marks={"posts": np.array(list(mrclam_landmarks(path).values()))})


MRCLAM = Problem(
    name="mrclam",
    title="Robots among landmarks (MRCLAM)",
    about=(
        "Five small robots drive among fifteen posts with barcodes. They measure distance and direction of posts in "
        "view, often of none. Each robot is localized with examples from the four others, from an unknown start."
    ),
    load=load_robots,
    split=leave_one_out,
    settings=MRCLAM_SETTINGS,
    quick=replace(
        MRCLAM_SETTINGS, split={**MRCLAM_SETTINGS.split, "every": 5, "most_folds": 2, "longest": MOST_QUICK_STEPS}
    ),
    measure=Measure("mean", dropped_seconds=60.0),
    needs="the folder of one MRCLAM data set, with Barcodes.dat and Robot1_Groundtruth.dat, …",
)
