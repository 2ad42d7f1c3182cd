"""Corollaries 1 and 2: the numbers of candidates and copies, exact errors against brute force."""

import numpy as np
import pytest

from kmcf_lab.cells import Cell
from kmcf_lab.tables import chosen, rows_of
from kmcf_lab.theory import corollaries
from kmcf_lab.theory.bound import CIRCLE, CIRCLE_SD
from kmcf_lab.theory.corollaries import compute_corollaries, expected_error, repeated
from kmcf_lab.theory.slopes import curve


@pytest.mark.parametrize(
    ("b", "n", "candidates", "copies"), [(0.25, 256, 16, 256), (0.35, 20, 9, 27), (0.75, 10, 32, 32)]
)
def test_candidates_and_copies_are_those_of_the_corollary(b, n, candidates, copies):
    (row,) = compute_corollaries(Cell("corollaries", {"b": b, "n": n, "repetition": 0, "seed": 0}))
    assert (row["candidates"], row["copies"]) == (candidates, copies)
    if b != 0.5:
        assert row["estimate_p"] == pytest.approx(n**-b, rel=1e-9)


def test_the_expected_error_is_the_mean_of_many_moves():
    rng = np.random.default_rng(0)
    points, truth = rng.normal(0.3, 0.5, size=12), CIRCLE.wrapped_normal(0.0, CIRCLE_SD**2)
    moved = points + corollaries.TRANSITION_SD * rng.normal(size=(20_000, 12))
    target = CIRCLE.wrapped_normal(0.0, CIRCLE_SD**2 + corollaries.TRANSITION_SD**2)
    squares = CIRCLE.squared_distance(CIRCLE.empirical(moved, np.full(12, 1 / 12)), target)
    assert expected_error(points, truth) ** 2 == pytest.approx(squares.mean(), abs=4 * squares.std() / np.sqrt(20_000))


def test_copies_keep_the_mean_and_lower_the_noise():
    points, truth = np.random.default_rng(1).normal(0, 0.5, size=10), CIRCLE.wrapped_normal(0.0, 0.25)
    spread = 1 - float(CIRCLE.kernel(np.zeros(()), 2 * corollaries.TRANSITION_SD**2))
    once, copied = (expected_error(points[repeated(10, total)], truth) ** 2 for total in (10, 50))
    assert once - copied == pytest.approx(spread * (1 / 10 - 1 / 50), rel=1e-9)


def test_the_moves_drawn_have_the_expected_error(results):
    rows = rows_of(results, "corollaries")
    ratio = np.array([(row["drawn_q"] / row["copied_q"]) ** 2 for row in rows])
    assert ratio.mean() == pytest.approx(1.0, abs=4 * ratio.std() / np.sqrt(len(ratio)))


@pytest.mark.parametrize("b", [0.25, 0.35])
def test_errors_fall_with_the_rate_of_the_estimate(results, b):
    assert curve(chosen(rows_of(results, "corollaries"), b=b), "n", "herded_p").slope.value < -b + 0.1
