"""The cells of Section 6.2: their order, and what they compute."""

import json

import numpy as np
import pytest
from synthetic_results import cell

from kmcf.datasets import PAPER_MODELS
from kmcf_lab.cells import Cell
from kmcf_lab.kalman import kalman
from kmcf_lab.synthetic import methods
from kmcf_lab.synthetic.data import simulate_data
from kmcf_lab.synthetic.methods import METHODS
from kmcf_lab.synthetic.more import GIVEN, enlarged
from kmcf_lab.synthetic.study import compute, filtered, synthetic_cells


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


def test_a_stopped_run_is_balanced():
    cells = synthetic_cells(PAPER_MODELS, (200, 100), list(METHODS), 4, timed_at=(50, 60))
    assert len({one.digest for one in cells}) == len(cells)
    accuracy = [one.coordinates for one in cells if one.study == "accuracy"]
    per_repetition = 8 * 2 * len(METHODS)
    assert len(accuracy) == 4 * per_repetition
    more = [one.coordinates for one in cells if one.study == "more"]
    assert len(more) == 4 * 8 * len(GIVEN)
    assert {(where["n"], where["times"]) for where in more} == {(200, 4)}
    for k in range(4):
        block = accuracy[k * per_repetition : (k + 1) * per_repetition]
        assert {where["repetition"] for where in block} == {k}
        assert {where["n"] for where in block} == {100, 200}
    assert cells[per_repetition + 8 * len(GIVEN)].study == "times"
    assert {one.coordinates["n"] for one in cells if one.study == "times"} == {50, 60}
    assert {one.coordinates["n"] for one in cells if one.study == "scaling"} == {1000, 2000, 4000, 8000, 16000}
    trials = {(where["n"], where["trials"]) for where in accuracy if where["method"] == "KMCF"}
    assert trials == {(100, 16), (200, 16)}
    chosen = {where["method"]: where["chosen"] for where in accuracy}
    assert chosen["KMCF-low10"] == "best trial"
    assert chosen["low-rank, stable 10"] == "best trials combined"
    starts = {where["method"]: where.get("delta") for where in accuracy}
    assert all(starts[name] == 9e-6 for name in METHODS if "KMCF" in name or "stable" in name or name == "KBR")


@pytest.mark.parametrize("method", GIVEN)
def test_more_is_the_same_method_with_more(method):
    usual, larger = (simulate_data("1b", 40, 0, 10, 0, transitions=count) for count in (1000, 3000))
    np.testing.assert_array_equal(usual.test.states, larger.test.states)
    np.testing.assert_array_equal(usual.train.states, larger.train.states)
    tuned, _ = METHODS[method].fitted(usual, 0)
    flt = enlarged(method, tuned, larger, 3)
    changed = {"n_particles": 15000} if "particles" in GIVEN[method] else {"n_transitions": 3000}
    first, more = (one.get_params(deep=False) for one in (tuned, flt))
    assert {name: more[name] for name in changed} == changed
    assert all(repr(more[name]) == repr(value) for name, value in first.items() if name not in changed)
    if method == "KBR":
        assert [len(one._transitions.before) for one in (tuned, flt)] == [1000, 3000]
    where = {"model": "1a", "n": 40, "repetition": 0, "steps": 5, "seed": 0, "method": method, "trials": 0, "times": 2}
    row = compute(Cell("more", where))[0]
    assert row["rmse"] == compute(Cell("accuracy", {k: v for k, v in where.items() if k != "times"}))[0]["rmse"]
    assert row["rmse_with_more"] == pytest.approx(row["rmse"], rel=0.3)
    assert row["rmse_with_more"] != row["rmse"]


def test_a_step_that_cannot_be_computed_counts_as_broken():
    data = simulate_data("1a", 40, 0, 20, 0)
    usual = METHODS["KMCF"].make(data).fit(data.train.states, data.train.observations)
    whole = filtered(usual, data)
    run = usual.filter(data.test.observations)
    assert whole["rmse"] == pytest.approx(np.sqrt(np.mean((run.mean - data.test.states) ** 2)))
    assert (whole["broken"], whole["rejected"]) == (0, 0)

    class Singular(type(usual)):
        def step(self, belief, observation, control=None):
            if observation is not None and belief.time in (3, 7):
                raise np.linalg.LinAlgError("singular")
            return super().step(belief, observation, control)

    broken = filtered(
        Singular(data.model.transition, **methods.paper_settings(data)).fit(data.train.states, data.train.observations),
        data,
    )
    assert broken["broken"] == 2
    assert broken["rmse"] > whole["rmse"]


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
