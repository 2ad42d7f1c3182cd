"""Small robots among barcoded posts: MRCLAM."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from kmcf.datasets import mrclam, mrclam_landmarks, recent_landmarks
from kmcf.experiments.localize.problem import Data, Measure, Problem, Settings
from kmcf.experiments.localize.splits import MOST_QUICK_STEPS, leave_one_out
from kmcf.kernels import LandmarkSet, Pose
from kmcf.transitions import OdometryMotion

SETTINGS = Settings(
    transition=OdometryMotion(),
    observation_kernel=LandmarkSet(),
    state_kernel=Pose(multiplier=1.0),
    # Posts seen in the last 20 s, carried along by odometry: twice as many in view, and fewer steps without any.
    load={"step": 1.0, "window": 20.0},
    kmcf={"tolerance": "auto"},
)


def load(path: Path, *, step: float, window: float) -> Data:
    """Load the robots of a folder; posts seen within ``window`` seconds count as seen."""
    robots = [recent_landmarks(robot, window) for robot in mrclam(path, step=step)]
    return Data(robots, marks={"posts": np.array(list(mrclam_landmarks(path).values()))})


MRCLAM = Problem(
    name="mrclam",
    title="Robots among landmarks (MRCLAM)",
    about=(
        "Five small robots drive among fifteen posts with barcodes. They measure distance and direction of posts in "
        "view, often of none. Each robot is localized with examples from the four others, from an unknown start."
    ),
    load=load,
    split=leave_one_out,
    settings=SETTINGS,
    quick=replace(SETTINGS, split={"every": 5, "most_folds": 2, "longest": MOST_QUICK_STEPS}),
    measure=Measure("mean", dropped_seconds=60.0),
    needs="the folder of one MRCLAM data set, with Barcodes.dat and Robot1_Groundtruth.dat, …",
)
