"""Files with one row per step, and what their columns are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kmcf.cli.group import counted, note
from kmcf.cli.script import Code, call

if TYPE_CHECKING:
    from kmcf.datasets import Recording


@dataclass(frozen=True)
class TableFiles:
    """Files and the roles of their columns, as :func:`kmcf.datasets.read_tables` takes them."""

    files: Sequence[Path]
    state: Sequence[str] = ()
    observation: Sequence[str] = ()
    control: Sequence[str] = ()
    time: str | None = None
    sequence: str | None = None
    angles: Sequence[str] = ()
    gaps: str = "keep"
    step: float | None = None
    encoding: str = "utf-8"
    window: Code | None = None
    """The code that makes the window of which observations consist; None: they are taken one by one."""
    sensors: dict[str, list[str]] = field(default_factory=dict)
    """Columns of several sensors, instead of those of the observation."""
    excluded: Sequence[str] = ()
    """Columns that patterns match and that are not meant."""
    velocities: bool = False
    """Whether velocities of the state columns are derived and appended to them."""
    assumed: frozenset[str] = frozenset()
    """Roles that the user did not name: a file may do without the column of the time or of the sequence."""

    def fitting(self, names: Sequence[str], file: str) -> TableFiles:
        """Return the same without assumed columns that a file does not have."""
        roles = {"time": self.time, "sequence": self.sequence}
        absent = {role: name for role, name in roles.items() if role in self.assumed and name not in (None, *names)}
        for role, name in absent.items() if names else ():  # an empty file gets a message of its own
            note(f"{file} has no column {name!r}, so it is read without {role}.")
        left: dict[str, Any] = dict.fromkeys(absent)
        return replace(self, **left)

    def reading(self) -> str:
        """Return the statement that reads them as ``recordings``."""
        return f"recordings = {call('kmcf.datasets.read_tables', list(self.files), **self._arguments())}"

    def notes(self) -> Code:
        """Return the notes in a model file: the names of its columns, and its window."""
        return COLUMN_NOTES if self.window is None else WINDOW_NOTES

    @contextmanager
    def pointing(self) -> Iterator[None]:
        """Let errors about numbers that are missing name the line and the column."""
        from kmcf.datasets.column_files import first_incomplete
        from kmcf.filter.inputs import IncompleteError
        from kmcf.transitions.constant_velocity import NoVelocityError

        try:
            yield
        except NoVelocityError as error:
            names = self._state_names()
            raise ValueError(
                "the transition 'constant-velocity' needs positions, then as many velocities, but "
                f"{names[error.column]!r} is not the velocity of {names[error.position]!r}: name columns that are (-s "
                "x,y,vx,vy), or add --velocities to derive them from the positions."
            ) from None
        except IncompleteError as error:
            words = [*self.observation, *(word for words in self.sensors.values() for word in words)]
            some = not self.sensors
            where = first_incomplete(
                self.files, words, self.state, self.encoding, all_of_them=some, excluded=self.excluded
            )
            where = where or self.first_unused()
            if not where:
                raise
            raise ValueError(f"{where}: {error}") from None

    def reading_options(self) -> dict[str, Any]:
        """Return what :func:`kmcf.datasets.read_tables` is told besides the files."""
        return self._arguments()

    def first_unused(self) -> str:
        """Say where the first row stands that has no state or no observation; nothing if it is not known."""
        from kmcf.datasets.column_files import first_unused

        if self.sensors:
            return ""
        return first_unused(self.files, self.observation, self.state, self.encoding, excluded=self.excluded) or ""

    def _state_names(self) -> list[str]:
        from kmcf.datasets.column_files import column_names
        from kmcf.datasets.columns import choose

        return choose(self.state, column_names(self.files[0], self.encoding), source=self.files[0].name, role="state")

    def _arguments(self) -> dict[str, Any]:
        """Return what is not as it is by default."""
        fields = self.__dataclass_fields__
        given = {name: getattr(self, name) for name in fields if name not in ("files", "window", "assumed")}
        return {name: value for name, value in given.items() if value and value != fields[name].default}


COLUMN_NOTES = Code("{'columns': kmcf.datasets.columns_of(recordings)}")
"""The notes in a model file from which commands learn the names of its columns."""
WINDOW_NOTES = Code("{'columns': kmcf.datasets.columns_of(recordings), 'window': window.described()}")


def tell_gaps(recordings: list[Recording], gaps: str) -> None:
    """Say how often time advanced by more than a step, and how that was dealt with."""
    once = {recording.name: recording.counts for recording in recordings}
    found = {name: counts["gaps"] for name, counts in once.items() if counts.get("gaps")}
    if found:
        parts = f"split there, into {counted(len(recordings), 'part')} that are learnt from separately"
        treated = {"split": f"sequences are {parts}", "fill": "they are filled with predicted rows"}
        names = ", ".join(repr(name) for name in list(found)[:3]) + (", ..." if len(found) > 3 else "")
        gap = counted(sum(found.values()), "gap")
        note(f"{gap} in time ({names}): {treated.get(gaps, 'the rows are kept as they are')}.")
