"""Runs as rows of a table: what ``kmcf filter`` writes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kmcf.filter import FilterRun


@dataclass(frozen=True)
class Layout:
    """Which columns the output has.

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
    """

    states: Sequence[str]
    time: str | None = None
    sequence: str | None = None
    dates: bool = False

    def header(self) -> list[str]:
        """Return the names of the columns."""
        names = [self.sequence] if self.sequence else []
        names.append(self.time or "step")
        for what in ("mean", "lower", "upper", "mode"):
            names += [f"{what}_{state}" for state in self.states]
        names += [f"covariance_{a}_{b}" for i, a in enumerate(self.states) for b in self.states[i:]]
        names += ["ess", "coverage", "low_coverage", "rejected", "missing"]
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
            One per step; used where there is a time column.
        missed : sequence of int
            How many steps were missed before each.
        """
        from kmcf.datasets.cells import write_date
        from kmcf.plotting import LOW_COVERAGE

        width = len(self.states)
        upper = [(i, j) for i in range(width) for j in range(i, width)]
        mean, mode, interval, covariance = run.mean, run.mode, run.interval, run.covariance
        for t in range(len(run.time)):
            start: list[Any] = [label] if self.sequence else []
            step = float(times[t]) if self.time else int(run.time[t])
            start.append(write_date(step) if self.dates else step)
            values = [*mean[t], *interval[t, 0], *interval[t, 1], *mode[t], *(covariance[t, i, j] for i, j in upper)]
            numbers = [float(value) for value in (*values, run.ess[t], run.coverage[t])]
            flags = [bool(run.coverage[t] < LOW_COVERAGE), bool(run.rejected[t]), bool(run.missing[t])]
            yield [*start, *numbers, *flags, *([int(missed[t])] if self.time else [])]


def csv_line(layout: Layout, row: list[Any] | None) -> str:
    """Return a row, or the header, as a line of CSV."""
    from kmcf.store.tables import cell

    text = io.StringIO()
    values = layout.header() if row is None else [cell(value) for value in row]
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()


def json_line(layout: Layout, row: list[Any] | None) -> str:
    """Return a row as a line of JSON, with null for what is not a number; there is no header."""
    from kmcf.support.plain_json import without_nan

    if row is None:
        return ""
    return json.dumps(without_nan(dict(zip(layout.header(), row, strict=True))), allow_nan=False) + "\n"
