"""Tables of cells."""

import csv
from pathlib import Path

import numpy as np
import pytest

from kmcf_lab.cells import Cell, Result
from kmcf_lab.parquet import read_parquet, write_parquet
from kmcf_lab.tables import chosen, column, columns, grid, read_cells, rows_of, write_cells

PUBLISHED = Path(__file__).parents[2] / "docs" / "results"
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


def test_a_parquet_file_holds_the_same_rows_and_the_versions_once(tmp_path):
    pandas = pytest.importorskip("pandas")
    made = results()
    path = write_cells(tmp_path / "cells.parquet", made)
    frame, plain = pandas.read_parquet(path), pandas.read_csv(write_cells(tmp_path / "cells.csv", made))
    versions = ["kmcf", "python", "numpy", "scipy", "machine"]
    pandas.testing.assert_frame_equal(frame, plain.drop(columns=versions), check_dtype=False, rtol=0, atol=0)
    assert not set(versions) & set(frame)
    about = read_parquet(path)[1]
    assert about["kmcf"] == "0"  # the version that computed the cells
    assert about["numpy"] == np.__version__


@pytest.mark.parametrize("version", ["0", "1"])  # all cells by one version, or not
def test_cells_come_back_as_they_were_written(tmp_path, version):
    rows = ({"error": 0.1 + 0.2, "kind": "a", "sure": True, "none": "", "hits": 3}, {"error": np.inf, "extra": -1})
    bare = Result(Cell("other", {"ridge": 1e-8, "word": "5", "n": 10, "flag": False}), rows, 1 / 3, version)
    partly = [Result(Cell("other", {"ridge": 2.0}), ({"error": 5e-324},), 1e-9, "0"), bare]
    path = write_cells(tmp_path / "cells.parquet", [*partly])
    assert read_cells(path) == partly
    assert [one.cell.digest for one in read_cells(path)] == [one.cell.digest for one in partly]
    assert path.read_bytes() == write_cells(tmp_path / "again.parquet", read_cells(path)).read_bytes()


@pytest.mark.parametrize("about", [{}, {"coordinates": {}}])
def test_tables_of_something_else_are_refused(tmp_path, about):
    path = write_parquet(tmp_path / "other.parquet", [{"n": 10}], about)
    with pytest.raises(ValueError, match=r"other\.parquet is no table of cells"):
        read_cells(path)


def test_not_a_number_and_nothing_are_different_and_mixed_columns_survive(tmp_path):
    rows = [
        {"x": np.nan, "mixed": 1, "large": 2**70},
        {"mixed": "one"},
        {"x": np.int64(2), "mixed": [1.5, None]},
        {"x": None},
    ]
    again, about = read_parquet(write_parquet(tmp_path / "rows.parquet", rows, {"ε": [1, "a"]}))
    assert np.isnan(again[0].pop("x"))
    assert again == [{"mixed": 1, "large": 2**70}, {"mixed": "one"}, {"x": 2.0, "mixed": [1.5, None]}, {}]
    assert about == {"ε": [1, "a"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sorted(PUBLISHED.rglob("*.parquet")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_published_cells_have_the_seeds_of_their_coordinates(path):
    rows, about = read_parquet(path)
    seeds = [row["seed_of_cell"] for row in rows]
    assert about["kmcf"]
    for result in read_cells(path):
        assert result.cell.seed in seeds  # a changed number, or type, of a coordinate gives another seed
    assert len({one.cell.seed for one in read_cells(path)}) == len(set(seeds))


def test_published_cells_are_compact():
    files = sorted(PUBLISHED.rglob("*.parquet"))
    assert len(files) >= 5
    assert sum(path.stat().st_size for path in files) / sum(len(read_parquet(path)[0]) for path in files) < 100
    for path in (one for end in ("csv", "json") for one in PUBLISHED.rglob(f"*.{end}")):
        assert path.stat().st_size < 60_000, f"{path.name} has many rows: publish it as Parquet"


def test_rows_can_be_chosen_and_arranged():
    rows = chosen(rows_of(results(), "trial"), method="mean")
    places, arranged = grid(rows, "n", "value")
    assert places.tolist() == [10.0, 20.0]
    assert arranged.shape == (3, 2)
    assert sorted(arranged.ravel()) == sorted(column(rows, "value"))
    np.testing.assert_array_equal(columns(rows, "n", "value")[:, 1], column(rows, "value"))
    assert rows_of(results(), "other") == []
