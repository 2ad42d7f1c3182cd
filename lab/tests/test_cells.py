"""Cells: seeds, parallel runs, resuming after a kill."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from kmcf_lab import cells as module
from kmcf_lab.cells import Cell, run_cells

CELLS = [Cell("trial", {"n": n, "repetition": r}) for n in (10, 20) for r in range(3)]
CALLS = []


def compute(cell):
    CALLS.append(cell.digest)
    draws = cell.generator().normal(size=int(cell.coordinates["n"]))
    return [{"method": "mean", "value": draws.mean()}, {"method": "nothing", "value": np.nan}]


def values(results):
    return [[row["value"] for row in result.rows] for result in results]


@pytest.fixture(autouse=True)
def _forget_calls():
    CALLS.clear()


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "backend"), [(1, "loky"), (2, "threading"), (2, "loky")])
def test_results_depend_on_neither_order_nor_workers(tmp_path, jobs, backend):
    plain = run_cells(CELLS, compute, tmp_path / "a")
    other = run_cells(CELLS[::-1], compute, tmp_path / "b", jobs=jobs, backend=backend)[::-1]
    np.testing.assert_array_equal(values(plain), values(other))
    expected = np.random.default_rng(CELLS[4].seed).normal(size=20).mean()
    assert plain[4].rows[0]["value"] == expected


def count_threads(cell):
    return [{"threads": max(library["num_threads"] for library in threadpool_info())}]


def test_a_cell_computes_on_one_thread(tmp_path):
    with threadpool_limits(2):
        (result,) = run_cells(CELLS[:1], count_threads, tmp_path)
    assert result.rows[0]["threads"] == 1


def test_seeds_differ_between_cells_and_studies():
    seeds = {cell.seed for cell in CELLS} | {Cell("other", CELLS[0].coordinates).seed}
    assert len(seeds) == len(CELLS) + 1
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_resuming_computes_only_what_is_missing(tmp_path):
    first = run_cells(CELLS[:4], compute, tmp_path)
    CALLS.clear()
    again = run_cells(CELLS, compute, tmp_path, resume=True)
    assert sorted(CALLS) == sorted(cell.digest for cell in CELLS[4:])
    np.testing.assert_array_equal(values(again)[:4], values(first))
    assert [result.seconds for result in again[:4]] == [result.seconds for result in first]


def test_without_resume_everything_is_computed_again(tmp_path):
    for _ in range(2):
        CALLS.clear()
        run_cells(CELLS, compute, tmp_path)
        assert len(CALLS) == len(CELLS)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"rows": 3}', '{"rows": [], "seconds": "x"}'])
def test_damaged_files_are_computed_again(tmp_path, damage):
    run_cells(CELLS[:1], compute, tmp_path)
    CELLS[0].path(tmp_path).write_text(damage)
    CALLS.clear()
    run_cells(CELLS[:1], compute, tmp_path, resume=True)
    assert len(CALLS) == 1


def test_another_version_is_computed_again(tmp_path, monkeypatch):
    run_cells(CELLS[:1], compute, tmp_path)
    monkeypatch.setattr(module, "__version__", "another")
    CALLS.clear()
    run_cells(CELLS[:1], compute, tmp_path, resume=True)
    assert len(CALLS) == 1


def test_known_results_are_taken_as_they_are_unless_newer_ones_are_there(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(module, "__version__", "older")
        known = run_cells(CELLS[:3], compute, tmp_path / "older")
    run_cells(CELLS[:1], compute, tmp_path / "newer")
    CALLS.clear()
    found = run_cells(CELLS[:2] + CELLS[4:], compute, tmp_path / "newer", resume=True, known=known)
    assert [cell.digest for cell in CELLS[4:]] == CALLS
    assert [one.version for one in found] == [module.__version__, "older", module.__version__, module.__version__]
    assert not CELLS[1].path(tmp_path / "newer").exists()


def fails_at_the_fourth(cell):
    if len(CALLS) == 3:
        raise RuntimeError("out of memory")
    return compute(cell)


def test_a_failure_keeps_what_is_finished(tmp_path):
    with pytest.raises(RuntimeError, match="out of memory"):
        run_cells(CELLS, fails_at_the_fourth, tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 3
    CALLS.clear()
    run_cells(CELLS, compute, tmp_path, resume=True)
    assert len(CALLS) == 3


SLOW = """
import time
from pathlib import Path
from kmcf_lab.cells import Cell, run_cells
def compute(cell):
    time.sleep(0.05)
    return [{"value": float(cell.generator().normal())}]
run_cells([Cell("slow", {"repetition": r}) for r in range(200)], compute, Path("FOLDER"))
"""


@pytest.mark.slow
def test_a_killed_run_leaves_whole_files_and_resumes(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", SLOW.replace("FOLDER", str(tmp_path))])
    limit = time.monotonic() + 60
    while len(list(tmp_path.glob("slow-*.json"))) < 5 and time.monotonic() < limit:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    finished = list(tmp_path.glob("slow-*.json"))
    assert 5 <= len(finished) < 200
    for path in finished:
        json.loads(path.read_text())
    before = {path.name: path.read_bytes() for path in finished}
    cells = [Cell("slow", {"repetition": r}) for r in range(200)]
    results = run_cells(cells, lambda cell: [{"value": float(cell.generator().normal())}], tmp_path, resume=True)
    assert {path.name: path.read_bytes() for path in finished} == before
    assert [result.rows[0]["value"] for result in results] == [np.random.default_rng(c.seed).normal() for c in cells]


def test_results_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(TypeError, match="cannot be written"):
        run_cells(CELLS[:1], lambda cell: [{"value": object()}], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"jobs": 0}, "jobs = 0"), ({"backend": "dask"}, "backend = 'dask'"), ({"cells": CELLS[:1] * 2}, "two cells")],
)
def test_bad_arguments_are_refused(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        run_cells(**{"cells": CELLS, "compute": compute, "folder": tmp_path, **arguments})


def test_no_cell_starts_after_the_time_is_up(tmp_path, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(module, "perf_counter", lambda: float(next(clock)))
    # The clock goes on by three per cell: once to ask for the time, twice to measure the cell itself.
    some = run_cells(CELLS, compute, tmp_path, seconds=8.0)
    assert 0 < len(some) < len(CELLS)
    assert [result.cell.digest for result in some] == CALLS
    CALLS.clear()
    again = run_cells(CELLS, compute, tmp_path, resume=True, seconds=0.0)
    assert CALLS == []
    assert [result.cell.digest for result in again] == [result.cell.digest for result in some]


def test_ctrl_c_in_compiled_code_stops_the_run(tmp_path):
    def compute(cell):
        if cell.coordinates["n"] == 2:
            raise SystemError("odd") from KeyboardInterrupt()
        return [{"value": 1.0}]

    cells = [Cell("stopped", {"n": n}) for n in range(4)]
    with pytest.raises(KeyboardInterrupt) as stop:
        run_cells(cells, compute, tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 2  # what was computed before is kept
    assert stop.value.__notes__ == [f"2 of 4 cells are kept in {tmp_path}"]
