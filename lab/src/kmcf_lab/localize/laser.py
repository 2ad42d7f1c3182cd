"""Robots with a laser scanner in corridors that look alike: the Intel and Freiburg 079 logs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from kmcf.datasets import Recording, carmen_log, examples
from kmcf.datasets.carmen import SPLITS, carmen_split
from kmcf.kernels import LaserScan, PlacedScan, Pose
from kmcf.transitions import OdometryMotion
from kmcf_lab.localize.problem import Data, LocalizationFold, Measure, Problem, Settings
from kmcf_lab.localize.splits import rarely_observed, sparse

INTEL_SETTINGS = Settings(
    transition=OdometryMotion(),
    observation_kernel=LaserScan(max_range=20.0, rotation=6),
    state_kernel=Pose(multiplier=0.1),
    recovery=0.01,
    load={"max_range": 20.0},
    split={"log": "intel"},
    kmcf={"tolerance": "auto", "n_particles": 400},
)
FREIBURG_SETTINGS = Settings(
    transition=OdometryMotion(),
    # Bandwidths, inflation, the width of echoes and the background were chosen on the two validation passes.
    inflation=2.0,
    observation_kernel=LaserScan(max_range=20.0, rotation=6, multiplier=0.2),
    state_kernel=Pose(multiplier=0.07),
    load={"max_range": 20.0},
    # Scans are 10 cm apart: every fifth is enough as an example, every second as an observation.
    split={"log": "freiburg-079", "every": 5, "used_every": 2},
    # A tenth of the way has no examples, but others saw its walls; and corridors look alike: no single scan may rule
    # out a place.
    kmcf={
        "support": "particles",
        "observation_kernel": PlacedScan(width=0.3, max_range=20.0, rotation=6, multiplier=0.2),
        "delta": float("inf"),
        "background": 0.1,
        "n_particles": 1000,
    },
)


def load_log(path: Path, *, max_range: float) -> Data:
    """Load a log; ranges beyond ``max_range`` count as no return."""
    return Data([carmen_log(path, max_range=max_range)])


def held_out_pass(
    data: Data, repetition: int = 0, *, log: str, every: int = 1, used_every: int = 1, longest: int | None = None
) -> list[LocalizationFold]:
    """Test on the pass that the log's usual split holds out; tune on other passes within the rest.

    Parameters
    ----------
    data : Data
        One recording, the whole log.
    repetition : int
        Not used: repetitions differ only in the filters' random numbers.
    log : {"intel", "freiburg-079"}
        Which log it is.
    every : int
        Keep every k-th scan of the rest as an example.
    used_every : int
        Show the filters only every k-th scan of the test pass; see :func:`rarely_observed`.
    longest : int, optional
        Cut the test pass to this number of steps.
    """
    (recording,) = data.recordings
    needed = max(last for _, last, _ in SPLITS[log].values())
    if len(recording) < needed:
        raise ValueError(f"{recording.name!r} has {len(recording)} scans, but the split of {log} needs {needed}.")
    training, test = carmen_split(recording, log)
    rest, passes = _validation(recording, log)
    states, observations = examples(sparse(training, every))
    shown = rarely_observed(test[:longest], used_every)
    return [
        LocalizationFold(
            f"{log}, held-out pass",
            _named(training),
            states,
            observations,
            shown,
            validation=tuple(one.name for one in passes),
            tuning=[*rest, *passes],
            every=every,
            used_every=used_every,
        )
    ]


def _validation(recording: Recording, log: str) -> tuple[list[Recording], list[Recording]]:
    """Split the rest of the log again: what is near none of the passes, and the validation passes."""
    free = np.ones(len(recording), dtype=bool)
    for first, last, buffer in SPLITS[log].values():
        free[max(0, first - buffer) : last + buffer] = False
    edges = np.flatnonzero(np.diff(np.concatenate([[False], free, [False]]).astype(np.int8))).reshape(-1, 2)
    rest = [recording[int(start) : int(stop)] for start, stop in edges]
    passes = [
        replace(recording[first:last], name=name) for name, (first, last, _) in SPLITS[log].items() if name != "test"
    ]
    return _named(rest), passes


def _named(parts: list[Recording]) -> list[Recording]:
    return [replace(part, name=f"{part.name}, part {number}") for number, part in enumerate(parts, start=1)]


def _problem(name: str, title: str, settings: Settings) -> Problem:
    quick = {"every": 4 * settings.split.get("every", 1), "longest": 80} if name == "freiburg" else {"longest": 40}
    return Problem(
        name=name,
        title=title,
        about=(
            "A robot drives through corridors and rooms, many of which look alike to its laser. One pass is held out; "
            "poses are those of SLAM, which is no independent truth. The start is unknown."
        ),
        load=load_log,
        split=held_out_pass,
        settings=settings,
        quick=replace(settings, split={**settings.split, **quick}),
        measure=Measure("share", dropped_share=0.25),
        needs="the corrected CARMEN log of this building, .log or .log.gz",
    )


INTEL = _problem("intel", "Laser localization: Intel Research Lab", INTEL_SETTINGS)
FREIBURG = _problem("freiburg", "Laser localization: Freiburg building 079", FREIBURG_SETTINGS)
