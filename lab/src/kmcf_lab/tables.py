"""Results as tables: one line per row of a cell, one column per quantity."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.support.atomic import write_atomically
from kmcf_lab.cells import Result, Row
from kmcf_lab.versions import versions


def write_cells(path: Path, results: Sequence[Result]) -> Path:
    """Write every row of every cell to a tidy CSV, with the seed, the time and the versions."""
    about = versions()
    lines: list[dict[str, Any]] = []
    for result in results:
        common = {"seed_of_cell": result.cell.seed, "seconds": f"{result.seconds:.4g}", **about}
        lines += [{"study": result.cell.study, **row, **common} for row in result.flat()]
    keys = dict.fromkeys(key for line in lines for key in line)
    order = [key for key in keys if key not in ("seed_of_cell", "seconds", *about)]
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, [*order, "seed_of_cell", "seconds", *about], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
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
