"""Columns of numbers from files: CSV with a header line, or NPZ archives of NumPy arrays."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.arrays import FloatArray


class Columns:
    """Named columns of equal length.

    Parameters
    ----------
    arrays : dict
        Name to an array whose first axis counts the rows.
    source : str
        Where they are from, for error messages.
    """

    def __init__(self, arrays: dict[str, Any], source: str) -> None:
        self._arrays = arrays
        self._source = source

    def __len__(self) -> int:
        return len(next(iter(self._arrays.values())))

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self._arrays)

    def labels(self, name: str) -> list[str]:
        """Return one column as words."""
        return [str(value) for value in self._one(name)]

    def numbers(self, names: Sequence[str]) -> FloatArray:
        """Return some columns side by side, (n, d); empty cells are NaN."""
        parts = []
        for name in names:
            column = self._one(name)
            try:
                values = np.array([_number(v) for v in column]) if column.dtype.kind in "UO" else column.astype(float)
            except ValueError as error:
                raise ValueError(f"column {name!r} of {self._source} does not hold numbers: {error}.") from None
            parts.append(values.reshape(len(values), -1))
        return np.concatenate(parts, axis=1)

    def _one(self, name: str) -> Any:
        if name in self._arrays:
            return self._arrays[name]
        close = get_close_matches(name, self.names, n=1, cutoff=0.0)
        raise ValueError(f"{self._source} has no column {name!r} (nearest: {close[0]!r}).")


def read_columns(path: Path) -> Columns:
    """Read a CSV file (one header line, commas) or an NPZ archive.

    Parameters
    ----------
    path : Path
        The file; ``.npz`` is read as an archive, anything else as CSV.
    """
    if not path.is_file():
        raise ValueError(f"there is no file {path}.")
    arrays = _read_npz(path) if path.suffix.lower() == ".npz" else _read_csv(path)
    lengths = {name: len(array) for name, array in arrays.items()}
    if not arrays or 0 in lengths.values():
        raise ValueError(f"{path} holds no rows.")
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the arrays in {path} have different lengths: {lengths}.")
    return Columns(arrays, path.name)


def _read_npz(path: Path) -> dict[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: np.atleast_1d(archive[name]) for name in archive.files}
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} cannot be read as an archive of plain arrays: {error}.") from None


def _read_csv(path: Path) -> dict[str, Any]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row]
    if not rows:
        return {}
    header = [name.strip() for name in rows[0]]
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise ValueError(f"row {number} of {path} has {len(row)} cells, but the header has {len(header)}.")
    return {name: np.array([row[j] for row in rows[1:]], dtype=str) for j, name in enumerate(header)}


def _number(cell: Any) -> float:
    return float(cell) if str(cell).strip() else float("nan")
