"""Commands that other distributions add."""

from importlib.metadata import EntryPoint

import pytest
import typer
from typer.testing import CliRunner

from kmcf.cli import plugins
from kmcf.cli.group import Commands


@pytest.fixture
def application(monkeypatch):
    """Make an application with a command of its own, as if certain distributions were installed."""

    def make(*entries):
        monkeypatch.setattr(plugins, "entry_points", lambda group: entries)
        app = typer.Typer(cls=Commands)
        app.command("own")(lambda: typer.echo("own"))
        plugins.add_commands(app)
        return app

    return make


def invoke(app, *words):
    return CliRunner().invoke(app, list(words))


def test_without_the_laboratory_its_commands_say_how_to_get_it(application):
    result = invoke(application(), "localize", "ble", "--quick")
    assert result.exit_code == 1
    assert "pip install kmcf-lab" in result.output
    help_text = invoke(application(), "--help").output
    assert all(name in help_text for name in plugins.LABORATORY)


def test_with_the_laboratory_its_commands_are_there(application):
    app = application(EntryPoint("lab", "kmcf_lab.commands:add_to", plugins.GROUP))
    result = invoke(app, "localize", "--help")
    assert result.exit_code == 0
    assert "--repetitions" in result.output
    assert "pip install kmcf-lab" not in invoke(app, "--help").output


def test_a_broken_distribution_does_not_touch_our_commands(application):
    app = application(EntryPoint("broken", "no_such_module_anywhere:add", plugins.GROUP))
    assert invoke(app, "own").output.strip().endswith("own")
