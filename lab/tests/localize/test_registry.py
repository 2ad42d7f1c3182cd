"""The problems by name."""

import pytest

from kmcf_lab.localize.methods import METHODS
from kmcf_lab.localize.registry import PROBLEMS, problem_named


def test_every_problem_is_complete():
    for name, problem in PROBLEMS.items():
        assert problem.name == name
        assert set(problem.methods) <= set(METHODS)
        assert problem.title
        assert problem.about.endswith(".")
        assert bool(problem.needs) == (name not in ("ble", "building", "spikes", "spikes-random-walk"))
    with pytest.raises(ValueError, match="no localization problem 'moon'; choose one of ble, mrclam"):
        problem_named("moon")


def test_alternatives_change_settings_that_exist():
    for problem in PROBLEMS.values():
        for settings in (problem.settings, problem.quick):
            for changes in settings.alternatives.values():
                changed = settings.changed(changes)
                assert changed != settings
                assert set(changed.load) == set(settings.load)
                assert set(changed.split) == set(settings.split)
