"""Files with named columns, as any program writes them: CSV, Parquet, NPZ."""

from __future__ import annotations

import codecs
import csv
import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.datasets.bags import read_bag
from kmcf.datasets.columns import NamedColumns
from kmcf.support.extras import require

DELIMITERS = ",;\t"
EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
SIGNATURES = {
    b"PK": "an archive; NPZ archives end in .npz",
    b"PAR1": "Parquet; its name must end in .parquet",
    b"\x93NUMPY": "one NumPy array; numpy.savez writes named ones",
    b"\x89HDF": "HDF5; kmcf.datasets reads NWB files of spikes from Python",
    b"\x1f\x8b": "compressed; unpack it first",
}
"""What files that are no tables begin with, and what they are."""
LONGEST = 1 << 26
"""No line has more bytes than this, or letters where letters have several bytes."""


def read_columns(path: Path, encoding: str = "utf-8") -> NamedColumns:
    """Read a CSV file (a header line; commas, semicolons or tabs), a Parquet file, an NPZ archive or an Excel sheet.

    Parameters
    ----------
    path : Path
        ``.npz`` is read as an archive, ``.parquet`` as Parquet, ``.mcap`` as a ROS 2 bag, ``.xlsx`` and its like by
        pandas, where it can read them (their first sheet), anything else as CSV.
    encoding : str
        Encoding of CSV files.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name its files, as in {path}/*.csv.")
    if not path.is_file():
        pattern = any(letter in path.name for letter in "*?[")
        if path.exists():
            raise ValueError(f"{path} is no ordinary file, and may be read only once: save what it gives as a file.")
        raise ValueError(f"no file matches {path}." if pattern else f"there is no file {path}.")
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty.")
    readers = {".npz": _read_npz, ".parquet": _read_parquet, ".mcap": read_bag, **dict.fromkeys(EXCEL, _read_excel)}
    reader = readers.get(path.suffix.lower())
    columns = _read_csv(path, encoding) if reader is None else reader(path)
    if not columns.names or len(columns) == 0:
        raise ValueError(f"{path} holds no rows below its header.")
    return columns


def column_names(path: Path, encoding: str = "utf-8") -> list[str]:
    """Return the names of the columns without reading the rest of the file, where the format allows."""
    ending = path.suffix.lower()
    if ending in (".npz", ".parquet", ".mcap", *EXCEL) or not path.is_file():
        return read_columns(path, encoding).names
    _check_text(path, encoding)
    with path.open("rb") as file:
        return next(csv_rows(file, encoding, path.name), (0, []))[1]


def _read_npz(path: Path) -> NamedColumns:
    try:
        with zipfile.ZipFile(path) as whole:  # np.load would take a file that is no archive for something else
            archive = np.load(path, allow_pickle=False)
            arrays = {name: np.atleast_1d(archive[name]) for name in archive.files if f"{name}.npy" in whole.namelist()}
            archive.close()
    except Exception as error:  # a damaged archive can fail in any way
        raise ValueError(f"{path} cannot be read as an archive of plain arrays: {_sentence(error)}.") from None
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
            twice = [column for column in groups[name] if column in arrays]
            if twice:
                raise ValueError(
                    f"{path} has an array {twice[0]!r} beside the array {name!r}, whose column {twice[0]!r} it could "
                    "be; rename one of them."
                )
            flat |= {column: rows[:, j] for j, column in enumerate(groups[name])}
    return NamedColumns(flat, path.name, groups)


def _read_parquet(path: Path) -> NamedColumns:
    parquet = require("pyarrow.parquet", "tables")
    try:
        table = parquet.read_table(path)
    except Exception as error:  # a damaged file can fail in any way
        raise ValueError(f"{path} cannot be read as Parquet: {_sentence(error)}.") from None
    return _of_frame({name: table.column(name).to_pandas() for name in table.column_names}, path)


def _read_excel(path: Path) -> NamedColumns:
    """Let pandas read the first sheet, with whatever packages it needs for the format."""
    advice = "save the sheet as CSV"
    try:
        frame = require("pandas", "tables").read_excel(path)
    except ImportError as error:
        raise ValueError(f"{path} is an Excel file: {_sentence(error)}; or {advice}.") from None
    except Exception as error:  # a damaged file can fail in any way
        raise ValueError(f"{path} cannot be read as an Excel file: {_sentence(error)}; {advice}.") from None
    return _of_frame({str(name): frame[name] for name in frame.columns}, path)


def _of_frame(series: dict[str, Any], path: Path) -> NamedColumns:
    """Return the columns of a data frame; words where a column is not of numbers or dates."""
    columns = {name: column.to_numpy() for name, column in series.items()}
    for name, column in columns.items():
        if column.dtype.kind == "O":
            columns[name] = np.array(["" if cell is None else str(cell) for cell in column], dtype=str)
    return NamedColumns(columns, path.name)


def _check_text(path: Path, encoding: str) -> None:
    """Refuse a file that is no text: it would be read as a table without rows, or as a wrong encoding."""
    with path.open("rb") as file:
        head = file.read(512)
    known = next((what for start, what in SIGNATURES.items() if head.startswith(start)), "")
    if known or (b"\0" in head and not encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32"))):
        wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        what = known or ("UTF-16 text; name its encoding: utf-16" if wide else "binary")
        raise ValueError(f"{path} is not a CSV, Parquet, NPZ or Excel file: it is {what}.")


def _sentence(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__


def _read_csv(path: Path, encoding: str) -> NamedColumns:
    _check_text(path, encoding)
    with path.open("rb") as file:
        lines = csv_rows(file, encoding, path.name)
        header = next(lines, (0, []))[1]
        rows = list(lines)
    columns = list(zip(*(cells for _, cells in rows), strict=True))
    arrays = {name: np.array(columns[j], dtype=str) for j, name in enumerate(header)} if rows else {}
    return NamedColumns(arrays, path.name, place=lambda row: f"line {rows[row][0]}")


def csv_rows(file: Any, encoding: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and cells, the header first, as the lines arrive.

    Parameters
    ----------
    file : binary file
        It is read no further than the next line.
    encoding : str
        Encoding of the text.
    source : str
        Name of the file, for error messages.
    """
    number = 0
    header: list[str] = []
    lines = _text_lines(file, encoding, source)
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
        raise ValueError(f"{source}, line {number + 1} is not a line of a table: {error}.") from None


def _text_lines(file: Any, encoding: str, source: str) -> Iterator[str]:
    """Decode line by line, so that a wrong byte does not hold back what precedes it."""
    try:
        codec = codecs.lookup(encoding).name
        with suppress(UnicodeError):
            b"a".decode(codec)  # which those that turn bytes into bytes refuse
    except (LookupError, ValueError):
        raise ValueError(f"there is no encoding {encoding!r}; utf-8, utf-16 and latin-1 are common.") from None
    if codec.startswith(("utf-16", "utf-32")):  # whose line ends are not single bytes
        text = io.TextIOWrapper(file, codec, newline="")
        try:
            yield from whole_lines(text.readline, "\n", source)
        finally:
            with suppress(ValueError):  # it is closed already
                text.detach()  # whoever opened the file closes it
    else:
        for number, line in enumerate(whole_lines(file.readline, b"\n", source)):
            yield line.decode("utf-8-sig" if number == 0 and codec == "utf-8" else codec)


def whole_lines(readline: Callable[[int], Any], end: str | bytes, source: str) -> Iterator[Any]:
    r"""Yield all lines; refuse one without an end, such as a device gives, before it takes all memory.

    Parameters
    ----------
    readline : callable
        Reads a line, or the beginning of one, of so many bytes or letters at most.
    end : str or bytes
        What lines end with.
    source : str
        What is read, for errors.

    Examples
    --------
    >>> list(whole_lines(io.BytesIO(b"a,b\n1,2").readline, b"\n", "stdin"))
    [b'a,b\n', b'1,2']
    """
    for number, line in enumerate(iter(partial(readline, LONGEST), end[:0]), start=1):
        if len(line) >= LONGEST and not line.endswith(end):
            raise ValueError(f"{source}, line {number} is longer than {LONGEST >> 20} MB, so this is no table.")
        yield line


def _checked_header(row: list[str], source: str) -> list[str]:
    header = [name.strip() for name in row]
    if len(set(header)) < len(header) and all(_is_number(name) for name in header):
        shown = ", ".join(header[:3]) + (", ..." if len(header) > 3 else "")
        raise ValueError(f"{source} has no header: its first line ({shown}) must hold the names of the columns.")
    for name in header:
        if not name or header.count(name) > 1:
            raise ValueError(f"{source} has {f'two columns {name!r}' if name else 'a column without a name'}.")
    return header


def _is_number(cell: str) -> bool:
    try:
        return np.isfinite(float(cell or "0"))
    except ValueError:
        return False


def first_incomplete(
    files: Sequence[Path],
    observation: str | Sequence[str],
    state: str | Sequence[str] = (),
    encoding: str = "utf-8",
    *,
    all_of_them: bool = True,
    excluded: str | Sequence[str] = (),
) -> str | None:
    """Say where the first observation stands that is partly missing, or infinite; None if there is none.

    Parameters
    ----------
    files, observation, state, encoding
        As for :func:`kmcf.datasets.read_tables`; rows whose state is unknown do not count.
    all_of_them : bool
        False: a file may lack some of the columns.
    excluded : str or list of str
        Columns that are not meant.
    """
    for path in files:
        columns = read_columns(Path(path), encoding).without(_words(excluded))
        wanted = [word for word in _words(observation) if all_of_them or not columns.lacks([word])]
        names = columns.chosen(wanted, "observation")
        values, states = columns.numbers(names), columns.numbers(columns.chosen(_words(state), "state"))
        known = np.isfinite(states).all(axis=1) & ~np.isnan(values).all(axis=1)
        rows = np.flatnonzero(known & ~np.isfinite(values).all(axis=1))
        if len(rows):
            return columns.where(int(rows[0]), names[int(np.flatnonzero(~np.isfinite(values[rows[0]]))[0])])
    return None


def first_unused(
    files: Sequence[Path],
    observation: str | Sequence[str],
    state: str | Sequence[str],
    encoding: str = "utf-8",
    *,
    excluded: str | Sequence[str] = (),
) -> str | None:
    """Say where the first row stands that is no example, for lack of a state or of an observation; None if all are."""
    for path in files:
        columns = read_columns(Path(path), encoding).without(_words(excluded))
        names = [
            columns.chosen(_words(words), role) for words, role in ((state, "state"), (observation, "observation"))
        ]
        states, values = (columns.numbers(some) for some in names)
        rows = np.flatnonzero(~np.isfinite(states).all(axis=1) | np.isnan(values).all(axis=1))
        if len(rows):
            empty = np.flatnonzero(~np.isfinite(states[rows[0]]))
            return columns.where(int(rows[0]), names[0][empty[0]] if len(empty) else names[1][0])
    return None


def _words(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
