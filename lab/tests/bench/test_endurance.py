"""Endurance: what holds is counted, and what does not is found."""

import json

import numpy as np
import pytest

import kmcf
from kmcf.store import FileError
from kmcf_lab.bench import endurance, endurance_cases, endurance_files, endurance_runs, endurance_stops
from kmcf_lab.bench.endurance import EnduranceRow, Sizes, as_markdown, measure_endurance
from kmcf_lab.bench.endurance_cases import Endured

pytestmark = pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")


def all_held(endured, tried):
    assert (endured.tried, endured.held, endured.failures) == (tried, tried, [])
    return True


@pytest.mark.slow
def test_runs_hold():
    assert all_held(endurance_runs.long_run(120), 120)
    assert all_held(endurance_runs.in_threads(3, workers=3), 3)


@pytest.mark.slow
def test_a_run_that_differs_is_found(monkeypatch):
    flt = endurance_cases.fitted()
    step = type(flt).step
    calls = []

    def wrong(self, belief, y, control=None):
        calls.append(y)
        return step(self, belief, y + 0.5 if len(calls) == 7 else y, control)

    monkeypatch.setattr(type(flt), "step", wrong)
    endured = endurance_runs.long_run(30)
    assert endured.failures[0] == "step 7 differs from the batch"
    runs = [flt.filter(np.zeros((4, 1)) + k) for k in range(2)]
    assert endurance_runs._compared(runs, runs[::-1]).held == 0


@pytest.mark.slow
@pytest.mark.skipif(endurance_stops.FORKS != "fork", reason="starting programs anew takes long")
# An interrupt may hit while Python deletes an object, which it then only reports: that is what is counted here.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_stops_hold():
    assert all_held(endurance_stops.killed_saves(2), 2)
    assert all_held(endurance_stops.stopped_studies(2), 2)
    assert all_held(endurance_stops.interrupted_runs(2), 2)


def test_studies_that_are_not_whole_are_found(tmp_path):
    path = tmp_path / "s.jsonl"
    trial = {"number": 0, "status": "complete", "value": 1.0}
    for lines, problem in (
        ([{}, trial], ""),
        ([{}, {**trial, "status": "failed"}], "line 2 holds trial 0, failed"),
        ([{}, {**trial, "number": 1}], "line 2 holds trial 1, complete"),
    ):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert endurance_stops._unreadable(path) == problem
    path.write_text('{}\n{"numb\n')
    assert endurance_stops._unreadable(path) == "line 2 is not whole"
    path.write_text('{}\n{"numb')  # the last line may be cut short
    assert endurance_stops._unreadable(path) == ""


def test_files_and_tables_hold():
    assert all_held(endurance_files.damaged_files(30), 30)
    assert all_held(endurance_files.sealed_files(30), 30)
    assert all_held(endurance_files.mutated_tables(30), 30)


def test_damage_that_passes_is_found(monkeypatch):
    monkeypatch.setattr(kmcf, "load", lambda *_, **__: None, raising=False)
    assert endurance_files.damaged_files(3).failures == ["it was loaded"] * 3

    def crash(*_, **__):
        raise KeyError("odd")

    monkeypatch.setattr(kmcf, "load", crash, raising=False)
    monkeypatch.setattr(endurance_files, "read_tables", crash)
    for endured in (endurance_files.sealed_files(2), endurance_files.mutated_tables(2)):
        assert endured.failures == ["KeyError: 'odd'"] * 2

    def refuse(*_, **__):
        raise FileError("no")

    monkeypatch.setattr(kmcf, "load", refuse, raising=False)
    assert endurance_files.damaged_files(3).held == 3


def test_the_table_names_what_failed(monkeypatch):
    trials = {"good": lambda sizes: Endured(sizes.steps, [], "fine"), "bad": lambda _: Endured(2, ["NaN"], "")}
    monkeypatch.setattr(endurance, "TRIALS", trials)
    rows = measure_endurance(Sizes(steps=5), report=lambda _: None)
    assert [(row.tried, row.held, row.first_failure) for row in rows] == [(5, 5, ""), (2, 1, "NaN")]
    page = as_markdown([EnduranceRow("steps", 5, 4, "1 MB", "NaN", 2.0)], "kmcf bench endurance")
    assert "    kmcf bench endurance\n" in page
    assert "| steps | 5 | 4 | 1 MB | 2 |" in page
    assert "- steps: NaN" in page


def test_quick_is_less():
    quick, full = Sizes.quick(), Sizes()
    assert all(getattr(quick, name) < getattr(full, name) for name in vars(full))
    assert full.steps == 100_000
