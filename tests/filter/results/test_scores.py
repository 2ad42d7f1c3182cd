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


def test_truths_with_fewer_columns_judge_the_first():
    """A position and its velocity, of which the position is known."""
    run = run_of(
        [[3.0, 70.0], [-np.pi + 0.1, 80.0]], [[2.0, 0.0]] * 2, [[2.5, 0.0], [3.0, 0.0]], [[3.5, 9.0], [3.1, 9.0]], (0,)
    )
    scores = score_runs([run], [np.array([[2.0], [np.pi - 0.1]])])
    assert scores.mean_error == pytest.approx((1.0 + 0.2) / 2)
    assert scores.inside == pytest.approx(1 / 2)
    with pytest.raises(ValueError, match=r"have shape \(2, 3\), but the run has \(2, 2\)"):
        score_runs([run], [np.zeros((2, 3))])


def test_the_crps_of_positions_is_that_of_their_columns():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(60, 2))
    walk = kmcf.transitions.GaussianRandomWalk(1.0)
    run = kmcf.KernelMonteCarloFilter(walk, random_state=0).fit(states, states).filter(states[:5])
    scores = score_runs([run], [states[:5, :1]])
    expected = [belief.crps(state, columns=[0]) for belief, state in zip(run.beliefs, states[:5], strict=True)]
    assert scores.crps == pytest.approx(np.mean(expected))


def test_true_states_of_half_of_the_steps_are_not_half_of_the_columns(tmp_path):
    """Six states of two columns have as many numbers as twelve positions."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    walk = kmcf.transitions.GaussianRandomWalk(0.5)
    run = kmcf.KernelMonteCarloFilter(walk, random_state=0).fit(X, X).filter(X[:12])
    assert run.report(tmp_path / "run.html", truth=X[:12, 0]).exists()
    for truth in (X[:6], np.repeat(X[:12, :1], 2, axis=0)):
        with pytest.raises(ValueError, match=r"true states have shape .* but the run has \(12, 2\)"):
            score_runs([run], [truth])
        with pytest.raises(ValueError, match=r"true states have shape .* but the run has \(12, 2\)"):
            run.report(tmp_path / "run.html", truth=truth)
    recording = kmcf.datasets.Recording("r", np.arange(12.0), X[:12], X[:12])
    for judge in (lambda: score_runs([run], [recording]), lambda: run.report(tmp_path / "run.html", truth=recording)):
        with pytest.raises(TypeError, match="pass its states or, without velocities, its positions"):
            judge()
