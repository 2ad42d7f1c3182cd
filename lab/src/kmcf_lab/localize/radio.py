"""A person who carries a Bluetooth beacon through a room with twelve receivers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from kmcf.datasets import ble_receivers, ble_tracks
from kmcf.support.search_space import LogNormal
from kmcf.transitions import GaussianRandomWalk
from kmcf_lab.localize.problem import Data, Measure, Problem, Settings
from kmcf_lab.localize.splits import MOST_QUICK_STEPS, leave_one_out

BLE_SETTINGS = Settings(
    # No kernel given: with twelve strengths the filter decides from the examples whether to learn one.
    transition=GaussianRandomWalk(),
    # People stop and turn: the learnt spread is too confident, above all for the particle filter.
    inflation=2.0,
    load={"window": 1.0},
    kmcf={"tolerance": "auto"},
    space={"transition__scale": LogNormal(0.5, sd=0.6)},
)


def load_tracks(path: Path | None, *, window: float) -> Data:
    """Load the tracks that come with kmcf, or those in a folder of the same format."""
    receivers = np.array(list(ble_receivers().values()))[:, :2]
    return Data(ble_tracks(window, path), marks={"receivers": receivers} if path is None else {})


BLE = Problem(
    name="ble",
    title="Indoor positioning from Bluetooth",
    about=(
        "A person carries a Bluetooth beacon through a furnished room; twelve receivers measure its strength. Each of "
        "nine walks is followed with examples from the eight others, without knowing where it begins."
    ),
    load=load_tracks,
    split=leave_one_out,
    settings=BLE_SETTINGS,
    quick=replace(BLE_SETTINGS, split={"most_folds": 3, "longest": MOST_QUICK_STEPS}),
    measure=Measure("mean", dropped_seconds=5.0),
)
