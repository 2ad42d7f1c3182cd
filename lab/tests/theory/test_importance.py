"""Lemma 1 and the terms of the proof of Theorem 3, against closed forms."""

import numpy as np
import pytest

from kmcf_lab.cells import Cell
from kmcf_lab.resampling.study import TRUTH_P
from kmcf_lab.theory.importance import compute_importance, lemma_truth, limit_spread, second_term

# ∫ p²/q for P = N(0, s²) and q = N(0, t²): t/s² ÷ √(2/s² − 1/t²).
SECOND_MOMENT = 0.2 / 0.1**2 / np.sqrt(2 / 0.1**2 - 1 / 0.2**2)


def test_exact_values_for_iid_candidates_are_the_textbook_ones():
    assert second_term("iid", 7) == pytest.approx((SECOND_MOMENT - TRUTH_P.squared_norm) / 7, rel=1e-9)
    assert limit_spread("iid") == pytest.approx(np.sqrt(SECOND_MOMENT - 1), rel=1e-9)


def test_halves_are_between():
    """Unequal distributions lower the variance against i.i.d. draws from their mean, whose ∫ p²/q is larger here."""
    assert second_term("iid", 10) < second_term("halves", 10) < 1.3 * second_term("iid", 10)
    assert lemma_truth("halves") != pytest.approx(lemma_truth("iid"), rel=1e-2)


@pytest.mark.parametrize("design", ["iid", "halves", "strata"])
def test_many_draws_agree_with_the_exact_values(design):
    (row,) = compute_importance(Cell("importance", {"design": design, "candidates": 20, "draws": 2000, "seed": 3}))
    assert abs(row["lemma"] - row["lemma_exact"]) < 4 * row["lemma_error"]
    if design == "strata":
        assert row["second"] < second_term("iid", 20)
        assert row["spread"] < 0.2 * limit_spread("iid")
    else:
        assert abs(row["second"] - row["second_exact"]) < 4 * row["second_error"]
        assert row["spread"] == pytest.approx(row["spread_exact"], rel=0.1)
