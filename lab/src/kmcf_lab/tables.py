"""Results as tables: one line per row of a cell, one column per quantity."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.support.atomic import write_atomically
from kmcf_lab.cells import Cell, Result, Row
from kmcf_lab.parquet import read_parquet, write_parquet
from kmcf_lab.versions import versions

_OF_CELL = ("seed_of_cell", "seconds", "version_of_cell")


def write_cells(path: Path, results: Sequence[Result]) -> Path:
    """Write every row of every cell to a tidy table, with the cell's seed and time.

    Parameters
    ----------
    path : Path
        The file. Parquet (``.parquet``) is compact and exact: versions, machine and the names of each study's
        coordinates stand once in its metadata. CSV repeats the versions in every line.
    results : sequence of Result
        The cells.

    Examples
    --------
    >>> import tempfile
    >>> one = Result(Cell("trial", {"n": 10}), ({"method": "mean", "error": 0.25},), seconds=0.5, version="0.2.0")
    >>> read_cells(write_cells(Path(tempfile.mkdtemp()) / "cells.parquet", [one])) == [one]
    True
    """
    made_with = list(dict.fromkeys(result.version for result in results))
    lines: list[Row] = []
    for result in results:
        common = {"seed_of_cell": result.cell.seed, "seconds": result.seconds}
        version = {"version_of_cell": result.version} if len(made_with) > 1 else {}
        lines += [{"study": result.cell.study, **row, **common, **version} for row in result.flat()]
    last = [name for name in _OF_CELL if lines and name in lines[0]]
    names = [*dict.fromkeys(key for line in lines for key in line if key not in _OF_CELL), *last]
    if path.suffix == ".parquet":
        coordinates: dict[str, dict[str, None]] = {}
        for result in results:
            coordinates.setdefault(result.cell.study, {}).update(dict.fromkeys(result.cell.coordinates))
        about = {**versions(), "kmcf": ", ".join(made_with)}
        studies = {study: list(found) for study, found in coordinates.items()}
        return write_parquet(path, lines, {**about, "coordinates": studies}, names)
    short = [{**line, "seconds": f"{line['seconds']:.4g}", **versions()} for line in lines]
    return write_csv(path, short, [*names, *versions()])


def read_cells(path: Path) -> list[Result]:
    """Read the cells of a Parquet file that :func:`write_cells` wrote; see there."""
    rows, about = read_parquet(path)
    if "coordinates" not in about or not all("seed_of_cell" in row for row in rows):
        raise ValueError(f"{path} is no table of cells: take one that kmcf reproduce or kmcf localize wrote.")
    results = []
    for _, group in groupby(rows, key=lambda row: row["seed_of_cell"]):
        lines = list(group)
        study, seconds = lines[0]["study"], lines[0]["seconds"]
        coordinates = {name: lines[0][name] for name in about["coordinates"][study] if name in lines[0]}
        left_out = {"study", *_OF_CELL, *coordinates}
        values = tuple({name: value for name, value in line.items() if name not in left_out} for line in lines)
        version = lines[0].get("version_of_cell", about["kmcf"])
        results.append(Result(Cell(study, coordinates), values, seconds, version))
    return results


def write_csv(path: Path, rows: Sequence[Row], names: Sequence[str]) -> Path:
    """Write rows as CSV, whole or not at all; where a row lacks a name, the cell is empty."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return write_atomically(path, buffer.getvalue())


def rows_of(results: Iterable[Result], study: str) -> list[Row]:
    """Collect the rows of one study with their coordinates."""
    return [row for result in results if result.cell.study == study for row in result.flat()]


def column(rows: Iterable[Row], name: str) -> FloatArray:
    """Return one quantity of all rows, (rows,)."""
    return np.array([row[name] for row in rows], dtype=np.float64)


def columns(rows: Iterable[Row], *names: str) -> FloatArray:
    """Return several quantities of all rows side by side, (rows, names).

    Examples
    --------
    >>> columns([{"x": 1, "y": 2, "z": 3}], "x", "z")
    array([[1., 3.]])
    """
    return np.array([[row[name] for name in names] for row in rows], dtype=np.float64)


def grid(rows: Sequence[Row], across: str, value: str, along: str = "repetition") -> tuple[FloatArray, FloatArray]:
    """Arrange a quantity by repetition and by another coordinate.

    Returns
    -------
    array (m,), array (R, m)
        The values of the coordinate in increasing order, and the quantity, NaN where a row is missing.

    Examples
    --------
    >>> rows = [{"n": n, "repetition": r, "error": n + r} for r in (0, 1) for n in (10, 20, 30)]
    >>> grid(rows, "n", "error")[1]
    array([[10., 20., 30.],
           [11., 21., 31.]])
    """
    places = sorted({float(row[across]) for row in rows})
    repetitions = sorted({row[along] for row in rows})
    values = np.full((len(repetitions), len(places)), np.nan)
    for row in rows:
        values[repetitions.index(row[along]), places.index(float(row[across]))] = row[value]
    return np.array(places), values


def chosen(rows: Iterable[Row], **coordinates: Any) -> list[Row]:
    """Keep the rows with these coordinates.

    Examples
    --------
    >>> chosen([{"n": 1, "x": 5}, {"n": 2, "x": 6}], n=2)
    [{'n': 2, 'x': 6}]
    """
    return [row for row in rows if all(row[key] == value for key, value in coordinates.items())]
