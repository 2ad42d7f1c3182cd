"""Resampling schemes against what their names promise."""

import numpy as np
import pytest
from embeddings import signed_weights
from herding_by_hand import resampling_loss
from hypothesis import given
from hypothesis import strategies as st
from kernels_by_hand import gaussian_matrix
from scipy import stats
from weighted_points import WeightedPoints

from kmcf.herding.resampling import (
    SCHEMES,
    Draw,
    DrawTruncated,
    KeepAll,
    multinomial,
    stratified,
    systematic,
    uneven,
)


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


# --- resamplers -------------------------------------------------------------------------------------------------------

GRAM = gaussian_matrix(np.arange(5.0)[:, None], np.arange(5.0)[:, None], 1.0)
EVEN, POINTED = np.full(5, 0.2), np.array([0.0, 0.9, 0.1, 0.0, 0.0])


@given(seed=st.integers(0, 1000), n=st.integers(1, 30), threshold=st.floats(1e-3, 40.0))
def test_uneven_means_fewer_effective_points_than_the_threshold_allows(seed, n, threshold):
    """Σw² > threshold / n is the same as an effective sample size below n / threshold (Section 5.2)."""
    weights = signed_weights(n, np.random.default_rng(seed))
    effective = 1.0 / sum(w * w for w in weights)
    if abs(effective * threshold / n - 1.0) > 1e-9:
        assert uneven(WeightedPoints(weights), threshold) == (effective < n / threshold)


def test_the_limits_are_always_never_and_not_at_equality():
    assert uneven(WeightedPoints(EVEN), 0.0)
    assert not uneven(WeightedPoints(POINTED), np.inf)
    quarter = WeightedPoints(np.full(4, 0.25))
    assert not uneven(quarter, 1.0)  # Σw² = 1/n exactly
    assert uneven(quarter, 0.999)
    lazy = WeightedPoints(None)  # nobody asks for weights that are not needed
    assert uneven(lazy, 0.0)


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_drawing_is_the_scheme_with_as_many_points_as_particles(scheme):
    drawn = Draw(scheme)(WeightedPoints(POINTED), 12, np.random.default_rng(3))
    np.testing.assert_array_equal(drawn.indices, SCHEMES[scheme](POINTED, 12, np.random.default_rng(3)))
    assert len(drawn.indices) == 12
    assert np.isnan(drawn.loss)


@pytest.mark.parametrize("resampler", [Draw("systematic", 2.0), DrawTruncated(2.0)], ids=["draw", "truncated"])
def test_even_weights_are_left_alone_and_cost_no_random_numbers(resampler):
    rng = np.random.default_rng(0)
    kept = resampler(WeightedPoints(EVEN, GRAM), 7, rng)
    assert kept.indices is None
    assert np.isnan(kept.loss)
    assert rng.random() == np.random.default_rng(0).random()
    assert resampler(WeightedPoints(POINTED, GRAM), 7, rng).indices is not None


def test_drawing_from_truncated_weights_says_how_far_the_points_are():
    weights = np.array([0.8, -0.5, 0.4, 0.3, 0.0])
    drawn = DrawTruncated()(WeightedPoints(weights, GRAM), 6, np.random.default_rng(5))
    positive = np.array([0.8, 0.0, 0.4, 0.3, 0.0]) / 1.5
    np.testing.assert_array_equal(drawn.indices, np.random.default_rng(5).choice(5, size=6, p=positive))
    assert drawn.loss == pytest.approx(resampling_loss(weights, GRAM, drawn.indices.tolist()), abs=1e-12)


def test_keeping_all_asks_nothing():
    rng = np.random.default_rng(0)
    kept = KeepAll()(WeightedPoints(None), 7, rng)
    assert kept.indices is None
    assert np.isnan(kept.loss)
    assert rng.random() == np.random.default_rng(0).random()
