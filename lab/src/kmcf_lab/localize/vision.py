"""A robot with a camera: the simulated building (the paper's Section 6.3) and the COLD database."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kmcf.datasets import cold
from kmcf.datasets.cold import ODOMETRY
from kmcf.kernels import SpatialPyramid
from kmcf.transitions import OdometryMotion
from kmcf_lab.localize.building import FRAME_INTERVAL, Building, simulated_building
from kmcf_lab.localize.paper_kernels import OdometryDifference, PaperPose
from kmcf_lab.localize.paper_protocol import paper_folds, with_unique_names
from kmcf_lab.localize.problem import Data, Measure, Problem, Settings
from kmcf_lab.localize.remembered import Remembered

PRINTED = {"engine": "exact", "reject": False, "relocate": False, "resample_threshold": 0.0}
"""Algorithm 3 with Algorithm 1 to rounding: it resamples at every step, rejects nothing and never looks elsewhere."""
VISION_SETTINGS = Settings(
    transition=OdometryMotion(),
    learn_transition=False,  # all four parameters 0.1, as in the paper
    observation_kernel=Remembered(SpatialPyramid()),
    state_kernel=PaperPose(),  # R⁴ with one bandwidth, as in the paper; Pose() has two
    kmcf=PRINTED,
    kernel_bayes={"control_kernel": OdometryDifference(), "engine": "exact", "reject": False},
)
SMALL_DICTIONARY = Remembered(SpatialPyramid(words=50, n_descriptors=4000))
TRIALS, DRAWS = 12, 20
"""Settings tried for a method with three parameters, and draws of the examples; the paper has 20."""
VISION_METHODS = (
    "kmcf", "kmcf-low50", "kmcf-low100", "kmcf-sub150", "kmcf-sub300", "knn-pf", "kbr", "nai", "ours", "ours-low50",
    "ours-low100",
)  # fmt: skip


def load_building(path: Path | None, *, laps: int = 3, interval: float = FRAME_INTERVAL) -> Data:
    """Drive through the simulated building."""
    if path is not None:
        raise ValueError(f"the building is simulated and needs no path, but {path} was given.")
    building = Building()
    return Data(simulated_building(laps, frame_interval=interval, building=building), walls=building.walls)


def load_cold(path: Path) -> Data:
    """Load the sequences of a folder: every folder in it that has images, sorted by name."""
    if not path.is_dir():
        raise FileNotFoundError(f"there is no folder {path}.")
    folders = sorted(folder for folder in path.iterdir() if (folder / "std_cam").is_dir())
    if len(folders) < 3:
        raise ValueError(
            f"{path} holds {len(folders)} sequences (folders with std_cam in them); three are needed, to train, to "
            "validate and to test."
        )
    drives = [cold(folder) for folder in folders[:3]]
    for folder, drive in zip(folders, drives, strict=False):
        if drive.controls is None:
            raise ValueError(f"{folder} has no {ODOMETRY}; the filters need the robot's odometry as control.")
    return Data(with_unique_names(drives))


BUILDING = Problem(
    name="building",
    title="Vision-based localization in a simulated building (Section 6.3)",
    about=(
        "A robot drives laps through a simulated building whose long corridors and offices have twins. Images of the "
        "first lap are examples, the second is for tuning, the third is the test, from an unknown start."
    ),
    load=load_building,
    split=paper_folds,
    settings=VISION_SETTINGS,
    quick=replace(
        VISION_SETTINGS,
        observation_kernel=SMALL_DICTIONARY,
        load={"interval": 3 * FRAME_INTERVAL},
        split={"sizes": (80, 160), "intervals": (6.81,)},
    ),
    measure=Measure("rmse", estimate="mode"),
    methods=VISION_METHODS,
    printed=True,
    trials=TRIALS,
    repetitions=DRAWS,
)
COLD = Problem(
    name="cold",
    title="Vision-based localization on the COLD database (Section 6.3)",
    about=(
        "A robot drives the same route three times. Images of the first sequence are examples, the second is for "
        "tuning, the third is the test, from an unknown start."
    ),
    load=load_cold,
    split=paper_folds,
    settings=VISION_SETTINGS,
    quick=replace(
        VISION_SETTINGS, observation_kernel=SMALL_DICTIONARY, split={"sizes": (20, 100), "intervals": (2.27,)}
    ),
    measure=Measure("rmse", estimate="mode"),
    methods=VISION_METHODS,
    printed=True,
    trials=TRIALS,
    repetitions=DRAWS,
    needs="a folder with three COLD sequences of one route, each with std_cam and odom_scans",
)
