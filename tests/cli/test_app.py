"""The command line."""

import subprocess
import sys

import pytest
from cli_cases import environment

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


def test_without_typer_the_command_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "kmcf.cli.app", raising=False)
    with pytest.raises(SystemExit, match=r"needs typer and rich.*pip install 'kmcf\[cli\]'"):
        main()


def test_python_dash_m_is_the_same_command():
    result = subprocess.run([sys.executable, "-m", "kmcf", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == f"kmcf {kmcf.__version__}"


HELP = """\
import sys
from kmcf.cli import main
for words in (["--help"], ["--version"], ["fit", "--help"], ["filter", "--help"], ["data", "--help"]):
    sys.argv = ["kmcf", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (words, end.code)
    heavy = {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "jax", "pyarrow", "numba"} & set(sys.modules)
    assert not heavy, (words, heavy)
"""


def test_help_imports_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage") == 4
