"""A rat on a track: where it is, from the spikes of its neurons."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kmcf.datasets import linear_track
from kmcf.kernels import Counts, Gaussian
from kmcf.support.search_space import LogNormal
from kmcf.transitions import GaussianRandomWalk, RecordedMoves
from kmcf_lab.localize.problem import Data, Measure, Problem, Settings
from kmcf_lab.localize.splits import MOST_QUICK_STEPS, earlier_and_later

SPIKES_SETTINGS = Settings(
    # All chosen inside the first 70 %: on its last 30 % and on its first, and on five blocks.
    # A rat runs in one direction for seconds, and its neurons know which; the state says so by its velocity, and moves
    # as recorded ones did. Nothing else is different in "kmcf-defaults".
    transition=RecordedMoves(),
    # Of 0.12 to 0.5 median distances and ε from 1e-3 to 3e-2, those with the smallest mean error.
    state_kernel=Gaussian(multiplier=0.25),
    load={"bin": 0.25, "least_speed": 20.0},
    split={"share": 0.7, "velocities": True},
    kmcf={"observation_kernel": Counts(), "epsilon": 1e-3, "tolerance": "auto"},
)

WALK_SETTINGS = Settings(
    # Chosen inside the first 70 %, on its last 30 % and on its first with the rest as examples, when ε was 1e-3 for all
    # data; the defaults for counts ("kmcf-defaults") do better on both of these.
    # Place fields are narrow: the default width, half the median distance, would blur them.
    state_kernel=Gaussian(multiplier=0.2),
    # Learnt from successive running bins.
    transition=GaussianRandomWalk(),
    # A rat turns and stops, and moves on between the runs that were cut out.
    inflation=1.5,
    load={"bin": 0.25, "least_speed": 20.0},
    split={"share": 0.7},
    kmcf={
        "observation_kernel": Counts(),
        "rule": "importance",
        "epsilon": 1e-3,
        "delta": 3e-3,
        "rank": (None, 150),
        "tolerance": "auto",
    },
    space={"transition__scale": LogNormal(25.0, sd=0.4)},
)


def load_track(path: Path | None, *, bin: float, least_speed: float) -> Data:
    """Load the track that comes with kmcf, or a file of the same format."""
    return Data([linear_track(bin, least_speed, path)])


SPIKES = Problem(
    name="spikes",
    title="A rat on a linear track",
    about=(
        "The spikes of 31 neurons in the hippocampus of a rat are counted in bins of a quarter of a second while it "
        "runs on a track. The first 70 % of the running time are examples, the rest is followed. The state has "
        "position and velocity, and moves as recorded states did; errors are of the position."
    ),
    load=load_track,
    split=earlier_and_later,
    settings=SPIKES_SETTINGS,
    quick=replace(SPIKES_SETTINGS, split={"share": 0.7, "velocities": True, "longest": MOST_QUICK_STEPS}),
    measure=Measure("median", near=50.0, unit="px"),
    methods=("kmcf", "kmcf-defaults", "knn-pf", "knn", "poisson-chosen"),
)

SPIKES_RANDOM_WALK = replace(
    SPIKES,
    name="spikes-random-walk",
    title="A rat on a linear track, as a random walk",
    about=(
        "The spikes of 31 neurons in the hippocampus of a rat are counted in bins of a quarter of a second while it "
        "runs on a track. The first 70 % of the running time are examples, the rest is followed. The state is the "
        "position alone."
    ),
    settings=WALK_SETTINGS,
    methods=("kmcf", "kmcf-defaults", "knn-pf", "knn", "poisson"),
    quick=replace(WALK_SETTINGS, split={"share": 0.7, "longest": MOST_QUICK_STEPS}),
)
