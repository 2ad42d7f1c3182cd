"""The cells of Section 6.2: their order, and what they compute."""

import json

import numpy as np
import pytest
from synthetic_results import cell

from kmcf.datasets import PAPER_MODELS
from kmcf_lab.kalman import kalman
from kmcf_lab.synthetic.data import simulate_data
from kmcf_lab.synthetic.methods import METHODS
from kmcf_lab.synthetic.study import compute, synthetic_cells


def test_the_oracle_is_as_good_as_the_kalman_filter():
    row = compute(cell("oracle"))[0]
    data = simulate_data("1a", 40, 0, 100, 0)
    means = kalman(data.test.observations).means
    exact = np.sqrt(np.mean((means - data.test.states[:, 0]) ** 2))
    assert row["rmse"] == pytest.approx(exact, rel=0.02)


def test_a_tuned_cell_tells_its_settings_and_repeats():
    first, again = compute(cell("KMCF", trials=3))[0], compute(cell("KMCF", trials=3))[0]
    assert first["rmse"] == again["rmse"]
    assert {"epsilon", "delta"} < set(json.loads(first["settings"]))
    assert first["validation_rmse"] <= first["untuned_validation_rmse"]


def test_the_most_wanted_cells_come_first():
    cells = synthetic_cells(PAPER_MODELS, (100, 200, 800), list(METHODS), 12)
    assert len({one.digest for one in cells}) == len(cells)
    accuracy = [one.coordinates for one in cells if one.study == "accuracy"]
    assert len(accuracy) == 8 * 3 * len(METHODS) * 12
    first = accuracy[: 8 * 10 * len(METHODS)]
    assert {(where["n"], where["repetition"] < 10) for where in first} == {(200, True)}
    assert {where["repetition"] for where in accuracy[-8 * 3 * len(METHODS) * 2 :]} == {10, 11}
    assert cells[len(first)].study == "times"
    trials = {where["n"]: where["trials"] for where in accuracy if where["method"] == "KMCF"}
    assert trials[800] * 2 == trials[200] == trials[100]
    starts = {where["method"]: where.get("delta") for where in accuracy}
    assert {name for name, delta in starts.items() if delta == 9e-6} == {"KBR", *(m for m in METHODS if "KMCF" in m)}


@pytest.mark.parametrize(
    ("models", "sizes", "methods", "words"),
    [
        (["5a"], [100], ["KMCF"], "unknown model '5a'"),
        (["1a"], [100], ["EKF"], "unknown method 'EKF'"),
        (["1a"], [5], ["KMCF"], "at least 20"),
        (["1a", "1a"], [100], ["KMCF"], "each once"),
        ([], [100], ["KMCF"], "choose among"),
    ],
)
def test_bad_choices_are_refused(models, sizes, methods, words):
    with pytest.raises(ValueError, match=words):
        synthetic_cells(models, sizes, methods, 2)
