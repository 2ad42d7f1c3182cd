"""Scores against closed forms, brute force and the property that the truth wins on average."""

import numpy as np
import pytest
from scipy.stats import norm

from kmcf.trust.scores import crps, crps_of_quantiles, interval_score


def gaussian_crps(mean, sd, truth):
    """CRPS of a normal distribution (Gneiting et al. 2005)."""
    z = (truth - mean) / sd
    return sd * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))


def brute_force(points, weights, truth):
    """Integrate the squared difference of distribution functions on a fine grid, made monotone step by step."""
    grid = np.linspace(min(points.min(), truth) - 0.5, max(points.max(), truth) + 0.5, 200_001)
    order = np.argsort(points)
    total = np.cumsum(weights[order])
    up, down = total.copy(), total.copy()
    for i in range(1, len(total)):
        up[i] = max(up[i], up[i - 1])
    for i in range(len(total) - 2, -1, -1):
        down[i] = min(down[i], down[i + 1])
    steps = np.clip((up + down) / 2, 0, 1)
    steps[-1] = 1.0
    F = np.array([0.0, *steps])[np.searchsorted(points[order], grid, side="right")]
    return np.trapezoid((F - (grid >= truth)) ** 2, grid)


@pytest.mark.parametrize("truth", [-2.0, 0.3, 4.0])
def test_crps_of_a_normal_sample_is_the_closed_form(truth):
    points = norm.ppf((np.arange(4000) + 0.5) / 4000, loc=1.0, scale=1.5)
    found = crps(points, np.full(4000, 1 / 4000), truth)
    assert found == pytest.approx(gaussian_crps(1.0, 1.5, truth), rel=2e-3)
    levels = (np.arange(999) + 0.5) / 999
    from_quantiles = crps_of_quantiles(levels, norm.ppf(levels, 1.0, 1.5)[:, None], np.array([truth]))
    assert from_quantiles[0] == pytest.approx(gaussian_crps(1.0, 1.5, truth), rel=2e-3)


@pytest.mark.parametrize("seed", range(5))
def test_crps_of_signed_weights_is_that_of_a_distribution(seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=12), rng.normal(0.3, 1.0, size=12)
    weights /= weights.sum()
    truth = rng.normal()
    assert crps(points, weights, truth) == pytest.approx(brute_force(points, weights, truth), abs=2e-4)
    assert crps(points[::-1], weights[::-1], truth) == pytest.approx(crps(points, weights, truth))


def test_crps_in_closed_form_for_two_points():
    # F = 1/4 on [0, 1): (1/4)² · ½ + (3/4)² · ½ with the truth in the middle
    assert crps(np.array([1.0, 0.0]), np.array([0.75, 0.25]), 0.5) == pytest.approx(0.5 / 16 + 0.5 * 9 / 16)


def test_crps_is_proper():
    """The true distribution has a lower expected score than any of these others."""
    truths = norm.ppf((np.arange(400) + 0.5) / 400)
    levels = (np.arange(300) + 0.5) / 300

    def expected(mean, sd):
        points = norm.ppf(levels, mean, sd)
        return np.mean([crps(points, np.full(300, 1 / 300), truth) for truth in truths])

    best = expected(0.0, 1.0)
    assert all(best < expected(mean, sd) for mean, sd in ((0.0, 0.7), (0.0, 1.4), (0.3, 1.0), (-0.3, 1.0)))


def test_interval_score_is_least_at_the_quantiles():
    truths = norm.ppf((np.arange(10_000) + 0.5) / 10_000)

    def expected(half):
        return np.mean(interval_score(np.full(10_000, -half), np.full(10_000, half), truths, level=0.9))

    best = norm.ppf(0.95)
    assert all(expected(best) < expected(best + change) for change in (-0.3, -0.1, 0.1, 0.3))
    # In closed form: width plus (2/α) · 2 ∫_{half}^∞ (z − half) φ(z) dz
    tail = norm.pdf(best) - best * (1 - norm.cdf(best))
    assert expected(best) == pytest.approx(2 * best + 2 / 0.1 * 2 * tail, rel=1e-3)
