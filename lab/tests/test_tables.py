"""Tables of cells."""

import csv

import numpy as np

from kmcf_lab.cells import Cell, Result
from kmcf_lab.tables import chosen, column, columns, grid, rows_of, write_cells

CELLS = [Cell("trial", {"n": n, "repetition": r}) for n in (10, 20) for r in range(3)]


def results():
    """A mean and a missing value for every cell."""
    made = []
    for cell in CELLS:
        value = cell.generator().normal()
        rows = ({"method": "mean", "value": value}, {"method": "nothing", "value": np.nan})
        made.append(Result(cell, rows, 0.5, "0"))
    return made


def test_the_table_is_tidy(tmp_path):
    made = results()
    with write_cells(tmp_path / "cells.csv", made).open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 2 * len(CELLS)
    assert list(lines[0])[:5] == ["study", "n", "repetition", "method", "value"]
    assert {"seed_of_cell", "seconds", "kmcf", "numpy", "scipy", "python"} <= set(lines[0])
    assert float(lines[0]["value"]) == made[0].rows[0]["value"]
    assert int(lines[-1]["seed_of_cell"]) == CELLS[-1].seed


def test_rows_can_be_chosen_and_arranged():
    rows = chosen(rows_of(results(), "trial"), method="mean")
    places, arranged = grid(rows, "n", "value")
    assert places.tolist() == [10.0, 20.0]
    assert arranged.shape == (3, 2)
    assert sorted(arranged.ravel()) == sorted(column(rows, "value"))
    np.testing.assert_array_equal(columns(rows, "n", "value")[:, 1], column(rows, "value"))
    assert rows_of(results(), "other") == []
