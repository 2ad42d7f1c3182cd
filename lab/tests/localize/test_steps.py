"""What is recorded about a step."""

from dataclasses import replace

import numpy as np

from kmcf.trust import crps
from kmcf_lab.localize.steps import step_row, uncertainty


def test_uncertainty_of_a_mean_and_of_a_mode(radio):
    fold = radio.folds()[0]
    flt = radio.ready(fold.name, "nai").flt
    belief = flt.start()
    states, mean = np.asarray(belief.states), np.asarray(belief.mean())
    expected = (states - mean).T @ (states - mean) / len(states)
    np.testing.assert_allclose(uncertainty(belief, mean, "mean", 1.0), expected)
    near = states[np.linalg.norm(states - states[0], axis=1) <= 3.0] - states[0]
    np.testing.assert_allclose(uncertainty(belief, states[0], "mode", 1.0), near.T @ near / len(near))


def test_a_step_is_scored(radio):
    fold = radio.folds()[0]
    flt = radio.ready(fold.name, "knn").flt
    belief, measure = flt.start(), radio.problem.measure
    row = step_row(fold.test, 0, belief, measure)
    truth = fold.test.states[0]
    expected = [crps(np.asarray(belief.states)[:, j], belief.weights, truth[j]) for j in (0, 1)]
    assert row["crps"] == np.mean(expected)
    away = truth - np.asarray(belief.mean())
    around = np.array([[row["variance_x"], row["covariance"]], [row["covariance"], row["variance_y"]]])
    assert row["inside"] == (away @ np.linalg.solve(around, away) <= 5.991464547107979)  # 95 % of χ² with 2 degrees


def test_beside_the_error_of_a_mode_stands_that_of_the_mean(radio):
    fold = radio.folds()[0]
    belief, truth = radio.ready(fold.name, "knn").flt.start(), fold.test.states[0]
    row = step_row(fold.test, 0, belief, replace(radio.problem.measure, estimate="mode"))
    assert row["error"] == np.linalg.norm(np.asarray(belief.mode())[:2] - truth)
    assert row["error_of_mean"] == np.linalg.norm(np.asarray(belief.mean())[:2] - truth)
    assert np.isnan(step_row(fold.test, 0, belief, radio.problem.measure)["error_of_mean"])


def test_each_coordinate_is_looked_for_in_its_own_interval(radio):
    fold = radio.folds()[0]
    belief = radio.ready(fold.name, "knn").flt.start()
    low, high = belief.interval(0.95)
    for truth, share in (((low + high) / 2, 1.0), ((low[0] - 1.0, high[1]), 0.5), (high + 1.0, 0.0)):
        moved = replace(fold.test, states=np.array([truth]), observations=fold.test.observations[:1])
        assert step_row(moved, 0, belief, radio.problem.measure)["within"] == share
