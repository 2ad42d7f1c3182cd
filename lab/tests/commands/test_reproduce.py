"""``kmcf reproduce`` from the words a person types to the files they get."""

import csv
import json

import pytest
from browser import Browser, needs_browser

testing = pytest.importorskip("typer.testing")
pytest.importorskip("rich")

FIGURES = {"resampling": ["demonstration", "sweep"], "theory": ["bound", "rates", "consistency"]}


def invoke(*words):
    from kmcf.cli.app import app

    return testing.CliRunner().invoke(app, ["reproduce", *words])


@pytest.fixture(scope="module", params=["resampling", "theory"])
def finished(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "folder"
    words = [request.param, "--out", str(out), "--quick", "--repetitions", "3"]
    result = invoke(*words)
    assert result.exit_code == 0, result.output
    return request.param, out, words, result.output


def test_the_folder_holds_table_figures_and_report(finished):
    study, out, _, output = finished
    for name in FIGURES[study]:
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{name}.svg").read_text()
    with (out / "cells.csv").open() as file:
        lines = list(csv.DictReader(file))
    cells = list((out / "cells").glob("*.json"))
    assert len({line["seed_of_cell"] for line in lines}) == len(cells)
    assert f"saved {out / 'report.html'}" in output.replace("\n", "")
    assert "## The paper's statements" in (out / "report.md").read_text()
    assert "holds" in output


def test_resuming_repeats_nothing_and_gives_the_same(finished):
    _, out, words, output = finished
    before = {path: path.read_bytes() for path in (out / "cells").glob("*.json")}
    table = (out / "cells.csv").read_text()
    result = invoke(*words, "--resume")
    assert result.exit_code == 0, result.output
    assert {path: path.read_bytes() for path in (out / "cells").glob("*.json")} == before
    assert (out / "cells.csv").read_text() == table
    assert result.output.split()[-200:] == output.split()[-200:]


def test_the_demonstration_stands_next_to_the_papers_numbers(finished):
    study, _, _, output = finished
    if study == "resampling":
        for number in ("8.49e-10", "0.125", "4.74e-05", "0.00827", "0.0538"):
            assert number in output


@needs_browser
def test_the_report_looks_right(finished):
    _, out, _, _ = finished
    with Browser() as browser:
        for width in (1200, 360):
            browser.open(out / "report.html", width=width)
            assert browser.errors == []
            assert browser.overflow() <= 0
            heights = browser.heights_of_figures()
            assert len(heights) == 7
            assert min(heights) > 150
        assert browser.evaluate("document.querySelectorAll('.statements .badge').length") > 10


def test_an_interrupt_says_how_to_continue(monkeypatch, tmp_path):
    from kmcf_lab.resampling import study as resampling

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(resampling, "run_cells", interrupt)
    result = invoke("resampling", "--out", str(tmp_path))
    assert result.exit_code == 130
    assert "--resume" in result.output


@pytest.mark.parametrize("words", [("--repetitions", "1"), ("--jobs", "0"), ("--backend", "dask"), ("--seed", "-1")])
def test_bad_words_are_refused(words, tmp_path):
    assert invoke("resampling", "--out", str(tmp_path), *words).exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_cells_are_readable_by_programs(finished):
    _, out, _, _ = finished
    content = json.loads(next((out / "cells").glob("*.json")).read_text())
    assert {"study", "coordinates", "seed", "version", "seconds", "rows"} == set(content)
