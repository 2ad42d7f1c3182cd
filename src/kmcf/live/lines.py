"""Observations from lines: CSV with a header, or one JSON object per line, as they come in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from kmcf.datasets.cells import is_date, read_date, read_number
from kmcf.datasets.column_files import csv_rows, whole_lines
from kmcf.datasets.columns import choose, lacks
from kmcf.live.requests import Observed, Refusal, read_json, read_name, read_observed


class Line(NamedTuple):
    """One observation from a line, and the true state if the line holds it."""

    number: int
    observed: Observed
    truth: list[float] | None = None


@dataclass(frozen=True)
class LineColumns:
    """Which columns of CSV hold what."""

    observation: Sequence[str] = ()
    control: Sequence[str] = ()
    state: Sequence[str] = ()
    time: str | None = None
    sequence: str | None = None
    sensors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Columns of several sensors, instead of those of the observation."""


def read_lines(lines: Any, columns: LineColumns, encoding: str = "utf-8", name: str = "stdin") -> Iterator[Line]:
    r"""Yield observations as their lines come in.

    Parameters
    ----------
    lines : binary file
        CSV whose first line names the columns, or JSON objects with ``object``, ``observation``, ``control`` and
        ``time``, one per line.
    columns : LineColumns
        What the columns of CSV are.
    encoding : str
        Encoding of CSV.
    name : str
        What an object is called where the lines do not say.

    Examples
    --------
    >>> import io
    >>> text = io.BytesIO(b"t,a,b,x\n0,1.5,,7\n1,2.5,3,8\n")
    >>> [line] = list(read_lines(text, LineColumns(["a", "b"], state=["x"], time="t")))[:1]
    >>> line.observed.observation, line.observed.time, line.truth
    ([1.5, None], 0.0, [7.0])
    """
    whole = whole_lines(lines.readline, b"\n", "stdin")
    first = next(whole, b"")
    rest = chain([first], whole)
    if first.lstrip()[:1] == b"{":
        yield from _json_lines(rest, name)
    else:
        yield from _csv_lines(_Rest(rest), columns, encoding, name)


class _Rest:
    """Lines of which the first was read already, as a binary file of which only whole lines are read."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines

    def readline(self, _most: int = -1) -> bytes:
        return next(self._lines, b"")

    def __iter__(self) -> Iterator[bytes]:
        return self._lines


def _json_lines(lines: Iterator[bytes], name: str) -> Iterator[Line]:
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            given = read_json(text)
            if not isinstance(given, dict):
                raise Refusal(422, "it is no JSON object.")
            whose = read_name(given.pop("object", name))
            yield Line(number, read_observed(whose, given))
        except Refusal as refusal:
            raise ValueError(f"stdin, line {number}: {refusal.message}") from None


def _csv_lines(lines: _Rest, columns: LineColumns, encoding: str, name: str) -> Iterator[Line]:
    rows = csv_rows(lines, encoding, "stdin")
    header = next(rows, None)
    if header is None:
        raise ValueError("stdin is empty; the first line must hold the names of the columns.")
    read = _Reader(header[1], columns, name)
    for number, cells in rows:
        yield read.line(number, cells)


class _Reader:
    """Turns the cells of a row into an observation."""

    def __init__(self, header: list[str], columns: LineColumns, name: str) -> None:
        self._header, self._name = header, name
        self._observation = self._places(columns.observation, "observation")
        self._control = self._places(columns.control, "control")
        known = columns.state and not lacks(columns.state, header)
        self._state = self._places(columns.state if known else (), "state")
        self._time = self._optional(columns.time)
        self._sequence = self._optional(columns.sequence)
        self._sensors = {
            sensor: self._places(words, f"sensor {sensor!r}")
            for sensor, words in columns.sensors.items()
            if not lacks(words, header)
        }

    def line(self, number: int, cells: list[str]) -> Line:
        """Read one row."""
        said: Any = self._numbers(number, cells, self._observation)
        if self._sensors:
            said = {sensor: self._numbers(number, cells, places) for sensor, places in self._sensors.items()}
        control = self._numbers(number, cells, self._control) or None
        whose = self._name if self._sequence is None else cells[self._sequence]
        try:
            observed = Observed(read_name(whose), said, control, self._clock(number, cells))
        except Refusal as refusal:
            raise ValueError(f"stdin, line {number}: {refusal.message}") from None
        truth = [float("nan") if x is None else x for x in self._numbers(number, cells, self._state)]
        return Line(number, observed, truth or None)

    def _numbers(self, number: int, cells: list[str], places: list[int]) -> list[float | None]:
        found = [self._cell(number, cells, place) for place in places]
        return [None if x != x else x for x in found]

    def _clock(self, number: int, cells: list[str]) -> float | None:
        if self._time is None:
            return None
        time = self._cell(number, cells, self._time, dates=is_date(cells[self._time]))
        if not abs(time) < float("inf"):
            raise ValueError(f"stdin, line {number}, column {self._header[self._time]!r}: the time is missing.")
        return time

    def _cell(self, number: int, cells: list[str], place: int, *, dates: bool = False) -> float:
        try:
            return read_date(cells[place]) if dates else read_number(cells[place])
        except ValueError as error:
            raise ValueError(f"stdin, line {number}, column {self._header[place]!r}: {error}.") from None

    def _places(self, words: Sequence[str], role: str) -> list[int]:
        chosen = choose(list(words), self._header, source="stdin", role=role) if words else []
        return [self._header.index(name) for name in chosen]

    def _optional(self, name: str | None) -> int | None:
        return self._header.index(name) if name in self._header else None
