"""What the commands under ``kmcf reproduce`` share."""

import pytest
from typer.main import get_command

from kmcf_lab.commands import reproduce
from kmcf_lab.commands.reproducing import StudyOptions

SHARED = {"repetitions", "jobs", "backend", "quick", "resume", "seed", "out"}


@pytest.mark.parametrize("name", ["resampling", "theory", "synthetic", "abc", "normalisation"])
def test_all_have_the_options_of_a_study(name):
    commands = get_command(reproduce).commands
    options = {parameter.name: parameter for parameter in commands[name].params}
    assert set(options) >= SHARED
    for shared in SHARED - {"out"}:
        assert options[shared].help == {p.name: p for p in commands["theory"].params}[shared].help


def test_repetitions_as_given_or_as_usual():
    assert StudyOptions().running(20, 5)["repetitions"] == 20
    assert StudyOptions(quick=True).running(20, 5)["repetitions"] == 5
    assert StudyOptions(quick=True, repetitions=3).running(20, 5)["repetitions"] == 3
