"""Filtering observations as they come in, one line at a time: for pipes behind a sensor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, TextIO

import numpy as np

from kmcf.cli.delaying import Answer, Delay
from kmcf.cli.filtering import uses_times
from kmcf.cli.models import LoadedModel
from kmcf.cli.sensors import check_sensor_widths
from kmcf.cli.table_files import TableFiles
from kmcf.datasets.cells import is_date, read_date, read_number
from kmcf.datasets.column_files import csv_rows
from kmcf.datasets.columns import choose, lacks
from kmcf.datasets.time_gaps import MOST_FILLED, check_timeless, missed_steps
from kmcf.datasets.windowing import Window
from kmcf.export.estimates import LINES, EstimateColumns
from kmcf.filter import Belief
from kmcf.filter.backward.smoothing import collect_smoothed
from kmcf.filter.inputs import IncompleteError
from kmcf.filter.results.run import collect
from kmcf.numerics.interrupts import uninterrupted, was_interrupted


class EstimateStream:
    """Turns lines of CSV into rows of estimates, one belief per sequence.

    Parameters
    ----------
    model : LoadedModel
        The filter.
    tables : TableFiles
        Which columns hold what; ``files`` are not used.
    lines : binary file
        Where the lines come from.
    lag : int, optional
        Answer so many lines late, with what was observed since.
    """

    def __init__(self, model: LoadedModel, tables: TableFiles, lines: Any, lag: int | None = None) -> None:
        self._model = model
        self._lag = lag
        self._delays: dict[str, Delay] = {}
        self._lines = csv_rows(lines, tables.encoding, "stdin")
        self._beliefs: dict[str, Belief] = {}
        self._started = 0
        self.reasons: Counter[str] = Counter()
        """How many estimates had which reason for an alarm; empty: none."""
        self._times: dict[str, float] = {}
        self._windows: dict[str, Window] = {}
        header = next(self._lines, None)
        if header is None:
            raise ValueError("stdin is empty; the first line must hold the names of the columns.")
        self._header = header[1]
        gone = choose(tables.excluded, self._header, source="stdin", role="exclusion") if tables.excluded else []
        self._offered = [name for name in self._header if name not in gone]
        self._tables = tables.fitting(self._header, "stdin")
        self._columns = {role: self._chosen(role) for role in ("observation", "control", "time", "sequence")}
        self._sensors = self._whose()
        if not self._sensors:
            model.check_width("observation", [self._header[j] for j in self._columns["observation"]], "stdin")
        if self._tables.time is None:
            check_timeless(tables.gaps)
        self._dates = False
        self._timed = uses_times(model, self._tables)
        model.check_times(self._tables.time, "stdin")

    @property
    def columns(self) -> EstimateColumns:
        """The columns of the output; known after the first row."""
        smoothed = self._lag is not None
        return EstimateColumns(self._model.states, self._tables.time, self._tables.sequence, self._dates, smoothed)

    def estimates(self) -> Iterator[list[list[Any]]]:
        """Yield the rows for each line: its own and, before it, those that fill a gap where this was asked for."""
        for line, cells in self._lines:
            observation = np.array([self._number(line, cells, j) for j in self._columns["observation"]])
            control = np.array([self._number(line, cells, j) for j in self._columns["control"]])
            label = "".join(cells[j] for j in self._columns["sequence"])
            yield self._stepped(line, label, observation, control if len(control) else None, self._time(line, cells))
        for label in self._delays:
            yield self._rest(label)

    def _stepped(self, line: int, label: str, observation: Any, control: Any, time: float) -> list[list[Any]]:
        missed = self._missed(line, label, time)
        belief = self._beliefs.get(label)
        ended: list[list[Any]] = []
        if belief is None or (missed and self._tables.gaps == "split"):
            ended = self._rest(label)
            if self._lag is not None:
                self._delays[label] = Delay(self._model.filter.smooth_lag(self._lag, self._started))
            belief = self._model.filter.start(stream=self._started)
            self._started += 1
            self._windows[label] = self._model.window or Window(1)
        elif control is not None and np.isnan(control).any():
            raise ValueError(f"stdin, line {line}: the control is missing.")
        beliefs: list[Belief] = []
        times: list[float] = []
        if missed and self._tables.gaps == "fill":
            if missed > MOST_FILLED:
                raise ValueError(
                    f"stdin, line {line}: filling the gap from time {self._times[label]:g} to {time:g} would add "
                    f"{missed} rows; keep gaps as they are, or begin a new sequence there (--gaps split)."
                )
            beliefs, times = self._filled(label, belief, missed, self._times[label], time)
            belief, missed = beliefs[-1], 0
        window = self._windows[label].after(observation, time)
        try:
            parts = self._sensors
            said = {name: observation[part] for name, part in parts.items()} if parts else window.stacked
            belief = self._model.filter.step(belief, said, control, time if self._timed else None)
        except IncompleteError as error:
            infinite = np.flatnonzero(np.isinf(observation))
            wrong = infinite if len(infinite) else np.flatnonzero(np.isnan(observation))
            column = self._columns["observation"][int(wrong[0])]
            raise ValueError(f"stdin, line {line}, column {self._header[column]!r}: {error}") from None
        self._beliefs[label], self._times[label], self._windows[label] = belief, time, window
        notes = zip([*beliefs, belief], [*times, time], [*(0 for _ in beliefs), missed], strict=True)
        answers = [Answer(*note) for note in notes]
        return ended + self._rows_of(
            label, answers if self._lag is None else self._delays[label].after(answers, control)
        )

    def _rest(self, label: str) -> list[list[Any]]:
        """Return the rows that a sequence still owes at its end."""
        return self._rows_of(label, self._delays[label].rest() if label in self._delays else [])

    def _rows_of(self, label: str, answers: list[Answer]) -> list[list[Any]]:
        if not answers:
            return []
        beliefs, times, missed = zip(*answers, strict=True)
        angles = self._model.filter.angles
        late = self._lag is not None
        run = collect_smoothed(beliefs, angles=angles) if late else collect(beliefs, angles=angles, keep=False)
        self.reasons.update(str(reason) for reason in run.alarm_reason)
        return list(self.columns.rows(run, label, times, missed))

    def _filled(
        self, label: str, belief: Belief, missed: int, before: float, time: float
    ) -> tuple[list[Belief], list[float]]:
        """Predict through a gap."""
        if self._columns["control"]:
            raise ValueError("gaps cannot be filled where there are controls.")
        beliefs = []
        times = [before + (time - before) * k / (missed + 1) for k in range(1, missed + 1)]
        for between in times:
            belief = self._model.filter.step(belief, None, None, between if self._timed else None)
            self._windows[label] = self._windows[label].after(None, between)
            beliefs.append(belief)
        return beliefs, times

    def _missed(self, line: int, label: str, time: float) -> int:
        before = self._times.get(label)
        if before is None or self._tables.time is None:
            return 0
        if not time > before:
            raise ValueError(
                f"stdin, line {line}, column {self._tables.time!r}: time {time:g} does not come after {before:g}."
            )
        missed = int(missed_steps(time - before, self._tables.step or float("nan")))
        if missed and self._tables.gaps == "error":
            raise ValueError(f"stdin, line {line}: time advances by {time - before:g} (usual: {self._tables.step:g}).")
        return missed

    def _time(self, line: int, cells: list[str]) -> float:
        if not self._columns["time"]:
            return float("nan")
        (column,) = self._columns["time"]
        if not self._times:
            self._dates = is_date(cells[column])
        time = self._number(line, cells, column, dates=self._dates)
        if not np.isfinite(time):
            problem = "missing" if np.isnan(time) else "infinite"
            raise ValueError(f"stdin, line {line}, column {self._header[column]!r}: the time is {problem}.")
        return time

    def _number(self, line: int, cells: list[str], column: int, *, dates: bool = False) -> float:
        try:
            return read_date(cells[column]) if dates else read_number(cells[column])
        except ValueError as error:
            raise ValueError(f"stdin, line {line}, column {self._header[column]!r}: {error}.") from None

    def _whose(self) -> dict[str, slice]:
        """Add the columns of the sensors that the header names, and say where each sensor's are in an observation."""
        found: dict[str, slice] = {}
        for name, words in self._tables.sensors.items():
            if not lacks(words, self._offered):
                names = choose(words, self._offered, source="stdin", role=f"sensor {name!r}")
                start = len(self._columns["observation"])
                self._columns["observation"] += [self._header.index(column) for column in names]
                found[name] = slice(start, start + len(names))
        check_sensor_widths(self._model, {name: part.stop - part.start for name, part in found.items()}, "stdin")
        if self._tables.sensors and not found:
            raise ValueError(f"stdin has no column of any sensor ({', '.join(self._tables.sensors)}).")
        return found

    def _chosen(self, role: str) -> list[int]:
        wanted = getattr(self._tables, role) or []
        offered = self._offered if role in ("observation", "control") else self._header
        names = choose([wanted] if isinstance(wanted, str) else wanted, offered, source="stdin", role=role)
        return [self._header.index(name) for name in names]


def write_lines(stream: EstimateStream, output: TextIO, format: str) -> None:
    """Write each estimate at once; lines stay whole even if Ctrl-C comes in the middle of one.

    Parameters
    ----------
    stream : EstimateStream
        What to write.
    output : text file
        Where to.
    format : {"csv", "jsonl"}
        How.
    """
    written = 0
    try:
        for rows in filter(None, stream.estimates()):
            lines = [LINES[format](stream.columns, row) for row in (rows if written else [None, *rows])]
            with uninterrupted():
                output.write("".join(lines))
                output.flush()
                written += len(rows)
    except BaseException as error:
        if was_interrupted(error) or isinstance(error, BrokenPipeError):
            error.add_note(f"{written} estimates were written.")
        raise
    if not written:
        raise ValueError("stdin holds no rows.")
