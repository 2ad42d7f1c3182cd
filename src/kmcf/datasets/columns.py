"""Named columns of numbers from files that any program writes: CSV, Parquet, NPZ."""

from __future__ import annotations

import codecs
import csv
import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.support.extras import require

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})
"""Cells that stand for a missing number, whatever their case."""
DELIMITERS = ",;\t"
_LISTED = 15


class Columns:
    """Named columns of equal length.

    Parameters
    ----------
    arrays : dict
        Name to a one-dimensional array of numbers or of text.
    source : str
        Where they are from, for error messages.
    groups : dict, optional
        Names that stand for several columns.
    place : callable, optional
        Says where a row is to be found in the source: ``"line 7"``.
    """

    def __init__(
        self,
        arrays: dict[str, Any],
        source: str,
        groups: dict[str, list[str]] | None = None,
        place: Callable[[int], str] = lambda row: f"row {row + 1}",
    ) -> None:
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

    def chosen(self, wanted: Sequence[str], role: str) -> list[str]:
        """Return the names of the columns meant by names, patterns and lists of names."""
        return choose(wanted, self.names, source=self.source, role=role, groups=self._groups)

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
            return column.astype("datetime64[us]").astype(np.int64) * 1e-6, True
        if column.dtype.kind == "U" and is_date(column[0]):
            return self._parsed(name, read_date), True
        return self._parsed(name, read_number), False

    def where(self, row: int, name: str) -> str:
        """Say where a cell is to be found."""
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
    wanted: Sequence[str], names: Sequence[str], *, source: str, role: str, groups: dict[str, list[str]] | None = None
) -> list[str]:
    """Return the columns meant: by name, by pattern (``beacon_*``), or several separated by commas.

    Examples
    --------
    >>> choose(["x,y", "s*"], ["s1", "s2", "x", "y"], source="walk.csv", role="observation")
    ['x', 'y', 's1', 's2']
    """
    found: list[str] = []
    for word in wanted:
        for part in [word] if word in names or word in (groups or {}) else word.split(","):
            found += _one_choice(part.strip(), names, source, role, groups or {})
    twice = [name for name in found if found.count(name) > 1]
    if twice:
        raise ValueError(f"the column {twice[0]!r} of {source} is named twice as {role}.")
    return found


def _one_choice(word: str, names: Sequence[str], source: str, role: str, groups: dict[str, list[str]]) -> list[str]:
    if word in names:
        return [word]
    if word in groups:
        return groups[word]
    matching = [name for name in names if fnmatchcase(name, word)]
    if matching:
        return matching
    close = get_close_matches(word, [*names, *groups], n=1, cutoff=0.5)
    listed = ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
    hint = f"did you mean {close[0]!r}?" if close else f"it has {listed}."
    raise ValueError(f"{source} has no column {word!r} for the {role}; {hint}")


def read_number(cell: str) -> float:
    """Return the number in a cell, NaN where it is missing.

    Examples
    --------
    >>> read_number(" 1.5 "), read_number("NA")
    (1.5, nan)
    """
    text = cell.strip()
    if text.lower() in MISSING:
        return float("nan")
    try:
        if "_" in text:  # Python would read 1_000
            raise ValueError
        return float(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a number") from None


def is_date(cell: str) -> bool:
    """Say whether a cell holds a date rather than a number."""
    try:
        float(cell)
    except ValueError:
        try:
            datetime.fromisoformat(cell.strip())
        except ValueError:
            return False
        return True
    return False


def read_date(cell: str) -> float:
    """Return a date and time (ISO 8601; UTC where it does not say) as seconds since 1970.

    Examples
    --------
    >>> read_date("1970-01-01T00:01:00.5"), write_date(60.5)
    (60.5, '1970-01-01T00:01:00.500000+00:00')
    """
    try:
        moment = datetime.fromisoformat(cell.strip())
    except ValueError:
        raise ValueError(f"{cell.strip()[:40]!r} is not a date") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def write_date(seconds: float) -> str:
    """Return seconds since 1970 as a date and time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def read_columns(path: Path, encoding: str = "utf-8") -> Columns:
    """Read a CSV file (a header line; commas, semicolons or tabs), a Parquet file or an NPZ archive.

    Parameters
    ----------
    path : Path
        ``.npz`` is read as an archive, ``.parquet`` as Parquet, anything else as CSV.
    encoding : str
        Of text in CSV files.
    """
    if not path.is_file():
        raise ValueError(f"there is no file {path}.")
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty.")
    readers = {".npz": _read_npz, ".parquet": _read_parquet}
    reader = readers.get(path.suffix.lower())
    columns = _read_csv(path, encoding) if reader is None else reader(path)
    if not columns.names or len(columns) == 0:
        raise ValueError(f"{path} holds no rows.")
    return columns


def column_names(path: Path, encoding: str = "utf-8") -> list[str]:
    """Return the names in a file without reading the rest, where the format allows."""
    ending = path.suffix.lower()
    if ending in (".npz", ".parquet") or not path.is_file():
        return read_columns(path, encoding).names
    with path.open("rb") as file:
        return next(csv_rows(file, encoding, path.name), (0, []))[1]


def _read_npz(path: Path) -> Columns:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: np.atleast_1d(archive[name]) for name in archive.files}
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} cannot be read as an archive of plain arrays: {error}.") from None
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the arrays in {path} have different lengths: {lengths}.")
    flat: dict[str, Any] = {}
    groups: dict[str, list[str]] = {}
    for name, array in arrays.items():
        if array.ndim == 1:
            flat[name] = array
        else:
            rows = array.reshape(len(array), -1)
            groups[name] = [f"{name}_{j}" for j in range(rows.shape[1])]
            flat |= {column: rows[:, j] for j, column in enumerate(groups[name])}
    return Columns(flat, path.name, groups)


def _read_parquet(path: Path) -> Columns:
    parquet = require("pyarrow.parquet", "tables")
    try:
        table = parquet.read_table(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as Parquet: {error}.") from None
    columns = {name: table.column(name).to_pandas().to_numpy() for name in table.column_names}
    for name, column in columns.items():
        if column.dtype.kind == "O":
            columns[name] = np.array(["" if cell is None else str(cell) for cell in column], dtype=str)
    return Columns(columns, path.name)


def _read_csv(path: Path, encoding: str) -> Columns:
    with path.open("rb") as file:
        lines = csv_rows(file, encoding, path.name)
        header = next(lines, (0, []))[1]
        rows = list(lines)
    columns = list(zip(*(cells for _, cells in rows), strict=True))
    arrays = {name: np.array(columns[j], dtype=str) for j, name in enumerate(header)} if rows else {}
    return Columns(arrays, path.name, place=lambda row: f"line {rows[row][0]}")


def csv_rows(file: Any, encoding: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells, the header first, as the lines come in.

    Parameters
    ----------
    file : binary file
        Read no further than the next line.
    encoding : str
        Of the text.
    source : str
        What the file is called.
    """
    number = 0
    header: list[str] = []
    lines = _text_lines(file, encoding)
    try:
        first = next(lines, "")
        delimiter = max(DELIMITERS, key=first.count)
        reader = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
        for row in reader:
            number = reader.line_num
            if not row or (len(row) == 1 != len(header) and not row[0].strip()):
                continue  # a blank line; commas alone are a row of missing numbers
            if not header:
                header = _checked_header(row, source)
                yield number, header
            elif len(row) != len(header):
                raise ValueError(f"{source}, line {number} has {len(row)} cells, but the header has {len(header)}.")
            else:
                yield number, row
    except UnicodeError:
        raise ValueError(
            f"{source} is not encoded in {encoding} (after line {number}); save it as UTF-8, or name its encoding, for "
            "instance latin-1."
        ) from None
    except csv.Error as error:
        raise ValueError(f"{source}, line {number + 1} is no line of a table: {error}.") from None


def _text_lines(file: Any, encoding: str) -> Iterator[str]:
    """Decode line by line, so that what comes before a wrong byte is not held back."""
    try:
        codec = codecs.lookup(encoding).name
    except LookupError:
        raise ValueError(f"there is no encoding {encoding!r}; utf-8, utf-16 and latin-1 are common.") from None
    if codec.startswith(("utf-16", "utf-32")):  # whose ends of lines are no single bytes
        text = io.TextIOWrapper(file, codec, newline="")
        try:
            yield from iter(text.readline, "")
        finally:
            text.detach()  # the file is its owner's to close
    else:
        for number, line in enumerate(iter(file.readline, b"")):
            yield line.decode("utf-8-sig" if number == 0 and codec == "utf-8" else codec)


def _checked_header(row: list[str], source: str) -> list[str]:
    header = [name.strip() for name in row]
    for name in header:
        if not name or header.count(name) > 1:
            raise ValueError(f"{source} has {f'two columns {name!r}' if name else 'a column without a name'}.")
    return header
