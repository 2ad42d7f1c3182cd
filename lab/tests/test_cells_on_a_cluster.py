"""Cells on a cluster of real processes: the same results, files that travel, workers and schedulers that die."""

import json
import os
import signal
import threading
import time
from functools import partial

import pytest
from lab_commands import invoke, succeed
from stand_ins import radio_folder

pytest.importorskip("distributed", reason="Dask (the extra kmcf[distributed]) is not installed")
import kmcf.distributed
from kmcf_lab import cells as module
from kmcf_lab.cells import Cell, WithFiles, run_cells
from kmcf_lab.resampling import study as resampling
from kmcf_lab.tables import read_cells

pytestmark = pytest.mark.slow  # whole clusters

CELLS = [Cell("trial", {"repetition": r}) for r in range(12)]


def computation():
    """Return a function that travels by value, since workers cannot import this module."""

    def compute(cell, folder=None):
        time.sleep(0.05)
        if folder is not None:
            (folder / f"{cell.digest[:4]}.txt").write_text(cell.study)
        return [{"value": float(cell.generator().normal())}]

    return compute


def values(results):
    return [result.rows[0]["value"] for result in results]


@pytest.fixture(scope="module")
def client():
    with kmcf.distributed.connect(workers=2) as client:
        yield client


@pytest.mark.slow
def test_a_killed_worker_costs_time_and_no_results(client, tmp_path):
    victim = next(iter(client.run(os.getpid).values()))
    killer = threading.Timer(0.1, os.kill, (victim, signal.SIGKILL))
    killer.start()
    found = run_cells(CELLS, computation(), tmp_path)
    killer.join()
    assert values(found) == [cell.generator().normal() for cell in CELLS]
    for cell in CELLS:
        assert json.loads(cell.path(tmp_path).read_text())["seed"] == cell.seed


@pytest.mark.usefixtures("client")
def test_files_of_a_computation_come_here(tmp_path):
    run_cells(CELLS[:2], WithFiles(computation()), tmp_path)
    texts = {path.read_text() for path in tmp_path.glob("*.txt")}
    assert texts == {"trial"}
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.usefixtures("client")
def test_other_versions_of_the_laboratory_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "lab_version", "0.0.1")
    with pytest.raises(RuntimeError, match=r"has kmcf_lab .*, but this machine has 0\.0\.1"):
        run_cells(CELLS, computation(), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("undrawn")
def test_commands_take_the_address_of_a_scheduler(client, tmp_path, monkeypatch):
    monkeypatch.setattr(resampling, "RIDGES", (1e-4, 1.0))
    words = ("reproduce", "resampling", "--quick", "--repetitions", "2", "--out", tmp_path / "study")
    succeed(*words, "--scheduler", client.scheduler.address)
    for one in read_cells(tmp_path / "study" / "cells.parquet")[::20]:
        assert [*one.rows] == resampling.compute(one.cell)
    walks = ("localize", "ble", "--path", radio_folder(tmp_path), "--methods", "knn-pf", "--folds", "walk_2")
    succeed(*walks, "--trials", "1", "--out", tmp_path / "walks", "--scheduler", client.scheduler.address)
    trials = list((tmp_path / "walks" / "cells").glob("*.jsonl"))
    assert len(trials) == 3  # those of the tuning came back, too, a file for each way to read the strengths
    assert len(read_cells(tmp_path / "walks" / "steps.parquet")) == 1


def test_a_scheduler_that_cannot_be_reached(tmp_path, monkeypatch):
    monkeypatch.setattr(kmcf.distributed, "connect", partial(kmcf.distributed.connect, patience=0.5))
    for words in (("reproduce", "resampling", "--quick"), ("localize", "ble")):
        result = invoke(*words, "--out", tmp_path, "--scheduler", "tcp://127.0.0.1:1")
        assert result.exit_code == 1
        assert "no scheduler answers at 'tcp://127.0.0.1:1' within 0.5 s" in " ".join(result.stderr.split())


@pytest.mark.slow
def test_a_scheduler_that_dies_leaves_what_is_finished(tmp_path):
    with pytest.raises(ConnectionError, match="does not answer any more") as error:
        lose_the_scheduler(tmp_path)
    kept = [cell for cell in CELLS if cell.path(tmp_path).is_file()]
    assert 0 < len(kept) < len(CELLS)
    assert error.value.__notes__ == [f"{len(kept)} of {len(CELLS)} cells are kept in {tmp_path}"]
    before = {cell.path(tmp_path): cell.path(tmp_path).read_bytes() for cell in kept}
    found = run_cells(CELLS, computation(), tmp_path, resume=True)
    assert values(found) == [cell.generator().normal() for cell in CELLS]
    assert {path: path.read_bytes() for path in before} == before


def lose_the_scheduler(folder):
    """Kill the scheduler when the first result is here."""
    begin = time.monotonic()
    try:
        with kmcf.distributed.connect(workers=1) as client:
            scheduler = client.run_on_scheduler(os.getpid)

            def kill():
                while not list(folder.glob("*.json")):
                    time.sleep(0.01)
                os.kill(scheduler, signal.SIGKILL)

            threading.Thread(target=kill).start()
            run_cells(CELLS, computation(), folder)
    finally:
        assert time.monotonic() - begin < 30
