"""A robot with a camera: the simulated building (the paper's Section 6.3) and the COLD database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kmcf.datasets import cold
from kmcf.kernels import Pose, SpatialPyramid
from kmcf.transitions import OdometryMotion
from kmcf_lab.localize.building import FRAME_INTERVAL, PAPER_STEPS, Building, localization_task, simulated_building
from kmcf_lab.localize.problem import Data, LocalizationFold, Measure, Problem, Settings
from kmcf_lab.localize.splits import leave_one_out

PAPER_SIZES = (100, 200, 300, 400)
BUILDING_SETTINGS = Settings(
    transition=OdometryMotion(),
    learn_transition=False,  # all four parameters 0.1, as in the paper
    observation_kernel=SpatialPyramid(),
    state_kernel=Pose(),
    split={"sizes": PAPER_SIZES, "steps": PAPER_STEPS},
)
COLD_SETTINGS = Settings(
    transition=OdometryMotion(),
    learn_transition=False,
    observation_kernel=SpatialPyramid(),
    state_kernel=Pose(),
    kmcf={"tolerance": "auto"},
)
SMALL_DICTIONARY = SpatialPyramid(words=50, n_descriptors=4000)
VISION_METHODS = ("kmcf", "kmcf-low50", "kmcf-low100", "kmcf-sub150", "kmcf-sub300", "knn-pf", "kbr", "nai")


def load_building(path: Path | None, *, laps: int = 3, interval: float = FRAME_INTERVAL) -> Data:
    """Drive through the simulated building."""
    if path is not None:
        raise ValueError(f"the building is simulated and needs no path, but {path} was given.")
    building = Building()
    return Data(simulated_building(laps, frame_interval=interval, building=building), walls=building.walls)


def papers_protocol(
    data: Data, repetition: int = 0, *, sizes: Sequence[int], steps: Sequence[int]
) -> list[LocalizationFold]:
    """Draw examples from all laps but the last and test on that one, for several numbers of examples and intervals.

    Parameters
    ----------
    data : Data
        The laps.
    repetition : int
        Which draw of the examples.
    sizes : sequence of int
        Numbers of examples.
    steps : sequence of int
        Frames per step.
    """
    interval = float(data.recordings[0].time[1] - data.recordings[0].time[0])
    folds = []
    for step in steps:
        for size in sizes:
            task = localization_task(list(data.recordings), size, step, random_state=(repetition, size))
            group = f"{step * interval:.2f} s"
            name = f"n = {size}, {group}"
            folds.append(LocalizationFold(name, task.training, task.states, task.observations, task.test, group=group))
    return folds


def load_cold(path: Path) -> Data:
    """Load the sequences of a folder: every folder in it that has images, sorted by name."""
    if not path.is_dir():
        raise FileNotFoundError(f"there is no folder {path}.")
    folders = sorted(folder for folder in path.iterdir() if (folder / "std_cam").is_dir())
    if len(folders) < 2:
        raise ValueError(f"{path} holds {len(folders)} sequences (folders with std_cam in them); two are needed.")
    return Data([cold(folder) for folder in folders])


BUILDING = Problem(
    name="building",
    title="Vision-based localization in a simulated building (Section 6.3)",
    about=(
        "A robot drives laps through a simulated building whose long corridors and offices have twins. Images of "
        "two laps are examples; the third lap is the test, from an unknown start."
    ),
    load=load_building,
    split=papers_protocol,
    settings=BUILDING_SETTINGS,
    quick=replace(
        BUILDING_SETTINGS,
        observation_kernel=SMALL_DICTIONARY,
        load={"interval": 3 * FRAME_INTERVAL},
        split={"sizes": (80, 160), "steps": (4,)},
    ),
    measure=Measure("rmse", estimate="mode"),
    methods=VISION_METHODS,
)
COLD = Problem(
    name="cold",
    title="Vision-based localization on the COLD database",
    about="A robot drives the same route several times. Each sequence is followed with examples from the others.",
    load=load_cold,
    split=leave_one_out,
    settings=COLD_SETTINGS,
    quick=replace(
        COLD_SETTINGS, observation_kernel=SMALL_DICTIONARY, split={"every": 4, "longest": 60, "most_folds": 1}
    ),
    measure=Measure("rmse", estimate="mode"),
    methods=VISION_METHODS,
    needs="a folder with two or more COLD sequences, each with std_cam and odom_scans",
)
