"""Sensors that have changed: a small version of the study, and how it is summed up."""

import numpy as np
import pytest

from kmcf_lab.bench import adaptation
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
