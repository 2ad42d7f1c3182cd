"""Errors, intervals and slopes."""

import numpy as np
import pytest

from kmcf_lab.statistics import confidence, estimate, rmse, slope


def test_the_error_is_of_the_whole_state_vector():
    means, states = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 4.0]])
    assert rmse(means, states) == pytest.approx(np.sqrt((4 + 9) / 2))


def test_a_mean_has_its_standard_error():
    mean = estimate([1.0, 2.0, 6.0])
    assert (mean.value, mean.error) == (3.0, pytest.approx(np.std([1, 2, 6], ddof=1) / np.sqrt(3)))
    assert np.isnan(estimate([4.0]).error)


def test_intervals_hold_the_truth_95_percent_of_the_time():
    draws = np.random.default_rng(0).normal(3.0, 2.0, size=(4000, 5))
    inside = [found.low <= 3.0 <= found.high for found in map(confidence, draws)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.012)


def test_one_value_has_no_interval():
    assert confidence(np.array([2.0])) == (2.0, -np.inf, np.inf)


def test_slopes_are_those_of_polyfit():
    rng = np.random.default_rng(0)
    x, y = np.array([1.0, 3.0, 10.0, 50.0]), rng.uniform(1, 2, size=(6, 4))
    expected = [np.polyfit(np.log(x), np.log(row), 1)[0] for row in y]
    assert slope(x, y).value == pytest.approx(np.mean(expected))
    assert slope(np.tile(x, (6, 1)), y) == pytest.approx(slope(x, y))


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan])
def test_slopes_need_positive_numbers(bad):
    with pytest.raises(ValueError, match="positive"):
        slope(np.array([1.0, 2.0]), np.array([[1.0, bad]]))
