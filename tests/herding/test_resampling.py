"""Resampling schemes against what their names promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from kmcf.herding.resampling import SCHEMES, multinomial, stratified, systematic


def test_multinomial_draws_from_the_truncated_weights():
    weights = np.array([0.6, -0.4, 0.3, 0.5, 0.0])
    picks = multinomial(weights, 20_000, np.random.default_rng(0))
    counts = np.bincount(picks, minlength=5)
    assert counts[[1, 4]].tolist() == [0, 0]
    expected = np.array([0.6, 0.3, 0.5]) / 1.4 * 20_000
    assert stats.chisquare(counts[[0, 2, 3]], expected).pvalue > 0.001


@given(seed=st.integers(0, 1000), n=st.integers(1, 30), size=st.integers(1, 200))
def test_systematic_counts_are_the_expected_ones_rounded(seed, n, size):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(n))
    counts = np.bincount(systematic(weights, size, rng), minlength=n)
    assert np.abs(counts - size * weights).max() < 1.0 + 1e-9


@given(seed=st.integers(0, 1000), n=st.integers(1, 30), size=st.integers(1, 200))
def test_stratified_counts_differ_from_the_expected_ones_by_less_than_two(seed, n, size):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(n))
    counts = np.bincount(stratified(weights, size, rng), minlength=n)
    assert np.abs(counts - size * weights).max() < 2.0


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_every_scheme_is_unbiased_and_determined_by_its_generator(scheme):
    weights = np.array([0.05, 0.6, 0.0, 0.35])
    rng = np.random.default_rng(0)
    counts = sum(np.bincount(SCHEMES[scheme](weights, 7, rng), minlength=4) for _ in range(4000))
    np.testing.assert_allclose(counts / (7 * 4000), weights, atol=0.012)
    assert counts[2] == 0
    first, again = (SCHEMES[scheme](weights, 7, np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_weights_need_not_be_normalised(scheme):
    weights = np.array([1.0, 2.0, 5.0])
    first, again = (SCHEMES[scheme](w, 9, np.random.default_rng(0)) for w in (weights, weights / 8.0))
    np.testing.assert_array_equal(first, again)
