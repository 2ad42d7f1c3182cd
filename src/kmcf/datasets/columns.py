"""Named columns of numbers, times and labels, and how they are chosen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from kmcf.datasets.cells import is_date, is_missing, read_date, read_number
from kmcf.numerics.arrays import FloatArray
from kmcf.support.plain_text import printable

_LISTED, _LONGEST = 15, 40
NOT_HIDDEN = ("state", "time", "sequence", "exclusion")
"""Roles for which a column can be named although it is excluded from the observations."""


class NamedColumns:
    """Named columns of equal length.

    Parameters
    ----------
    arrays : dict
        Name to a one-dimensional array of numbers or of text.
    source : str
        Where they come from, for error messages.
    groups : dict, optional
        Names that stand for several columns.
    place : callable, optional
        Returns where a row stands in the source: ``"line 7"``.
    hidden : collection of str
        Columns that are neither observation nor control.
    """

    def __init__(
        self,
        arrays: dict[str, Any],
        source: str,
        groups: dict[str, list[str]] | None = None,
        place: Callable[[int], str] = lambda row: f"row {row + 1}",
        hidden: Collection[str] = (),
    ) -> None:
        self._hidden = frozenset(hidden)
        self._arrays = arrays
        self._groups = groups or {}
        self._place = place
        self.source = source

    def __len__(self) -> int:
        return len(next(iter(self._arrays.values())))

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self._arrays)

    def chosen(self, wanted: Sequence[str], role: str, taken: Collection[str] = ()) -> list[str]:
        """Return the columns that names, patterns and lists of names refer to; those taken are not suggested."""
        hidden: Collection[str] = () if role in NOT_HIDDEN else self._hidden
        names = [name for name in self.names if name not in hidden]
        groups = {group: [name for name in of if name not in hidden] for group, of in self._groups.items()}
        return choose(wanted, names, source=self.source, role=role, groups=groups, taken=taken)

    def without(self, excluded: Sequence[str]) -> NamedColumns:
        """Return the same, where columns that names and patterns refer to are neither observation nor control."""
        if not excluded:
            return self
        hidden = self.chosen(excluded, "exclusion")
        return NamedColumns(self._arrays, self.source, self._groups, self._place, hidden)

    def lacks(self, wanted: Sequence[str]) -> bool:
        """Say whether names and patterns refer to no column at all."""
        return lacks(wanted, [*(name for name in self.names if name not in self._hidden), *self._groups])

    def completed(self, names: Sequence[str]) -> NamedColumns:
        """Return the same with empty columns for the names that are not there."""
        absent = {name: np.full(len(self), np.nan) for name in names if name not in self._arrays}
        return NamedColumns({**self._arrays, **absent}, self.source, self._groups, self._place, self._hidden)

    def labels(self, name: str) -> list[str]:
        """Return one column as words."""
        return [str(value) for value in self._arrays[name]]

    def numbers(self, names: Sequence[str]) -> FloatArray:
        """Return some columns side by side, (n, d); empty cells are NaN."""
        if not names:
            return np.empty((len(self), 0))
        return np.stack([self._parsed(name, read_number) for name in names], axis=1)

    def times(self, name: str) -> tuple[FloatArray, bool]:
        """Return a column of times, and whether they are dates: these become seconds since 1970."""
        column = self._arrays[name]
        if column.dtype.kind == "M":
            seconds = column.astype("datetime64[us]").astype(np.int64) * 1e-6
            return np.where(np.isnat(column), np.nan, seconds), True
        if column.dtype.kind == "U" and is_date(next((cell for cell in column if not is_missing(cell)), "")):
            return self._parsed(name, read_date), True
        return self._parsed(name, read_number), False

    def where(self, row: int, name: str) -> str:
        """Describe where a cell stands."""
        return f"{self.source}, {self._place(row)}, column {name!r}"

    def _parsed(self, name: str, read: Callable[[str], float]) -> FloatArray:
        column = self._arrays[name]
        if column.dtype.kind in "biuf":
            return np.asarray(column, dtype=np.float64)
        values = np.empty(len(column))
        for row, cell in enumerate(column):
            try:
                values[row] = read(str(cell))
            except ValueError as error:
                raise ValueError(f"{self.where(row, name)}: {error}.") from None
        return values


def choose(
    wanted: Sequence[str],
    names: Sequence[str],
    *,
    source: str,
    role: str,
    groups: dict[str, list[str]] | None = None,
    taken: Collection[str] = (),
) -> list[str]:
    """Return the columns referred to by name, by pattern (``beacon_*``), or several separated by commas.

    Examples
    --------
    >>> choose(["x,y", "s*"], ["s1", "s2", "x", "y"], source="walk.csv", role="observation")
    ['x', 'y', 's1', 's2']
    """
    found: list[str] = []
    for word in wanted:
        for part in [word] if word in names or word in (groups or {}) else word.split(","):
            matching = _matching(part.strip(), names, groups or {})
            if not matching:
                free = [name for name in (*names, *(groups or {})) if name not in found and name not in taken]
                raise ValueError(f"{source} has no column {part.strip()!r} for the {role}; {_hint(part, names, free)}")
            found += matching
    twice = [name for name in found if found.count(name) > 1]
    if twice:
        raise ValueError(f"the column {twice[0]!r} of {source} is named twice as {role}.")
    return found


def lacks(wanted: Sequence[str], names: Sequence[str]) -> bool:
    """Say whether names and patterns refer to none of some columns.

    Examples
    --------
    >>> lacks(["px_*", "depth"], ["x", "rssi_1"]), lacks(["px_*", "depth"], ["x", "depth"])
    (True, False)
    """
    parts = [part.strip() for word in wanted for part in ([word] if word in names else word.split(","))]
    return not any(fnmatchcase(name, part) or name == part for part in parts for name in names)


def _matching(word: str, names: Sequence[str], groups: dict[str, list[str]]) -> list[str]:
    if word in names:
        return [word]
    return groups[word] if word in groups else [name for name in names if fnmatchcase(name, word)]


def _hint(word: str, names: Sequence[str], free: Sequence[str]) -> str:
    """Suggest a column that is not in use, or say what there is."""
    word = word.strip()
    otherwise = [name for name in free if fnmatchcase(name.lower(), word.lower())]
    if otherwise:  # but for upper and lower case
        return f"did you mean {otherwise[0]!r}{', ...' if len(otherwise) > 1 else ''}? Upper and lower case differ."
    close = get_close_matches(word, free, n=1, cutoff=0.5)
    listed = ", ".join(name[:_LONGEST] for name in names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
    unnamed = " Its first line, which names the columns, holds numbers only." if all(map(_is_number, names)) else ""
    return f"did you mean {close[0]!r}?{unnamed}" if close else f"it has {printable(listed)}.{unnamed}"


def _is_number(name: str) -> bool:
    try:
        return read_number(name) == read_number(name)
    except ValueError:
        return False
