"""Histogram kernels against loops over bins and scikit-learn."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import additive_chi2_kernel, chi2_kernel

from kmcf.kernels import ChiSquared, Hellinger, HistogramIntersection

RNG = np.random.default_rng(0)
A = np.where(RNG.random((9, 30)) < 0.5, 0.0, RNG.random((9, 30)))
B = np.where(RNG.random((4, 30)) < 0.5, 0.0, RNG.random((4, 30)))
ALL = [HistogramIntersection(), ChiSquared(gamma=0.5), Hellinger()]


def loops(function, a, b):
    return np.array([[sum(function(s, t) for s, t in zip(x, y, strict=True)) for y in b] for x in a])


def chi(s, t):
    return (s - t) ** 2 / (s + t) if s + t > 0 else 0.0


def test_intersection_is_the_sum_of_minima():
    np.testing.assert_allclose(HistogramIntersection()(A, B), loops(min, A, B), rtol=1e-13)
    np.testing.assert_allclose(HistogramIntersection()(A), loops(min, A, A), rtol=1e-13)


def test_chi_squared_is_the_formula_and_scikit_learns():
    expected = np.exp(-0.3 * loops(chi, A, B))
    np.testing.assert_allclose(ChiSquared(gamma=0.3)(A, B), expected, rtol=1e-13)
    np.testing.assert_allclose(ChiSquared(gamma=0.3)(B, A), expected.T, rtol=1e-13)
    np.testing.assert_allclose(ChiSquared(gamma=0.3)(A), chi2_kernel(A, gamma=0.3), rtol=1e-13)


def test_gamma_is_one_over_the_median_distance():
    distances = -additive_chi2_kernel(A)[np.triu_indices(9, 1)]
    assert ChiSquared().fit(A).gamma_ == pytest.approx(1.0 / np.median(distances))
    assert ChiSquared(multiplier=2.0).fit(A).gamma_ == pytest.approx(0.5 / np.median(distances))


def test_gamma_must_be_learnt_or_given():
    with pytest.raises(NotFittedError, match="fit"):
        ChiSquared()(A)
    with pytest.raises(ValueError, match=r"gamma = -1.*positive"):
        ChiSquared(gamma=-1)(A)


def test_hellinger_is_the_sum_of_geometric_means():
    np.testing.assert_allclose(Hellinger()(A, B), loops(lambda s, t: np.sqrt(s * t), A, B), rtol=1e-13)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_normalising_removes_the_total(kernel):
    normalised = kernel.__class__(**{**kernel.get_params(), "normalize": True})
    np.testing.assert_allclose(normalised(7.0 * A, B), normalised(A, 0.1 * B), rtol=1e-12)
    np.testing.assert_allclose(normalised.diagonal(A), 1.0)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
@pytest.mark.parametrize("normalize", [False, True])
def test_zero_histograms_are_fine(kernel, normalize):
    kernel = kernel.__class__(**{**kernel.get_params(), "normalize": normalize})
    rows = np.vstack([np.zeros(30), A])
    matrix = kernel(rows)
    assert np.all(np.isfinite(matrix))
    assert matrix[0, 0] == (1.0 if isinstance(kernel, ChiSquared) else 0.0)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
@pytest.mark.parametrize("bad", [-1e-9, np.nan, np.inf])
def test_entries_that_no_histogram_has_are_named(kernel, bad):
    rows = A.copy()
    rows[2, 5] = bad
    with pytest.raises(ValueError, match="non-negative and finite, but entry 5 of object 2 is"):
        kernel(rows)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_more_rows_than_a_block_change_nothing(kernel):
    rows = RNG.random((300, 7))
    whole = kernel(rows)
    np.testing.assert_allclose(whole, whole.T, rtol=0, atol=1e-14)
    np.testing.assert_allclose(whole[250:, :10], kernel(rows[250:], rows[:10]), rtol=1e-12)


def test_counts_are_exact():
    counts = RNG.integers(0, 1000, size=(20, 50)).astype(float)
    np.testing.assert_array_equal(HistogramIntersection()(counts), loops(min, counts, counts))
