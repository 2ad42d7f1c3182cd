"""Section 5.2: exact expectations against brute force, and the two regimes."""

import numpy as np
import pytest

from kmcf_lab.cells import Cell
from kmcf_lab.tables import chosen
from kmcf_lab.theory.benefit import compute_benefit, expected_error
from kmcf_lab.truths import NormalMean


def test_the_expected_error_is_the_mean_of_many_moves():
    rng = np.random.default_rng(0)
    points, weights = rng.normal(0, 0.1, 6), np.array([0.5, 0.4, -0.2, 0.1, 0.1, 0.1])
    truth = NormalMean(0.0, 0.01 + 0.04, 0.1)
    squares = np.array([truth.squared_error(points + 0.2 * rng.normal(size=6), weights) for _ in range(20_000)])
    expected = expected_error(points, weights, float(weights @ weights), 0.2)
    assert expected == pytest.approx(squares.mean(), abs=4 * squares.std() / np.sqrt(len(squares)))


def test_copies_are_independent_moves_of_the_same_point():
    rng = np.random.default_rng(1)
    points, truth = np.array([-0.1, 0.1]), NormalMean(0.0, 0.02, 0.1)
    squares = [
        truth.squared_error(np.repeat(points, 3) + 0.1 * rng.normal(size=6), np.full(6, 1 / 6)) for _ in range(20_000)
    ]
    expected = expected_error(points, np.full(2, 0.5), 1 / 6, 0.1)
    assert expected == pytest.approx(np.mean(squares), abs=4 * np.std(squares) / np.sqrt(len(squares)))


def test_resampling_helps_uneven_weights_and_hurts_a_still_transition():
    rows = compute_benefit(Cell("benefit", {"place": "uniform", "ridge": 1e-6, "repetition": 0, "seed": 0}))
    (wide,), (still,) = chosen(rows, transition_sd=0.1), chosen(rows, transition_sd=0.0)
    assert wide["sum_of_squares"] > 0.02
    assert wide["herded"] < 0.5 * wide["without"]
    assert still["herded"] > 10 * still["without"]
    assert still["herded"] == pytest.approx(still["loss"], rel=0.1)
    assert wide["copied"] < wide["once"]
