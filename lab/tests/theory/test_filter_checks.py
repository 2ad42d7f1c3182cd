"""What Corollary 3 assumes, on model 1a."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar

from kmcf.report import Verdict
from kmcf_lab.theory.checks import statements
from kmcf_lab.theory.filter_checks import STATIONARY, largest_ratio


@pytest.mark.parametrize(("mean", "variance"), [(0.0, 0.4), (2.5, 0.84), (-1.0, 5.0)])
def test_the_largest_ratio_of_two_normal_densities(mean, variance):
    posterior, examples = stats.norm(mean, np.sqrt(variance)), stats.norm(0.0, np.sqrt(STATIONARY))
    found = minimize_scalar(lambda x: examples.logpdf(x) - posterior.logpdf(x), bounds=(-60.0, 60.0), method="bounded")
    assert largest_ratio(np.array([mean]), np.array([variance]), STATIONARY)[0] == pytest.approx(np.exp(-found.fun))


def test_stationary_examples_of_model_1a_cover_its_posteriors(results):
    (covered,) = [one for one in statements(results) if "cover its posteriors" in one.claim]
    assert covered.verdict is Verdict.HOLDS
    assert "variances of at most 0.840, below 5.26" in covered.numbers
