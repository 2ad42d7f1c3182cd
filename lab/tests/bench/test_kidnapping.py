"""Jumps that no move explains: how they are made, and when a filter counts as back."""

import numpy as np

from kmcf_lab.bench.kidnapping import AFTER, BEFORE, ble_cases, measure_kidnapping, model_cases, observations_until_back


def test_back_means_two_small_errors_in_a_row():
    assert observations_until_back(np.array([0.1, 0.1, 9.0]), usual=1.0) == 1
    assert observations_until_back(np.array([9.0, 2.0, 2.0]), usual=1.0) == 2
    assert observations_until_back(np.array([9.0, 0.1, 9.0, 0.1]), usual=1.0) == AFTER


def test_states_jump_farther_than_they_move():
    case = next(model_cases("1a", 50, 1))
    steps = np.abs(np.diff(case.jumping[0][:, 0]))
    assert steps[BEFORE - 1] > 4.5
    assert len(case.jumping[0]) == len(case.jumping[1]) == BEFORE + AFTER
    assert np.abs(case.jumping[0][BEFORE]) <= np.abs(case.examples[0]).max()
    walked = next(ble_cases(1))
    distances = np.linalg.norm(np.diff(walked.jumping[0], axis=0), axis=1)
    assert distances[BEFORE - 1] > 4.0 > distances[: BEFORE - 1].max()


def test_a_small_study(monkeypatch):
    monkeypatch.setattr("kmcf_lab.bench.kidnapping.ble_cases", lambda tracks: iter(()))
    rows = measure_kidnapping(["1a"], 150, 2, 0, report=lambda line: None)
    assert [row.method for row in rows] == ["default", "with_recovery 0.02", "on both", "on particles", "oracle"]
    assert all(1 <= row.median <= AFTER and row.jumps == 2 and row.error > 0 for row in rows)
