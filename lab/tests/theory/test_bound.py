"""Theorem 1: the exact expectation against brute force, the bound against the expectation."""

import pytest

from kmcf_lab.cells import Cell
from kmcf_lab.tables import rows_of
from kmcf_lab.theory.bound import compute_bound

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("space", ["circle", "line"])
def test_the_expectation_is_the_mean_of_many_moves(space):
    settings = {"space": space, "transition_sd": 0.3, "points": 30, "ridge": 1e-4, "repetition": 0, "seed": 1}
    (row,) = compute_bound(Cell("bound", {**settings, "draws": 4000}))
    assert abs(row["measured"] - row["expected"]) < 4 * row["standard_error"]
    assert row["standard_error"] < 0.05 * row["expected"]


def test_the_bound_is_the_sum_of_its_terms_and_above_the_expectation(results):
    for row in rows_of(results, "bound"):
        assert row["bound"] == pytest.approx(row["first_term"] + row["factor"] * row["error_of_estimate"], rel=1e-9)
        assert row["expected"] <= row["bound"] * (1 + 1e-9)
        assert 0 < row["first_term"] <= 1 / row["effective_sample_size"]
        assert row["factor"] == 1 if row["space"] == "line" else row["factor"] >= 1


def test_effective_sample_sizes_span_decades(results):
    sizes = [row["effective_sample_size"] for row in rows_of(results, "bound")]
    assert min(sizes) < 1
    assert max(sizes) > 50
