"""Small robots among barcoded posts: MRCLAM."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from kmcf.datasets import mrclam, mrclam_landmarks, recent_landmarks
from kmcf.kernels import LandmarkSet, Pose
from kmcf.transitions import OdometryMotion
from kmcf_lab.localize.problem import Data, Measure, Problem, Settings
from kmcf_lab.localize.splits import MOST_QUICK_STEPS, leave_one_out

MRCLAM_SETTINGS = Settings(
    transition=OdometryMotion(),
    inflation=1.5,
    observation_kernel=LandmarkSet(absent=0.8, multiplier=0.5),
    state_kernel=Pose(multiplier=0.15),
    # Posts seen in the last 10 s, carried along by odometry, make one observation, which is used once: every 10 s.
    load={"step": 1.0, "window": 10.0},
    split={"every": 4, "used_every": 10},
    # Odometry is good to a centimetre but examples lie decimetres apart: a posterior on particles keeps the precision.
    kmcf={"support": "particles", "rank": (None, 300), "n_particles": 500, "background": 0.2},
    alternatives={
        f"posts of {seconds} s": {"load": {"window": float(seconds)}, "split": {"used_every": seconds}}
        for seconds in (5, 20)
    },
)


def load_robots(path: Path, *, step: float, window: float) -> Data:
    """Load the robots of a folder; a post counts as seen for ``window`` seconds."""
    robots = [recent_landmarks(robot, window) for robot in mrclam(path, step=step)]
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
