"""Section 5.4: the filter against the Kalman filter."""

import numpy as np

from kmcf_lab.tables import rows_of
from kmcf_lab.theory.consistency import regularisers
from kmcf_lab.theory.slopes import curve


def test_the_filter_approaches_the_exact_posterior(results):
    for name in ("distance", "mean_error"):
        assert curve(rows_of(results, "consistency"), "n", name).slope.value < -0.2


def test_regularisers_decay_slowly():
    (early, late) = (np.array(regularisers(n)) for n in (100, 10_000))
    assert (late < early).all()
    assert (late * 10_000 >= early * 100).all()


def test_undoing_the_normalisation_changes_distances_as_much_as_the_sums_differ_from_one(results):
    """‖s m̂ − m‖ and ‖m̂ − m‖ differ by at most |s − 1| ‖m̂‖, and ‖m̂‖ is at most about 1 here."""
    for row in rows_of(results, "consistency"):
        assert abs(row["median_raw"] - row["median_distance"]) < 0.05 + 2 * row["sum_error"]
