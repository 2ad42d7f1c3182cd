"""A person who carries a Bluetooth beacon through a room with twelve receivers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kmcf.datasets import Recording, ble_receivers, ble_tracks
from kmcf.datasets.ble import NO_SIGNAL
from kmcf.support.search_space import LogNormal
from kmcf.transitions import GaussianRandomWalk
from kmcf_lab.localize.problem import Data, Measure, Problem, Settings
from kmcf_lab.localize.splits import MOST_QUICK_STEPS, leave_one_out

HEARD = {
    f"heard in {words} s": {"load": {"heard": spans}}
    for words, spans in {"2 and 5": (2.0, 5.0), "1, 3 and 8": (1.0, 3.0, 8.0)}.items()
}
"""A beacon is often not heard for a second or two: what was heard in the last seconds, as further strengths."""
BLE_SETTINGS = Settings(
    # No kernel given: with twelve strengths the filter decides from the examples whether to learn one.
    transition=GaussianRandomWalk(),
    # People stop and turn: the learnt spread is too confident, above all for the particle filter.
    inflation=2.0,
    load={"window": 1.0, "heard": ()},
    kmcf={"tolerance": "auto"},
    space={"transition__scale": LogNormal(0.5, sd=0.6)},
    alternatives=HEARD,
)


def load_tracks(path: Path | None, *, window: float, heard: tuple[float, ...]) -> Data:
    """Load the tracks that come with kmcf, or those in a folder of the same format.

    Parameters
    ----------
    path : Path, optional
        The folder.
    window : float
        Seconds over which strengths are averaged.
    heard : tuple of float
        If any, an observation is what was heard in the last so many seconds, for each of these numbers.
    """
    receivers = np.array(list(ble_receivers().values()))[:, :2]
    tracks = [heard_lately(track, heard) if heard else track for track in ble_tracks(window, path)]
    return Data(tracks, marks={"receivers": receivers} if path is None else {})


def heard_lately(track: Recording, spans: Sequence[float]) -> Recording:
    """Replace each observation by the mean strengths that receivers heard in the last seconds, silence left out.

    Parameters
    ----------
    track : Recording
        Whose strengths are −100 where a receiver heard nothing.
    spans : sequence of float
        Numbers of seconds; each gives one strength per receiver, −100 if it heard nothing for so long.

    Examples
    --------
    >>> strengths = np.array([[-60.0], [-100.0], [-70.0], [-100.0]])
    >>> walk = Recording("walk", np.array([0.0, 1.0, 2.0, 5.0]), np.zeros((4, 2)), strengths)
    >>> heard_lately(walk, (1.0, 3.0)).observations.tolist()
    [[-60.0, -60.0], [-100.0, -60.0], [-70.0, -65.0], [-100.0, -100.0]]
    """
    strengths, time = np.asarray(track.observations, dtype=np.float64), np.asarray(track.time)
    audible = strengths > NO_SIGNAL
    age = time[:, None] - time[None, :]
    columns = []
    for seconds in spans:
        recent = ((age >= 0.0) & (age < seconds - 1e-6)).astype(np.float64)
        count = recent @ audible
        total = recent @ np.where(audible, strengths, 0.0)
        columns.append(np.where(count > 0, total / np.maximum(count, 1.0), NO_SIGNAL))
    names = {part: words for part, words in track.names.items() if part != "observations"}
    return replace(track, observations=np.concatenate(columns, axis=1), names=names)


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
