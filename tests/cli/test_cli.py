"""The command line."""

import csv
import subprocess
import sys

import pytest

import kmcf
from kmcf.cli import main

testing = pytest.importorskip("typer.testing")
pytest.importorskip("rich")


def invoke(*words):
    from kmcf.cli.app import app

    return testing.CliRunner().invoke(app, list(words))


def test_version():
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.stdout.strip() == f"kmcf {kmcf.__version__}"


@pytest.mark.parametrize("words", [("--help",), ()])
def test_help_names_the_commands(words):
    result = invoke(*words)
    assert "demo" in result.output
    assert "examples" in result.output


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory):
    """One short demo for all tests."""
    out = tmp_path_factory.mktemp("demo") / "new" / "folder"
    return out, invoke("demo", "--out", str(out), "--walks", "1")


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
    result = invoke("demo", "--out", str(tmp_path), *words)
    assert result.exit_code == 2
    assert not list(tmp_path.iterdir())


def test_without_typer_the_command_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "kmcf.cli.app", raising=False)
    with pytest.raises(SystemExit, match=r"needs typer and rich.*pip install 'kmcf\[cli\]'"):
        main()


def test_python_dash_m_is_the_same_command():
    result = subprocess.run([sys.executable, "-m", "kmcf", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == f"kmcf {kmcf.__version__}"
