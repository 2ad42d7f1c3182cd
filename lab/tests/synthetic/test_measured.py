"""Means and ratios over repetitions."""

import numpy as np
import pytest
from scipy import stats
from synthetic_results import as_the_paper_says, made_up

from kmcf_lab.synthetic.measured import errors_of


def test_ratios_and_means_are_over_repetitions():
    errors = errors_of(made_up(as_the_paper_says, repetitions=5))
    ours, oracle = (np.array([errors.values["3b", 200, m][r] for r in range(5)]) for m in ("KMCF", "oracle"))
    assert errors.mean("3b", 200, "KMCF").value == pytest.approx(ours.mean())
    assert errors.mean("3b", 200, "KMCF").error == pytest.approx(stats.sem(ours))
    assert errors.ratio("3b", 200, "KMCF").value == pytest.approx((ours / oracle).mean())
    assert errors.overall_ratio(200, "KMCF").value == pytest.approx(2.0, rel=0.03)
    assert errors.mean("3b", 999, "KMCF") is None


def test_one_number_of_examples_can_be_looked_at_alone():
    results = made_up(as_the_paper_says, models=("1a", "1b"), sizes=(100, 200), repetitions=3)
    errors = errors_of(results[:-1])
    assert errors.counts == {100: 3, 200: 2}
    assert errors.at(200).sizes == [200]
    assert errors.at(200).values["1a", 200, "KMCF"] == errors.values["1a", 200, "KMCF"]
