"""``kmcf reproduce`` from the words a person types to the files they get."""

import json

import pytest
from browser import needs_browser
from lab_commands import invoke, succeed

from kmcf_lab.parquet import read_parquet
from kmcf_lab.resampling import study as resampling
from kmcf_lab.synthetic import data, methods
from kmcf_lab.synthetic import study as synthetic_study
from kmcf_lab.tables import read_cells
from kmcf_lab.theory import benefit, bound, consistency, corollaries, hull, importance, rates

pytestmark = pytest.mark.slow  # whole studies

# Of each study: the words, its figures, and the number of charts in its report.
METHODS = ("KMCF", "KMCF-low20", "GP-PF", "KBR", "oracle", "ours (untuned)")
WORDS = {
    "resampling": ("--quick", "--repetitions", "3"),
    "theory": ("--quick", "--repetitions", "3"),
    "synthetic": (
        *("--quick", "--repetitions", "2", "--models", "1a", "--models", "1b", "--n", "30", "--timed-n", "40"),
        *(word for method in METHODS for word in ("--methods", method)),
    ),
}
FIGURES = {
    "resampling": ("demonstration", "sweep"),
    "theory": ("bound", "benefit", "rates", "corollaries", "consistency"),
    "synthetic": ("errors-without-controls", "errors-with-controls", "ratios", "times", "scaling"),
}
CHARTS = {"resampling": 7, "theory": 11, "synthetic": 4}


@pytest.fixture(scope="module", autouse=True)
def _small():
    """Studies far smaller than --quick: what they find is not the matter here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resampling, "RIDGES", (1e-8, 1e-4, 1.0))
        patch.setattr(bound, "POINT_COUNTS", (10, 100))
        patch.setattr(bound, "RIDGES", (1e-8, 1e-1))
        patch.setattr(consistency, "SIZES", (20, 40))
        patch.setattr(rates, "CANDIDATES", (10, 100))
        patch.setattr(rates, "PICKS_FOR_CANDIDATES", 500)
        patch.setattr(rates, "PICKS", (10, 100, 500))
        patch.setattr(rates, "CANDIDATES_FOR_PICKS", 100)
        patch.setattr(hull, "CANDIDATES", 30)
        patch.setattr(hull, "PICKS", (10, 100))
        patch.setattr(benefit, "RIDGES", (1e-6, 1e-1))
        patch.setattr(importance, "SIZES", (10, 100))
        patch.setattr(corollaries, "SIZES", {0.25: (64, 256), 0.35: (20, 64), 0.5: (20, 50), 0.75: (5, 10)})
        patch.setattr(data, "TRANSITIONS", 60)
        patch.setattr(methods, "PARTICLES", 300)
        patch.setattr(synthetic_study, "QUICK_SCALING", (60, 120))
        yield


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=[pytest.mark.slow] * (name != "resampling")) for name in WORDS]
)
def finished(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "folder"
    result = succeed("reproduce", request.param, *WORDS[request.param], "--out", out)
    return request.param, out, result.output


def test_the_folder_holds_table_figures_and_report(finished):
    study, out, output = finished
    for name in FIGURES[study]:
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{name}.svg").read_text()
    lines, _ = read_parquet(out / "cells.parquet")
    cells = list((out / "cells").glob("*.json"))
    assert len({line["seed_of_cell"] for line in lines}) == len(cells)
    assert {"study", "coordinates", "seed", "version", "seconds", "rows"} == set(json.loads(cells[0].read_text()))
    assert f"saved {out / 'report.html'}" in output.replace("\n", "")
    assert "## The paper's statements" in (out / "report.md").read_text()
    assert "holds" in output


@pytest.mark.usefixtures("undrawn")
def test_resuming_repeats_nothing_and_gives_the_same(finished):
    study, out, output = finished
    before = {path: path.read_bytes() for path in (out / "cells").glob("*.json")}
    table = (out / "cells.parquet").read_bytes()
    again = succeed("reproduce", study, *WORDS[study], "--out", out, "--resume")
    assert {path: path.read_bytes() for path in (out / "cells").glob("*.json")} == before
    assert (out / "cells.parquet").read_bytes() == table
    assert again.output.split()[-200:] == output.split()[-200:]


@pytest.mark.parametrize("finished", ["resampling"], indirect=True)
def test_the_demonstration_stands_beside_the_papers_numbers(finished):
    _, _, output = finished
    for number in ("8.49e-10", "0.125", "4.74e-05", "0.00827", "0.0538"):
        assert number in output


@pytest.mark.parametrize("finished", ["synthetic"], indirect=True)
def test_every_method_is_computed_on_every_data_set(finished):
    _, out, output = finished
    lines, _ = read_parquet(out / "cells.parquet")
    accuracy = [line for line in lines if line["study"] == "accuracy"]
    assert len(accuracy) == 2 * 2 * len(METHODS)
    assert all(0.1 < line["rmse"] < 10 for line in accuracy)
    assert {line["method"] for line in lines if line["study"] == "times"} > {"KMCF, as printed", "KBR, literal"}
    assert {line["n"] for line in lines if line["study"] == "times"} == {40}
    assert {line["n"] for line in lines if line["study"] == "scaling"} == {60, 120}
    assert "GP-PF performed the best" in " ".join(output.split())
    report = (out / "report.md").read_text()
    assert "This page rests on 2 data sets at n = 30, for every model and method." in report
    assert "holds below" in report
    assert "seen from" in report


@needs_browser
def test_the_report_looks_right(finished, browser):
    study, out, _ = finished
    for width in (1200, 360):
        browser.open(out / "report.html", width=width)
        assert browser.errors == []
        assert browser.overflow() <= 0
        heights = browser.heights_of_figures()
        assert len(heights) == CHARTS[study]
        assert min(heights) > 150
    assert browser.evaluate("document.querySelectorAll('.statements .badge').length") > 10
    if study == "synthetic":
        assert browser.evaluate("document.querySelectorAll('table').length") >= 8


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("finished", ["synthetic"], indirect=True)
def test_a_stopped_run_reports_what_is_there(finished, tmp_path):
    study, out, _ = finished
    (tmp_path / "cells").mkdir()
    some = sorted((out / "cells").glob("accuracy-*.json"))[:18]
    for path in some:
        (tmp_path / "cells" / path.name).write_bytes(path.read_bytes())
    succeed("reproduce", study, *WORDS[study], "--out", tmp_path, "--resume", "--minutes", "0")
    assert len(read_cells(tmp_path / "cells.parquet")) == 18


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("finished", ["synthetic"], indirect=True)
def test_published_cells_are_not_computed_again(finished, tmp_path):
    study, out, _ = finished
    table = out / "cells.parquet"
    succeed("reproduce", study, *WORDS[study], "--out", tmp_path, "--published", table, "--minutes", "0")
    assert (tmp_path / "cells.parquet").read_bytes() == table.read_bytes()
    assert not (tmp_path / "cells").exists()


def test_without_results_there_is_no_report(tmp_path):
    result = invoke("reproduce", "synthetic", *WORDS["synthetic"], "--out", tmp_path, "--minutes", "0")
    assert result.exit_code == 1
    assert "nothing is finished" in result.output


def test_an_interrupt_says_how_to_continue(monkeypatch, tmp_path):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(resampling, "run_cells", interrupt)
    result = invoke("reproduce", "resampling", "--out", tmp_path)
    assert result.exit_code == 130
    assert "--resume" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("resampling", "--repetitions", "1"), "repetitions"),
        (("resampling", "--jobs", "0"), "jobs"),
        (("resampling", "--backend", "dask"), "loky"),
        (("resampling", "--seed", "-1"), "seed"),
        (("synthetic", "--models", "9z"), "unknown model '9z'"),
        (("synthetic", "--methods", "EKF"), "unknown method 'EKF'"),
        (("synthetic", "--n", "5"), "20"),
        (("synthetic", "--n", "50", "--n", "50"), "each once"),
    ],
)
def test_bad_words_are_refused(words, message, tmp_path):
    result = invoke("reproduce", *words, "--out", tmp_path)
    assert result.exit_code == 2
    assert message in result.output.replace("\n", " ")
    assert list(tmp_path.iterdir()) == []
