"""A parameter that is a dataclass of options stands for its fields."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from kmcf.cli.option_groups import with_option_groups


@dataclass(frozen=True)
class Size:
    """A group with a required and an optional field."""

    width: Annotated[int, typer.Option("--width", "-w", min=1)]
    depths: Annotated[list[float] | None, typer.Option("--depth")] = None


@pytest.fixture
def run():
    app, seen = typer.Typer(), []

    def command(name: str, *, loud: Annotated[bool, typer.Option("--loud")] = False, size: Size) -> None:
        """Do it."""
        seen.append((name, loud, size))

    app.command()(with_option_groups(command))
    return lambda *words: (CliRunner().invoke(app, words), seen)


def test_fields_are_options_and_come_back_as_the_group(run):
    result, seen = run("me", "-w", "3", "--depth", "1", "--depth", "2.5")
    assert result.exit_code == 0, result.output
    assert seen == [("me", False, Size(3, [1.0, 2.5]))]
    result, seen = run("me", "--width", "3", "--loud", "--debug")
    assert seen[-1] == ("me", True, Size(3, None))


def test_what_is_required_or_out_of_range(run):
    assert run("me")[0].exit_code == 2
    assert run("me", "-w", "0")[0].exit_code == 2
    assert run("me", "-w", "1", "--other", "1")[0].exit_code == 2


def test_help_shows_all_of_them(run):
    text = run("--help")[0].output
    assert all(word in text for word in ("--width", "--depth", "--loud", "--config", "--debug", "Do it."))
