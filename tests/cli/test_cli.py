"""The command line."""

import re
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


def test_demo_prints_errors_and_saves_a_picture(tmp_path):
    out = tmp_path / "new" / "folder"
    result = invoke("demo", "--out", str(out), "--examples", "150", "--length", "60")
    assert result.exit_code == 0, result.output
    picture = out / "filtering.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000
    assert str(picture) in result.output
    nearest, filtered, best = (float(number) for number in re.findall(r"\d\.\d{3}", result.output))
    assert best < filtered < nearest
    assert "150 recorded pairs" in " ".join(result.output.split())
    assert re.search(r"\d+% of the true states", result.output)


def test_the_same_seed_gives_the_same_demo(tmp_path):
    arguments = ("demo", "--out", str(tmp_path), "--examples", "40", "--length", "20", "--seed")
    numbers = [re.findall(r"\d\.\d{3}", invoke(*arguments, seed).output) for seed in ("1", "1", "2")]
    assert numbers[0] == numbers[1] != numbers[2]


@pytest.mark.parametrize("words", [("--examples", "5"), ("--length", "1"), ("--seed", "-1"), ("--nonsense",)])
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
