"""``kmcf localize`` from the words a person types to the files they get."""

import csv
import json
import shutil
import sys

import numpy as np
import pytest
from browser import PLOT, needs_browser
from lab_commands import invoke, succeed
from stand_ins import cold_folder, mrclam_folder, radio_folder

import kmcf
from kmcf.report import Report
from kmcf_lab.commands.localize import Dataset
from kmcf_lab.localize.experiment import Experiment
from kmcf_lab.localize.registry import PROBLEMS
from kmcf_lab.parquet import read_parquet
from kmcf_lab.tables import read_cells

pytestmark = pytest.mark.slow  # whole studies

FIGURES = ("path", "errors", "iterations_accurate", "iterations_difficult")


@pytest.fixture(scope="module")
def walks(tmp_path_factory):
    """The words that follow three walks with three methods."""
    data = radio_folder(tmp_path_factory.mktemp("radio"))
    return ("localize", "ble", "--path", data, "--methods", "nai,kmcf,knn-pf")


@pytest.fixture(scope="module")
def finished(walks, tmp_path_factory):
    """A finished run, not to be changed, and what it printed."""
    out = tmp_path_factory.mktemp("out") / "folder"
    return out, succeed(*walks, "--out", out).output


def test_the_folder_holds_tables_figures_and_report(finished):
    out, output = finished
    for name in FIGURES:
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{name}.svg").read_text()
    assert f"saved {out / 'report.html'}" in output.replace("\n", "")
    assert [line.split()[0] for line in output.splitlines() if "±" in line and "means" not in line] == [
        "KMCF",
        "kNN-PF",
        "NAI",
    ]
    steps, about = read_parquet(out / "steps.parquet")
    assert len(steps) == 9 * 24
    assert about["kmcf"] == kmcf.__version__


def test_the_table_of_folds_follows_from_the_steps(finished):
    out, _ = finished
    rows, _ = read_parquet(out / "steps.parquet")
    steps = [row for row in rows if row["fold"] == "walk_1" and row["method"] == "kmcf"]
    with (out / "folds.csv").open() as file:
        (fold,) = (row for row in csv.DictReader(file) if row["fold"] == "walk_1" and row["method"] == "kmcf")
    distances = [np.hypot(r["x"] - r["true_x"], r["y"] - r["true_y"]) for r in steps]
    assert float(fold["mean"]) == pytest.approx(np.mean(distances[5:]))
    assert float(fold["share"]) == pytest.approx(np.mean(np.array(distances[5:]) < 1.0))
    cells = [one for one in read_cells(out / "folds.parquet") if one.cell.coordinates["fold"] == "walk_1"]
    (same,) = (one for one in cells if one.cell.coordinates["method"] == "kmcf")
    assert [str(same.rows[0][name]) for name in ("rmse", "mean", "share")] == [
        fold[k] for k in ("rmse", "mean", "share")
    ]


@pytest.mark.usefixtures("undrawn")
def test_a_run_goes_on_where_it_was_stopped(finished, walks, tmp_path):
    cells = sorted(shutil.copytree(finished[0] / "cells", tmp_path / "cells").glob("*.json"))
    kept = {path: path.read_bytes() for path in cells[2:]}
    cells[0].unlink()
    cells[1].write_text('{"half": ')
    succeed(*walks, "--out", tmp_path)
    assert sorted((tmp_path / "cells").glob("*.json")) == cells
    assert {path: path.read_bytes() for path in cells[2:]} == kept
    assert (tmp_path / "report.html").read_text().endswith("</html>\n")


@pytest.mark.usefixtures("undrawn")
def test_a_run_that_fails_at_the_end_leaves_no_report(walks, tmp_path):
    def fail(self):
        raise ValueError("the disk is full.")

    words = (*walks, "--folds", "walk_0", "--methods", "nai", "--out", tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Report, "html", fail)
        result = invoke(*words)
    assert result.exit_code == 1
    assert not list(tmp_path.glob("report*"))
    succeed(*words)
    assert (tmp_path / "report.html").is_file()


@pytest.mark.usefixtures("undrawn")
def test_numbers_for_programs(finished, walks, tmp_path):
    out = shutil.copytree(finished[0], tmp_path / "copy")
    found = json.loads(succeed(*walks, "--out", out, "--json").stdout)
    assert found["primary"] == "mean"
    means = [fold["mean"] for fold in found["folds"] if fold["method"] == "kmcf"]
    assert found["methods"]["kmcf"]["mean"]["value"] == pytest.approx(np.mean(means))
    assert str(out / "report.html") in found["files"]


@pytest.mark.usefixtures("undrawn")
def test_tuning_is_reported_and_kept(walks, tmp_path):
    words = (*walks, "--folds", "walk_0", "--trials", "3", "--methods", "knn-pf,nai", "--out", tmp_path)
    result = succeed(*words, "--json")
    tuned = {fold["method"]: fold["tuned"] for fold in json.loads(result.stdout)["folds"]}
    assert "n_neighbors = " in tuned["knn-pf"]
    assert tuned["nai"] == ""  # nothing to tune
    studies = list((tmp_path / "cells").glob("*.jsonl"))  # one for each way to read the strengths
    assert [len(study.read_text().splitlines()) for study in studies] == [2] * 3  # a header and a trial
    assert "no belief is shown" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mrclam",), "mrclam is not in the package: give --path"),
        (("mrclam", "--path", "nowhere"), "there is no file nowhere/Barcodes.dat"),
        (("intel", "--path", "nowhere.log"), "nowhere.log"),
        (("cold", "--path", "nowhere"), "there is no folder nowhere"),
        (("ble", "--path", "nowhere"), "nowhere holds no file"),
        (("building", "--path", "nowhere"), "needs no path"),
        (("ble", "--methods", "magic"), "there is no method 'magic'; choose among kmcf"),
        (("ble", "--folds", "walk_9"), "there is no fold 'walk_9'"),
        (("ble", "--show", "walk_9", "--folds", "straight_04", "--methods", "nai"), "no fold 'walk_9' to show"),
    ],
)
def test_bad_words_get_one_sentence(words, message, tmp_path):
    result = invoke("localize", *words, "--out", tmp_path)
    assert result.exit_code == 1
    assert message in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.output
    assert not list(tmp_path.glob("report*"))


def test_section_6_3_runs_on_a_folder_in_colds_layout(tmp_path):
    """The protocol from the command line: two draws, everything tuned, the paper's sentences, Figures 11 and 12."""
    pytest.importorskip("cv2")
    data, out = cold_folder(tmp_path / "cold", images=120), tmp_path / "out"
    words = ("localize", "cold", "--path", data, "--quick", "--trials", "2", "--repetitions", "2", "--out", out)
    succeed(*words, "--methods", "kmcf,kmcf-low50,kbr,knn-pf,nai")
    results = read_cells(out / "folds.parquet")
    kinds = {(one.cell.coordinates["method"], one.rows[0]["examples"]) for one in results}
    every = {"kmcf", "kbr", "knn-pf", "nai"}
    assert kinds == {*((name, n) for name in every for n in (20, 100)), ("kmcf-low50", 100)}
    assert {one.cell.coordinates["repetition"] for one in results} == {0, 1}
    chosen = {one.cell.coordinates["method"]: one.rows[0]["tuned"] for one in results}
    assert "rank" not in chosen["kmcf-low50"]
    assert "epsilon" in chosen["kmcf"]
    assert chosen["nai"] == ""
    for name in ("sizes", "errors", "path", "iterations_accurate"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    page = (out / "report.html").read_text()
    for claim in ("KMCF performs better than the KBR filter.", "At 2.27 s KMCF is competitive with kNN-PF."):
        assert claim in page
    assert "over 2 draws" in page


def test_filters_of_the_papers_protocol_are_calibrated_on_the_drive_for_tuning(tmp_path):
    """The examples drawn are no sequence; the second drive is one that the filter has never seen."""
    pytest.importorskip("cv2")
    experiment = Experiment("cold", cold_folder(tmp_path, images=120), quick=True, calibrated=True)
    fold, _ = experiment.folds()
    found = experiment.ready(fold.name, "kmcf").flt.calibration_
    (validation,) = (one for one in fold.tuning if one.name in fold.validation)
    assert not found.left_out
    assert 0 < found.count <= len(validation)


def test_the_papers_protocol_is_what_the_command_runs_by_itself(monkeypatch, tmp_path):
    asked = []

    def noted(experiment, *_, repetitions, **_more):
        asked.append((experiment.dataset, experiment.trials, repetitions))
        raise ValueError("enough")

    monkeypatch.setattr("kmcf_lab.localize.experiment.run_experiment", noted)
    data = cold_folder(tmp_path / "cold", images=120)
    for words in (("cold", "--path", data), ("cold", "--path", data, "--quick"), ("ble",)):
        assert invoke("localize", *words, "--out", tmp_path / "out").exit_code == 1
    assert asked == [("cold", 12, 20), ("cold", 0, 1), ("ble", 0, 1)]


def test_a_damaged_folder_is_named(tmp_path):
    folder = mrclam_folder(tmp_path / "data", seconds=70)
    (folder / "Robot3_Odometry.dat").write_text("# nothing\n")
    result = invoke("localize", "mrclam", "--path", folder, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "robot 3" in result.stderr


def test_the_names_typed_are_those_of_the_problems():
    assert [one.value for one in Dataset] == list(PROBLEMS)
    assert invoke("localize", "moon").exit_code == 2


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_workers_change_nothing(finished, walks, tmp_path):
    words = (*walks, "--folds", "walk_2", "--methods", "nai,knn-pf", "--out", tmp_path)
    result = succeed(*words, "--jobs", "2", "--json")
    with (finished[0] / "folds.csv").open() as file:
        alone = {row["method"]: float(row["mean"]) for row in csv.DictReader(file) if row["fold"] == "walk_2"}
    for fold in json.loads(result.stdout)["folds"]:
        assert fold["mean"] == alone[fold["method"]]


def test_without_matplotlib_nothing_is_computed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = invoke("localize", "ble", "--out", tmp_path)
    assert result.exit_code == 1
    assert "pip install 'kmcf[plot]'" in result.stderr
    assert not list(tmp_path.iterdir())


@needs_browser
def test_the_report_in_a_browser(finished, browser):
    page = finished[0] / "report.html"
    for width in (1200, 360):
        browser.open(page, width=width)
        assert browser.errors == []
        assert browser.overflow() <= 0
        assert [address for address in browser.requests if not address.startswith("data:")] == [page.as_uri()]
        headings = browser.evaluate("[...document.querySelectorAll('h2')].map(e => e.textContent)")
        assert headings == ["Results", "Path", "Belief", "Worst moments", "Settings"]
        ellipses = (
            f"[...document.querySelectorAll('figure:has(.canvas)')].map({PLOT}).flatMap(p => p.model.renderers)"
            ".filter(r => r.glyph.type === 'Ellipse').flatMap(r => [...r.data_source.data.x]).length"
        )
        assert browser.evaluate(ellipses) > 10
        assert browser.evaluate("document.querySelectorAll('figure.image img').length") == 2
    assert browser.evaluate("document.querySelector('.slider').max") == "23"
    browser.evaluate("document.querySelector('.slider').focus()")
    browser.press("ArrowRight")
    assert browser.evaluate("document.querySelector('.moment').textContent").startswith("t = 1 s, error ")
