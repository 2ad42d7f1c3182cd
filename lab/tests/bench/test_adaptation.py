"""Sensors that have changed: a small version of the study, and how it is summed up."""

import numpy as np
import pytest

from kmcf_lab.bench import adaptation
from kmcf_lab.bench import adaptation_building as building
from kmcf_lab.bench.adaptation import CHANGES, AdaptationCell, measure_models, summarise_adaptation


def test_rows_say_which_share_of_the_damage_was_repaired():
    cell = {"problem": "room", "change": "moved", "adapted": True, "adapted_labelled": False, "step": np.nan}
    cells = [
        AdaptationCell(**cell, seed=0, clean=1.0, damaged=3.0, unlabelled=1.5, labelled=3.0, noticed=True),
        AdaptationCell(**cell, seed=1, clean=1.0, damaged=3.0, unlabelled=2.5, labelled=3.0, noticed=False),
    ]
    (row,) = summarise_adaptation(cells)
    assert (row.repaired, row.repaired_labelled, row.noticed, row.adapted) == (0.5, 0.0, 0.5, 1.0)
    assert row.worse == pytest.approx(2.5 / 3.0)


def test_the_study_measures_a_model(monkeypatch):
    for name, value in {"SEEN": 24, "LATER": 40, "PAIRS": 12, "WALKS": 4, "RATE": 0.2}.items():
        monkeypatch.setattr(adaptation, name, value)
    cells = measure_models(["4b"], 60, repetitions=1, changes=[CHANGES[2]], report=lambda message: None)
    (row,) = summarise_adaptation(cells)
    assert row.change == "doubled"
    assert row.damaged > row.clean
    assert row.data_sets == 1


@pytest.mark.slow
def test_the_robot_goes_the_same_way_in_any_light(monkeypatch):
    monkeypatch.setattr(building, "INTERVAL", 40.0)
    day, night = (building.laps(0, light, building.grey_levels) for light in ("cloudy", "night"))
    for before, after in zip(day, night, strict=True):
        np.testing.assert_array_equal(before.states, after.states)
        np.testing.assert_array_equal(before.controls, after.controls)
    np.testing.assert_array_equal(day[1].observations, night[1].observations)
    assert day[3].observations.shape[1] == 48
    assert np.abs(day[3].observations - night[3].observations).max() > 5.0


@pytest.mark.slow
def test_the_study_measures_the_building(monkeypatch):
    monkeypatch.setattr(building, "INTERVAL", 16.0)
    monkeypatch.setattr(building, "WALKS", 4)
    monkeypatch.setattr(building, "RATE", 0.2)
    words, grey = (building.measure_building(p, "night", 0, lambda line: None) for p in (building.WORDS, building.GREY))
    assert words.unlabelled == words.labelled == words.damaged  # it cannot be adapted
    assert not words.adapted
    assert grey.damaged > grey.clean
