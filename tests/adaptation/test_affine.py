"""Affine changes of columns: estimated by least squares, compared by the density of what was seen."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm, t

from kmcf.adaptation.affine import Affine, fitted_change, log_densities, matched_change


def test_there_and_back_again():
    change = Affine(np.array([2.0, 0.5]), np.array([1.0, -3.0]))
    rows = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_allclose(change.before(change.now(rows)), rows)
    np.testing.assert_allclose(change.only(np.array([True, False])).now(rows)[:, 1], rows[:, 1])


def test_the_fitted_change_is_the_most_probable_one():
    rng = np.random.default_rng(1)
    means, variances = rng.normal(size=(80, 1)), rng.uniform(0.5, 2.0, size=(80, 1))
    seen = 1.7 * (means + np.sqrt(variances) * rng.normal(size=(80, 1))) + 0.6
    found, error = fitted_change(seen, means, variances, scaled=True)

    def less_probable(theta):
        scale = np.exp(theta[0])
        return -norm.logpdf(seen, scale * means + theta[1], scale * np.sqrt(variances)).sum()

    best = minimize(less_probable, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10}).x
    np.testing.assert_allclose([found.scale[0], found.shift[0]], [np.exp(best[0]), best[1]], rtol=1e-4)
    assert 0 < error[0] < 0.5


def test_rounds_with_weights_lead_to_the_most_probable_change_of_a_student_distribution():
    rng = np.random.default_rng(1)
    means, variances = rng.normal(size=(80, 1)), rng.uniform(0.5, 2.0, size=(80, 1))
    seen = 1.7 * (means + np.sqrt(variances / 2) * rng.standard_t(4, size=(80, 1))) + 0.6

    def less_probable(theta):
        scale = np.exp(theta[0])
        return -t.logpdf(seen, 4, scale * means + theta[1], scale * np.sqrt(variances / 2)).sum()

    best = minimize(less_probable, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10}).x
    found = Affine.none(1)
    for _ in range(200):
        found, _ = fitted_change(seen, means, variances, scaled=True, now=found)
    np.testing.assert_allclose([found.scale[0], found.shift[0]], [np.exp(best[0]), best[1]], rtol=1e-4)
    assert log_densities(seen, means, variances, found).sum() == pytest.approx(-less_probable(best))


def test_missing_numbers_do_not_count():
    rng = np.random.default_rng(2)
    means, seen = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    seen[10:, 0] = np.nan
    some, _ = fitted_change(seen, means, np.ones((30, 2)), scaled=False)
    short, _ = fitted_change(seen[:10], means[:10], np.ones((10, 2)), scaled=False)
    assert some.shift[0] == pytest.approx(short.shift[0])
    seen[:, 0] = np.nan
    silent, error = fitted_change(seen, means, np.ones((30, 2)), scaled=True)
    assert (silent.scale[0], silent.shift[0], error[0]) == (1.0, 0.0, np.inf)
    assert np.isfinite(log_densities(seen, means, np.ones((30, 2)), silent)).all(axis=0).tolist() == [False, True]


def test_matched_medians_undo_a_change_of_the_same_rows():
    rows = np.random.default_rng(3).normal(size=(200, 2))
    changed = Affine(np.array([3.0, 0.2]), np.array([-1.0, 5.0]))
    found = matched_change(changed.now(rows), rows, scaled=True)
    np.testing.assert_allclose([found.scale, found.shift], [changed.scale, changed.shift], rtol=1e-9)
