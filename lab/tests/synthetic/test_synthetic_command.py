"""``kmcf reproduce synthetic`` from the words a person types to the files they get."""

import csv

import pytest
from browser import Browser, needs_browser

testing = pytest.importorskip("typer.testing")
pytest.importorskip("rich")

METHODS = ("KMCF", "KMCF-low20", "GP-PF", "KBR", "oracle", "defaults")
WORDS = ["--quick", "--repetitions", "2", "--models", "1a", "--models", "1b", "--n", "30"]
WORDS += [word for method in METHODS for word in ("--methods", method)]


def invoke(*words):
    from kmcf.cli.app import app

    return testing.CliRunner().invoke(app, ["reproduce", "synthetic", *words], env={"COLUMNS": "160"})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "folder"
    result = invoke("--out", str(out), *WORDS)
    assert result.exit_code == 0, result.output
    return out, result.output


def test_the_folder_holds_table_figures_and_report(finished):
    out, output = finished
    for name in ("errors-without-controls", "errors-with-controls", "ratios", "times"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{name}.svg").read_text()
    with (out / "cells.csv").open() as file:
        lines = list(csv.DictReader(file))
    accuracy = [line for line in lines if line["study"] == "accuracy"]
    assert len(accuracy) == 2 * 2 * len(METHODS)
    assert all(0.1 < float(line["rmse"]) < 10 for line in accuracy)
    assert {line["method"] for line in lines if line["study"] == "times"} > {"KMCF, literal", "KBR, literal"}
    assert "GP-PF performed the best" in output


def test_a_stopped_run_is_continued(finished, tmp_path):
    out, _ = finished
    (tmp_path / "cells").mkdir()
    some = sorted((out / "cells").glob("accuracy-*.json"))[:20]
    for path in some:
        (tmp_path / "cells" / path.name).write_bytes(path.read_bytes())
    result = invoke("--out", str(tmp_path), *WORDS, "--resume", "--minutes", "0")
    assert result.exit_code == 0, result.output
    with (tmp_path / "cells.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 20


def test_without_results_there_is_no_report(tmp_path):
    result = invoke("--out", str(tmp_path), *WORDS, "--minutes", "0")
    assert result.exit_code == 1
    assert "nothing is finished" in result.output


@needs_browser
def test_the_report_looks_right(finished):
    out, _ = finished
    with Browser() as browser:
        for width in (1200, 360):
            browser.open(out / "report.html", width=width)
            assert browser.errors == []
            assert browser.overflow() <= 0
            heights = browser.heights_of_figures()
            assert len(heights) == 4  # two models' errors, two models' times
            assert min(heights) > 150
        assert browser.evaluate("document.querySelectorAll('.statements .badge').length") > 10
        assert browser.evaluate("document.querySelectorAll('table').length") >= 8


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--models", "9z"), "unknown model '9z'"),
        (("--methods", "EKF"), "unknown method 'EKF'"),
        (("--n", "5"), "20"),
        (("--n", "50", "--n", "50"), "each once"),
    ],
)
def test_bad_words_are_refused(words, message, tmp_path):
    result = invoke("--out", str(tmp_path), *words)
    assert result.exit_code == 2
    assert message in result.output.replace("\n", " ")
    assert list(tmp_path.iterdir()) == []
