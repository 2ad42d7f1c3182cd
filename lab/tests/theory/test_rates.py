"""Theorems 2 and 3: herding improves with picks and candidates, keeps below its bound, and stops at its floor."""

import numpy as np

from kmcf_lab.tables import chosen, rows_of
from kmcf_lab.theory.rate_checks import half_line_distance
from kmcf_lab.theory.slopes import curve


def test_more_picks_and_more_candidates_are_better(results):
    picks, candidates = rows_of(results, "picks"), rows_of(results, "candidates")
    assert (np.diff(curve(picks, "picks", "loss").mean) < 0).all()
    herded = curve(chosen(candidates, design="iid"), "candidates", "herded").mean
    assert herded[-1] < 0.1 * herded[0]
    assert all(row["loss"] <= row["bound"] for row in picks)


def test_nothing_in_the_hull_is_nearer_than_the_nearest(results):
    for row in rows_of(results, "candidates"):
        assert row["nearest"] <= 1.001 * min(row["herded"], row["hull"]) + 1e-5
    for row in rows_of(results, "floor"):
        assert row["error"] >= row["floor"] * (1 - 1e-3) - 1e-12


def test_candidates_on_a_half_line_cannot_come_nearer_than_the_half_line(results):
    """By symmetry the best distribution on [0, ∞) is far from P; many candidates reach its distance."""
    rows = chosen(rows_of(results, "candidates"), design="uncovered")
    least = half_line_distance()
    assert least > 0.2
    assert all(row["nearest"] > 0.999 * least for row in rows)
    assert np.mean([row["herded"] for row in chosen(rows, candidates=300)]) < 1.1 * least
