"""The page about runs on recordings: one HTML file with scores, map, beliefs, worst moments and alarms."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.datasets.recording import Recording
from kmcf.datasets.tables import DATES
from kmcf.filter.results.run import FilterRun
from kmcf.filter.results.run_views import followed_sequence, with_filtered
from kmcf.filter.results.scores import score_runs
from kmcf.report.run_page import Labels, run_report

OURS = "this filter"


def write_report(
    path: str | os.PathLike[str],
    recordings: Sequence[Recording],
    runs: Sequence[FilterRun],
    *,
    rivals: Mapping[str, Sequence[FilterRun]] | None = None,
    states: Sequence[str] | None = None,
    examples: Any = None,
    unit: str = "",
    time_unit: str = "",
    title: str = "Filter runs",
    command: str = "",
    settings: Mapping[str, str] | None = None,
    ours: str = OURS,
) -> Path:
    """Write a page about the runs of a filter on recordings, and of others to compare with.

    Parameters
    ----------
    path : path
        The file.
    recordings : sequence of Recording
        What was filtered. Where true states are known, the page has errors and the worst moments.
    runs : sequence of FilterRun
        One per recording. Of smoothed ones, what the filter said stands beside.
    rivals : dict, optional
        Runs of other filters by name, each a list with one per recording.
    states : sequence of str, optional
        Names of the state's coordinates; None: those of the recordings, or of the runs.
    examples : array (n, d), optional
        Where examples were taken, for the map.
    unit, time_unit : str
        Units of the state and of the time.
    title, command : str
        Heading, and the command that made the page.
    settings : dict, optional
        What else to say about the filter.
    ours : str
        What the filter is called.

    Examples
    --------
    >>> import tempfile, kmcf
    >>> X = np.linspace(0.0, 1.0, 60)[:, None]
    >>> flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.1), random_state=0).fit(X, X)
    >>> walk = Recording("walk", np.arange(20.0), X[::3], X[::3], names={"states": ("x",)})
    >>> page = write_report(Path(tempfile.mkdtemp()) / "walk.html", [walk], [flt.filter(walk.observations)], unit="m")
    >>> "x over time" in page.read_text()
    True
    """
    if len(recordings) != len(runs) or not runs:
        raise ValueError(
            f"{len(runs)} runs for {len(recordings)} recordings: there must be one each, and at least one."
        )
    beside = [with_filtered(ours, run) for run in runs]
    methods = {name: [one[name] for one in beside] for name in beside[0]}
    methods |= {name: list(others) for name, others in (rivals or {}).items()}
    truths = [_truth(recording) for recording in recordings]
    judged = [k for k, truth in enumerate(truths) if truth is not None]
    overall = {
        name: score_runs([some[k] for k in judged], [truths[k] for k in judged])._asdict()
        for name, some in methods.items()
        if judged
    }
    followed = [
        followed_sequence(
            recording.name,
            {name: some[k] for name, some in methods.items()},
            truths[k],
            examples=examples,
            times=recording.time - (recording.time[0] if recording.units.get("time") == DATES else 0.0),
        )
        for k, recording in enumerate(recordings)
    ]
    labels = Labels(tuple(_state_names(states, recordings[0], runs[0])), unit, *_time(recordings[0], time_unit))
    page = run_report(followed, labels, title=title, command=command, overall=overall, settings=settings or {})
    return page.write(Path(path))


def _truth(recording: Recording) -> Any:
    truth = recording.positions
    known = truth.shape[1] > 0 and bool(np.isfinite(truth).all(axis=1).any())
    return truth if known else None


def _state_names(states: Sequence[str] | None, recording: Recording, run: FilterRun) -> Sequence[str]:
    width = len(run.state_names)
    return next(
        (names for names in (states, recording.names.get("states")) if names and len(names) == width), run.state_names
    )


def _time(recording: Recording, unit: str) -> tuple[str, str]:
    """Return what the time is called, and its unit; dates count in seconds from the first row."""
    name = next(iter(recording.names.get("time", ())), "step")
    if recording.units.get("time") == DATES:
        return f"{name}, from the start", "s"
    return name, unit
