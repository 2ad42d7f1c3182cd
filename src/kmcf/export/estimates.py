"""Estimates in files: one row per step, with the user's names for states, times and sequences."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from kmcf.datasets.cells import write_date
from kmcf.datasets.recording import Recording
from kmcf.datasets.tables import DATES
from kmcf.datasets.time_gaps import missed_steps, usual_step
from kmcf.datasets.writing import cell, write_rows
from kmcf.filter import FilterRun
from kmcf.support.alerts import LOW_COVERAGE
from kmcf.support.atomic import replacing
from kmcf.support.plain_json import without_nan

FORMATS = {"": "csv", ".csv": "csv", ".json": "jsonl", ".jsonl": "jsonl", ".parquet": "parquet"}
"""The format of a file, by the ending of its name."""


def write_estimates(
    target: str | os.PathLike[str] | TextIO,
    recordings: Sequence[Recording],
    runs: Sequence[FilterRun],
    *,
    states: Sequence[str] | None = None,
    sequence: str | None = None,
    step: float | None = None,
    format: str | None = None,
) -> None:
    """Write the results of filtering recordings: one row per step, as CSV, Parquet or lines of JSON.

    The columns are the sequence, the time (or the number of the step), mean, 95 % interval, mode and covariance of the
    state, the filter's mean beside a smoothed one, effective sample size, coverage, flags, alarms with their reasons,
    and how many steps were missed before the row.

    Parameters
    ----------
    target : path or text file
        A file is written completely or not at all; an open text file, such as ``sys.stdout``, gets rows one by one.
    recordings : list of Recording
        What was filtered, as :func:`kmcf.datasets.read_tables` returns it.
    runs : list of FilterRun
        One per recording, with states that are vectors.
    states : list of str, optional
        Names of the state's coordinates; None: ``state_0``, ``state_1``, ...
    sequence : str, optional
        Name of the column that says which recording a row belongs to. None: the one they were read from; otherwise
        "sequence" if there are several.
    step : float, optional
        The usual time from row to row; None: the median.
    format : {"csv", "jsonl", "parquet"}, optional
        None: by the ending of ``target``, or CSV for an open file.

    Examples
    --------
    >>> import tempfile, kmcf
    >>> (track,) = kmcf.datasets.ble_tracks()[:1]
    >>> walk = kmcf.transitions.GaussianRandomWalk().fit([track])
    >>> flt = kmcf.KernelMonteCarloFilter(walk, random_state=0).fit(*kmcf.datasets.examples(track))
    >>> path = Path(tempfile.mkdtemp()) / "states.csv"
    >>> write_estimates(path, [track], [flt.filter(track.observations)], states=["x", "y"])
    >>> path.read_text()[:31]
    'step,mean_x,mean_y,lower_x,lowe'
    """
    kind = _checked_format(target, format)
    columns = EstimateColumns.of(recordings, runs, states, sequence)
    if step is None and columns.time:
        step = usual_step(recordings)
    rows = (
        row
        for recording, run in zip(recordings, runs, strict=True)
        for row in columns.rows(run, recording.name, recording.time, _missed(recording, step))
    )
    if kind == "parquet":
        write_rows(target, columns.header(), rows)  # type: ignore[arg-type]
        return
    lines = (LINES[kind](columns, row) for row in chain([None], rows))
    if isinstance(target, str | os.PathLike):
        with replacing(target) as file:
            file.writelines(line.encode() for line in lines)
    else:
        target.writelines(lines)
        target.flush()


def _checked_format(target: Any, format: str | None) -> str:
    is_path = isinstance(target, str | os.PathLike)
    ending = Path(target).suffix.lower() if is_path else ""
    kind = FORMATS.get(ending) if format is None else format
    if kind is None:
        raise ValueError(f"estimates are written as .csv, .jsonl or .parquet, but {str(target)!r} ends in {ending!r}.")
    if kind not in FORMATS.values():
        raise ValueError(f"format = {format!r}; it must be 'csv', 'jsonl' or 'parquet'.")
    if kind == "parquet" and ending != ".parquet":
        raise ValueError(f"Parquet is written to a file whose name ends in .parquet, not to {target!r}.")
    return kind


def _missed(recording: Recording, step: float | None) -> Any:
    return missed_steps(np.diff(recording.time, prepend=np.nan), np.nan if step is None else step)


@dataclass(frozen=True)
class EstimateColumns:
    """Which columns a table of estimates has.

    Attributes
    ----------
    states : sequence of str
        Names of the state's coordinates.
    time : str or None
        Name of the time column; None: rows are numbered.
    sequence : str or None
        Name of the column that tells sequences apart.
    dates : bool
        Times are seconds since 1970, to be written as dates.
    smoothed : bool
        The means of the filter stand beside smoothed estimates.

    Examples
    --------
    >>> EstimateColumns(["x", "y"], time="time").states
    ['x', 'y']
    """

    states: Sequence[str]
    time: str | None = None
    sequence: str | None = None
    dates: bool = False
    smoothed: bool = False

    @classmethod
    def of(
        cls, recordings: Sequence[Recording], runs: Sequence[FilterRun], states: Sequence[str] | None, label: str | None
    ) -> EstimateColumns:
        """Return the columns for runs over recordings, with the names that the recordings have."""
        width = runs[0].interval.shape[-1]
        chosen = [f"state_{j}" for j in range(width)] if states is None else list(states)
        if len(chosen) != width:
            raise ValueError(f"states = {chosen} names {len(chosen)} coordinates, but the states have {width}.")
        names = recordings[0].names
        several = "sequence" if len({recording.name for recording in recordings}) > 1 else None
        return cls(
            chosen,
            time=next(iter(names.get("time", ())), None),
            sequence=label or next(iter(names.get("sequence", ())), several),
            dates=recordings[0].units.get("time") == DATES,
            smoothed=runs[0].is_smoothed,
        )

    def header(self) -> list[str]:
        """Return the names of the columns."""
        names = [self.sequence] if self.sequence else []
        names.append(self.time or "step")
        for what in ("mean", "lower", "upper", "mode"):
            names += [f"{what}_{state}" for state in self.states]
        names += [f"covariance_{a}_{b}" for i, a in enumerate(self.states) for b in self.states[i:]]
        if self.smoothed:
            names += [f"filtered_mean_{state}" for state in self.states]
        names += ["ess", "coverage", "low_coverage", "rejected", "missing", "relocated", "alarm", "alarm_reason"]
        names += ["unsmoothed"] if self.smoothed else []
        return [*names, "missed_steps"] if self.time else names

    def rows(self, run: FilterRun, label: str, times: Any, missed: Any) -> Iterator[list[Any]]:
        """Yield the rows of a run.

        Parameters
        ----------
        run : FilterRun
            One sequence, or a part of it.
        label : str
            Which sequence.
        times : sequence of float
            One per step; used if there is a time column.
        missed : sequence of int
            How many steps were missed before each.
        """
        steps, width = len(run.time), len(self.states)
        upper = [(i, j) for i in range(width) for j in range(i, width)]
        mean, mode = run.mean.reshape(steps, width), np.reshape(run.mode, (steps, width))
        interval, covariance = run.interval, run.covariance
        kept = run.unsmoothed if run.is_smoothed else np.zeros(steps, dtype=bool)
        before = (mean if run.filtered is None else run.filtered.mean).reshape(steps, width)
        for t in range(steps):
            start: list[Any] = [label] if self.sequence else []
            step = float(times[t]) if self.time else int(run.time[t])
            start.append(write_date(step) if self.dates else step)
            values = [*mean[t], *interval[t, 0], *interval[t, 1], *mode[t], *(covariance[t, i, j] for i, j in upper)]
            values += [*before[t]] if self.smoothed else []
            numbers = [float(value) for value in (*values, run.ess[t], run.coverage[t])]
            flags: list[Any] = [bool(run.coverage[t] < LOW_COVERAGE), bool(run.rejected[t]), bool(run.missing[t])]
            flags += [bool(run.relocated[t]), bool(run.alarm[t]), str(run.alarm_reason[t])]
            flags += [bool(kept[t])] if self.smoothed else []
            yield [*start, *numbers, *flags, *([int(missed[t])] if self.time else [])]


def csv_line(columns: EstimateColumns, row: list[Any] | None) -> str:
    """Return a row, or the header, as a line of CSV."""
    text = io.StringIO()
    values = columns.header() if row is None else [cell(value) for value in row]
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()


def json_line(columns: EstimateColumns, row: list[Any] | None) -> str:
    """Return a row as a line of JSON, with null for what is not a number; there is no header."""
    if row is None:
        return ""
    return json.dumps(without_nan(dict(zip(columns.header(), row, strict=True))), allow_nan=False) + "\n"


LINES = {"csv": csv_line, "jsonl": json_line}
"""How a row becomes a line, by format."""
