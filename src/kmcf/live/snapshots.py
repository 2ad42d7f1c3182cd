"""Snapshots of tracked objects: one file that holds data only, from which every next step is the same, bit by bit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.bayes_rule.base import SensorUse
from kmcf.datasets.windowing import Window
from kmcf.filter import Belief
from kmcf.filter.host import HostBackend
from kmcf.filter.results.belief import equal_weights
from kmcf.filter.results.step_report import StepReport
from kmcf.live.model import LiveModel
from kmcf.live.tracks import Track
from kmcf.numerics.arrays import FloatArray
from kmcf.store.container import Container, open_container, write_container
from kmcf.trust.signals import Running

KIND = "tracked objects"
SCALARS = (
    "weight_sum",
    "herding_loss",
    "observation_coverage",
    "state_coverage",
    "log_evidence",
    "relative_evidence",
    "observation_distance",
    "observation_shift",
    "prediction_score",
    "doubt",
)
"""Numbers of a step's report, in their order in a file; the running means follow."""


def check_restorable(model: LiveModel) -> None:
    """Refuse filters whose beliefs live on a device."""
    if not isinstance(model.filter.backend_, HostBackend):
        raise ValueError(f"the state of {model.name} cannot be kept, because it runs on JAX arrays.")


def write_snapshot(path: Path, generation: int, model: LiveModel, begun: int, tracks: Mapping[str, Track]) -> None:
    """Write a snapshot, whole or not at all.

    Parameters
    ----------
    path : Path
        The file.
    generation : int
        Number of the journal that follows it.
    model : LiveModel
        The filter.
    begun : int
        How many objects have been begun.
    tracks : mapping
        The objects by id, in order of when they were last heard of.
    """
    arrays: dict[str, Any] = {}
    records = [_record(str(k), name, track, arrays) for k, (name, track) in enumerate(tracks.items())]
    about = {"kind": KIND, "generation": generation, "model": model.fingerprint, "begun": begun, "tracks": records}
    write_container(path, about, arrays, {})


def snapshot_generation(path: Path, model: LiveModel) -> int:
    """Return which journal follows a snapshot; refuse that of another model."""
    with open_container(path) as container:
        about = container.manifest
        if not isinstance(about, dict) or about.get("kind") != KIND:
            raise ValueError(f"{path} is no snapshot of tracked objects.")
        if about["model"] != model.fingerprint:
            raise ValueError(
                f"the state in {path.parent} belongs to another model than {model.name}; name another folder."
            )
        return int(about["generation"])


def read_snapshot(path: Path, model: LiveModel) -> tuple[int, dict[str, Track]]:
    """Return how many objects have been begun, and those that were tracked."""
    with open_container(path) as container:
        about = container.manifest
        found = {record["object"]: _track(str(k), record, container, model) for k, record in enumerate(about["tracks"])}
    return int(about["begun"]), found


def _record(key: str, name: str, track: Track, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return what JSON can hold of a track; put the rest into ``arrays``."""
    belief = track.belief
    report, resampled = belief.report, belief.resampled
    # What was resampled is all that the next step looks at; otherwise it is the states with their weights.
    arrays[f"{key}_states"] = np.asarray(belief.states if resampled is None else belief.states[resampled])
    if resampled is None:
        arrays[f"{key}_weights"] = np.asarray(belief.weights)
    arrays[f"{key}_report"] = np.array([*(getattr(report, name) for name in SCALARS), *report.running], dtype=float)
    if report.running_observation is not None:
        arrays[f"{key}_running"] = np.asarray(report.running_observation)
        arrays[f"{key}_residual"] = np.array([report.residual_shift])
    if report.beyond is not None:
        arrays[f"{key}_beyond"] = np.asarray(report.beyond)
    return {
        "object": name,
        "step": belief.time,
        "stream": belief.stream,
        "rejections": belief.rejections,
        "stamp": [belief.clock, belief.elapsed],
        "clock": track.clock,
        "touched": track.touched,
        "answer": track.answer,
        "flags": [report.missing, report.rejected, report.relocated],
        "sensors": [list(report.sensors.used), list(report.sensors.rejected)],
        "window": None if track.window is None else _window_record(key, track.window, arrays),
    }


def _track(key: str, record: Mapping[str, Any], container: Container, model: LiveModel) -> Track:
    states, names = container.array(f"{key}_states"), container.names
    resampled, weights = (np.arange(len(states)), equal_weights(len(states)))
    numbers = container.array(f"{key}_report")
    running = container.array(f"{key}_running") if f"{key}_running" in names else None
    scalars: dict[str, Any] = dict(zip(SCALARS, (float(value) for value in numbers), strict=False))
    report = StepReport(
        **scalars,
        running=Running(*(float(value) for value in numbers[len(SCALARS) :])),
        running_observation=running,
        residual_shift=float(container.array(f"{key}_residual")[0]) if f"{key}_residual" in names else np.nan,
        beyond=container.array(f"{key}_beyond") if f"{key}_beyond" in names else None,
        missing=record["flags"][0],
        rejected=record["flags"][1],
        relocated=record["flags"][2],
        sensors=SensorUse(*(tuple(part) for part in record["sensors"])),
    )
    whole = f"{key}_weights" in names
    belief = Belief(
        states,
        container.array(f"{key}_weights") if whole else weights,
        kernel=model.filter.backend_.advance.kernel,
        angles=model.filter.angles,
        time=record["step"],
        stream=record["stream"],
        report=report,
        resampled=None if whole else resampled,
        rejections=record["rejections"],
        clock=record["stamp"][0],
        elapsed=record["stamp"][1],
        calibration=model.filter.calibration_,
        watch=model.filter.backend_.watch,
    )
    window = None if record["window"] is None else _window(key, record["window"], container, model.window)
    return Track(belief, window, record["clock"], record["answer"], record["touched"])


def _window_record(key: str, window: Window, arrays: dict[str, Any]) -> dict[str, Any]:
    recent, times = window.kept()
    for age, one in enumerate(recent):
        if one is not None:
            arrays[f"{key}_window_{age}"] = one
    return {"length": len(recent), "times": list(times)}


def _window(key: str, record: Mapping[str, Any], container: Container, empty: Window | None) -> Window:
    assert empty is not None
    recent: list[FloatArray | None] = [
        container.array(f"{key}_window_{age}") if f"{key}_window_{age}" in container.names else None
        for age in range(record["length"])
    ]
    return empty.holding(recent, record["times"])
