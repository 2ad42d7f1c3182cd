"""``kmcf reproduce abc`` and ``normalisation`` from the words a person types to the files they get."""

import pytest
from browser import needs_browser
from lab_commands import succeed

from kmcf_lab.abc import study as abc
from kmcf_lab.normalisation import study as normalisation
from kmcf_lab.parquet import read_parquet

pytestmark = pytest.mark.slow  # whole studies

FIGURES = {"abc": ("abc-errors",), "normalisation": ("normalisation-ratios", "normalisation-sums")}
CHARTS = {"abc": 4, "normalisation": 2}
WORDS = ("--quick", "--repetitions", "2")


@pytest.fixture(scope="module", autouse=True)
def _small():
    """Studies far smaller than --quick: what they find is not the matter here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(abc, "BUDGETS", (40, 80))
        patch.setattr(abc, "LENGTHS", (4, 10))
        patch.setattr(abc, "TEST_STEPS", 20)
        patch.setattr(abc, "BANDWIDTHS", (0.1, 0.3))
        patch.setattr(normalisation, "EXAMPLES", 40)
        patch.setattr(normalisation, "SIZES", (30, 40, 50))
        yield


@pytest.fixture(scope="module", params=["abc", pytest.param("normalisation", marks=pytest.mark.slow)])
def finished(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "folder"
    result = succeed("reproduce", request.param, *WORDS, "--out", out)
    return request.param, out, result.output


def test_the_folder_holds_table_figures_and_report(finished):
    study, out, output = finished
    for name in FIGURES[study]:
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{name}.svg").read_text()
    lines, _ = read_parquet(out / "cells.parquet")
    assert len({line["seed_of_cell"] for line in lines}) == len(list((out / "cells").glob("*.json")))
    assert f"saved {out / 'report.html'}" in output.replace("\n", "")
    assert "| verdict |" in (out / "report.md").read_text()


@pytest.mark.usefixtures("undrawn")
def test_resuming_repeats_nothing_and_gives_the_same(finished):
    study, out, _ = finished
    table = (out / "cells.parquet").read_bytes()
    succeed("reproduce", study, *WORDS, "--out", out, "--resume")
    assert (out / "cells.parquet").read_bytes() == table


@needs_browser
def test_the_report_looks_right(finished, browser):
    study, out, _ = finished
    for width in (1200, 360):
        browser.open(out / "report.html", width=width)
        assert browser.errors == []
        assert browser.overflow() <= 0
        assert len(browser.heights_of_figures()) == CHARTS[study]
