"""What Section 3 recalls of kernel means, on closed forms."""

import numpy as np
import pytest

from kmcf.herding.herding import herd

BANDWIDTH = 0.7


def kernel(a, b):
    return np.exp(-np.sum((a[:, None] - b[None]) ** 2, axis=-1) / (2 * BANDWIDTH**2))


def mean_of_normal(points):
    """m_P of N(0, I) at some points, (n, d): a product over dimensions."""
    total, d = BANDWIDTH**2 + 1, points.shape[1]
    return (BANDWIDTH**2 / total) ** (d / 2) * np.exp(-np.sum(points**2, axis=1) / (2 * total))


@pytest.mark.parametrize("d", [1, 5])
@pytest.mark.parametrize("n", [10, 90])
def test_the_mean_of_a_sample_converges_like_a_root_in_every_dimension(n, d):
    """E ‖m̂ − m‖² = (1 − ‖m‖²)/n, whatever the dimension; ‖m‖² = (γ²/(γ² + 2))^(d/2)."""
    rng = np.random.default_rng(0)
    norm = (BANDWIDTH**2 / (BANDWIDTH**2 + 2)) ** (d / 2)
    errors = []
    for _ in range(400):
        sample = rng.normal(size=(n, d))
        errors.append(kernel(sample, sample).mean() - 2 * mean_of_normal(sample).mean() + norm)
    assert np.mean(errors) == pytest.approx((1 - norm) / n, abs=4 * np.std(errors) / 20)


def test_expectations_are_inner_products_and_errors_are_bounded_by_cauchy_schwarz():
    """For f = Σ c_j k(·, z_j), E f = Σ c_j m_P(z_j), and |E f − Σ w_i f(X_i)| ≤ ‖m̂ − m_P‖ ‖f‖."""
    rng = np.random.default_rng(1)
    centres, c = rng.normal(size=(4, 1)), rng.normal(size=4)
    points, weights = rng.normal(size=(6, 1)), rng.normal(size=6)
    draws = rng.normal(size=(400_000, 1))
    exact = c @ mean_of_normal(centres)
    values = kernel(draws, centres) @ c
    assert values.mean() == pytest.approx(exact, abs=4 * values.std() / np.sqrt(len(draws)))
    norm = np.sqrt(c @ kernel(centres, centres) @ c)
    squared = weights @ kernel(points, points) @ weights - 2 * weights @ mean_of_normal(points)
    distance = np.sqrt(squared + np.sqrt(BANDWIDTH**2 / (BANDWIDTH**2 + 2)))
    assert abs(exact - weights @ kernel(points, centres) @ c) <= distance * norm


@pytest.mark.parametrize("seed", range(3))
def test_each_pick_of_herding_minimises_the_distance_reached(seed):
    """With k(x, x) constant the p-th pick minimises ‖m̂ − (1/p) Σ_{j≤p} k(·, x_j)‖ over all candidates."""
    rng = np.random.default_rng(seed)
    points, target = rng.normal(size=(12, 1)), rng.normal(size=12)
    gram = kernel(points, points)
    picks = list(herd(gram @ target, gram, 20, float(target @ gram @ target)).indices)
    for p in range(1, 21):
        losses = []
        for candidate in range(12):
            gap = np.bincount([*picks[: p - 1], candidate], minlength=12) / p - target
            losses.append(gap @ gram @ gap)
        assert losses[picks[p - 1]] == pytest.approx(min(losses), rel=1e-9)
