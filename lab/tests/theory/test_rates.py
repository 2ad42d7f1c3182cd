"""Theorem 2: herding improves with picks and candidates, and keeps below its bound."""

import numpy as np

from kmcf_lab.tables import rows_of
from kmcf_lab.theory.checks import curve


def test_more_picks_and_more_candidates_are_better(results):
    picks, candidates = rows_of(results, "picks"), rows_of(results, "candidates")
    assert (np.diff(curve(picks, "picks", "loss").mean) < 0).all()
    herded = curve(candidates, "candidates", "herded").mean
    assert herded[-1] < 0.1 * herded[0]
    assert all(row["loss"] <= row["bound"] for row in picks)
