"""``kmcf demo``."""

import csv
from functools import cache

import pytest
from lab_commands import invoke

from kmcf_lab.localize.experiment import Experiment

pytestmark = pytest.mark.slow  # whole studies


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory):
    """One short demo for all tests; the filter that is looked into is not fitted a second time."""
    out = tmp_path_factory.mktemp("demo") / "new" / "folder"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Experiment, "ready", cache(Experiment.ready))
        # Paths are printed whole where they are as wide as the terminal.
        return out, invoke("demo", "--out", out, "--walks", "1", columns=80)


def test_demo_prints_errors_and_saves_picture_and_report(demonstration):
    out, result = demonstration
    assert result.exit_code == 0, result.output
    picture = out / "path.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000
    assert str(picture) in result.output
    assert (out / "report.html").as_uri() in result.output
    assert (out / "report.html").read_text().endswith("</html>\n")
    assert "eight recorded walks" in " ".join(result.output.split())


def test_the_filter_of_the_demo_beats_what_it_is_compared_with(demonstration):
    out, _ = demonstration
    with (out / "folds.csv").open() as file:
        errors = {row["method"]: float(row["mean"]) for row in csv.DictReader(file)}
    assert errors["kmcf"] < 1.0  # the walk of the README's picture
    assert errors["kmcf"] < errors["knn-pf"] < errors["nai"]


@pytest.mark.parametrize("words", [("--walks", "0"), ("--walks", "10"), ("--seed", "-1"), ("--nonsense",)])
def test_bad_words_are_refused(words, tmp_path):
    result = invoke("demo", "--out", tmp_path, *words)
    assert result.exit_code == 2
    assert not list(tmp_path.iterdir())
