"""Scores of runs, against their definitions written out."""

import numpy as np
import pytest

import kmcf
from kmcf.filter import FilterRun, score_runs


def run_of(mean, mode, lower, upper, angles=()):
    steps = len(mean)
    columns = {
        "time": np.arange(1, steps + 1),
        "mean": np.array(mean),
        "mode": np.array(mode),
        "interval": np.stack([np.array(lower), np.array(upper)], axis=1),
        "rejected": np.array([True] + [False] * (steps - 1)),
        "missing": np.zeros(steps, dtype=bool),
    }
    return FilterRun.of_columns(columns, angles=angles)


def test_errors_in_the_plane():
    run = run_of(
        [[0.0, 0.0], [3.0, 4.0]], [[0.0, 1.0], [0.0, 0.0]], [[-1.0, -1.0], [2.0, 3.0]], [[1.0, 1.0], [4.0, 5.0]]
    )
    scores = score_runs([run], [np.array([[0.0, 0.0], [0.0, 0.0]])])
    assert (scores.steps, scores.rejected, scores.missing) == (2, 1, 0)
    assert scores.rmse == pytest.approx(np.sqrt((0 + 25) / 2))
    assert scores.median_error == pytest.approx(2.5)
    assert scores.mode_rmse == pytest.approx(np.sqrt(1 / 2))
    assert scores.inside == pytest.approx(2 / 4)


def test_steps_with_an_alarm_are_counted_and_left_out_of_the_other_error():
    run = run_of([[1.0], [2.0], [9.0]], [[1.0]] * 3, [[0.0]] * 3, [[9.0]] * 3)
    alarmed = FilterRun.of_columns({**run.columns(), "alarm": np.array([False, False, True])})
    scores = score_runs([alarmed], [np.zeros((3, 1))])
    assert scores.alarms == 1
    assert scores.rmse_without_alarm == pytest.approx(np.sqrt((1 + 4) / 2))
    everything = FilterRun.of_columns({**run.columns(), "alarm": np.ones(3, dtype=bool)})
    assert np.isnan(score_runs([everything], [np.zeros((3, 1))]).rmse_without_alarm)


def test_unknown_states_are_left_out_and_runs_put_together():
    run = run_of([[1.0], [2.0], [4.0]], [[1.0], [2.0], [4.0]], [[0.0], [0.0], [0.0]], [[9.0], [9.0], [9.0]])
    scores = score_runs([run, run], [np.array([0.0, np.nan, 4.0]), np.array([1.0, 2.0, 3.0])])
    assert scores.steps == 5
    assert scores.rmse == pytest.approx(np.sqrt((1 + 0 + 0 + 0 + 1) / 5))
    assert np.isnan(score_runs([run], [np.full(3, np.nan)]).rmse)


def test_angles_are_compared_around_the_circle():
    run = run_of([[3.1], [-3.1]], [[3.1], [-3.1]], [[2.9], [-3.3]], [[3.4], [-2.9]], angles=(0,))
    scores = score_runs([run], [np.array([[-3.1], [3.1]])])  # 0.08 away on the circle
    assert scores.rmse == pytest.approx(2 * np.pi - 6.2)
    assert scores.inside == 1.0
    assert score_runs([run], [np.array([[-2.0], [0.0]])]).inside == 0.0


def test_shapes_that_do_not_fit():
    X = np.linspace(0, 1, 20)
    flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.1), random_state=0).fit(X, X)
    with pytest.raises(ValueError, match=r"true states have shape \(5, 2\), but the run has \(5, 1\)"):
        score_runs([flt.filter(X[:5])], [np.zeros((5, 2))])
