"""Jumps that no move explains: how they are made, and when a filter counts as back."""

import numpy as np
import pytest
from stand_ins import mrclam_folder

from kmcf_lab.bench.kidnapping import measure_kidnapping, observations_until_back
from kmcf_lab.bench.kidnapping_calm import measure_calm
from kmcf_lab.bench.kidnapping_cases import AFTER, BEFORE, ble_cases, model_cases, robot_cases


def test_back_means_two_small_errors_in_a_row():
    assert observations_until_back(np.array([0.1, 0.1, 9.0]), usual=1.0) == 1
    assert observations_until_back(np.array([9.0, 2.0, 2.0]), usual=1.0) == 2
    assert observations_until_back(np.array([9.0, 0.1, 9.0, 0.1]), usual=1.0) == AFTER


def test_states_jump_farther_than_they_move():
    case = next(model_cases("1a", 50, 1))
    steps = np.abs(np.diff(case.jumping[0].states[:, 0]))
    assert steps[BEFORE - 1] > 4.5
    assert len(case.jumping[0].states) == len(case.jumping[0].observations) == BEFORE + AFTER
    assert np.abs(case.jumping[0].states[BEFORE]) <= np.abs(case.examples[0]).max()
    walked = next(ble_cases(1))
    distances = np.linalg.norm(np.diff(walked.jumping[0].states, axis=0), axis=1)
    assert distances[BEFORE - 1] > 4.0 > distances[: BEFORE - 1].max()


@pytest.mark.slow
def test_a_small_study(monkeypatch):
    monkeypatch.setattr("kmcf_lab.bench.kidnapping.ble_cases", lambda tracks: iter(()))
    rows = measure_kidnapping(["1a"], 150, 2, 0, report=lambda line: None)
    supports = ("examples", "examples, relocate=False", "examples, with_recovery 0.02", "both", "particles")
    assert [row.method for row in rows] == [
        *(f"on {one}" for one in supports),
        "on particles, relocate=False",
        "oracle",
    ]
    assert all(1 <= row.median <= AFTER and row.jumps == 2 and row.error > 0 for row in rows)
    assert all(row.looks == 0.0 for row in rows if "=" in row.method or row.method == "oracle")


@pytest.mark.slow
def test_what_looking_elsewhere_costs_is_compared_on_the_same_data():
    rows = measure_calm(["1a"], [60], 2, report=lambda line: None)
    assert [(row.method, row.n, row.repetitions) for row in rows] == [("on examples", 60, 2), ("on particles", 60, 2)]
    for row in rows:
        assert row.error > 0
        assert row.looks > 0 or (row.loss, row.loss_error) == (0.0, 0.0)


def test_robots_go_on_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr("kmcf_lab.bench.kidnapping_cases.ROBOT_BEFORE", 2)
    monkeypatch.setattr("kmcf_lab.bench.kidnapping_cases.AFTER", 3)
    monkeypatch.setattr("kmcf_lab.bench.kidnapping_cases.FAR_ROBOT", 0.5)
    case = next(robot_cases(mrclam_folder(tmp_path), 1, jumps=2))
    assert case.jumping
    for track in case.jumping:
        steps = np.linalg.norm(np.diff(track.states[:, :2], axis=0), axis=1)
        assert len(track.states) == len(track.observations) == len(track.controls) == 50
        assert steps[19] > 0.5
        assert track.judged == 20
