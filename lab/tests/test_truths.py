"""Closed forms against numerical integration, sampling and explicit kernels; intervals against simulation."""

import functools

import numpy as np
import pytest
from scipy import integrate, stats

from kmcf_lab.kalman import kalman
from kmcf_lab.statistics import confidence, slope
from kmcf_lab.truths import Circle, NormalMean, theta_norm

BANDWIDTH = 0.7


def kernel(x, y):
    return np.exp(-((x - y) ** 2) / (2 * BANDWIDTH**2))


def integral(f, mean, sd):
    return integrate.quad(lambda x: f(x) * stats.norm.pdf(x, mean, sd), mean - 12 * sd, mean + 12 * sd)[0]


def test_the_mean_of_a_normal_is_its_integral():
    truth = NormalMean(0.4, 0.9**2, BANDWIDTH)
    points = np.array([-1.0, 0.4, 2.0])
    expected = [integral(functools.partial(kernel, x), 0.4, 0.9) for x in points]
    np.testing.assert_allclose(truth(points), expected, rtol=1e-8)


def test_inner_products_are_double_integrals():
    one, other = NormalMean(0.4, 0.9**2, BANDWIDTH), NormalMean(-0.3, 0.5**2, BANDWIDTH)
    double = integral(lambda x: integral(lambda y: kernel(x, y), -0.3, 0.5), 0.4, 0.9)
    assert float(one.inner(other)) == pytest.approx(double, rel=1e-7)
    assert one.squared_norm == pytest.approx(float(one.inner(one)))


def test_the_error_of_a_sample_is_that_of_a_quadrature():
    """Gauss–Hermite points represent the normal distribution to rounding, so distances become finite sums."""
    nodes, masses = np.polynomial.hermite_e.hermegauss(60)
    nodes, masses = 0.4 + 0.9 * nodes, masses / masses.sum()
    rng = np.random.default_rng(0)
    points, weights = rng.normal(size=8), rng.normal(size=8)
    everything, signs = np.concatenate([points, nodes]), np.concatenate([weights, -masses])
    expected = signs @ kernel(everything[:, None], everything) @ signs
    assert NormalMean(0.4, 0.81, BANDWIDTH).squared_error(points, weights) == pytest.approx(expected, rel=1e-9)


def test_the_kernel_of_the_circle_is_a_wrapped_gaussian():
    circle = Circle(0.5)
    turns = 2 * np.pi * np.arange(-6, 7)
    x = np.linspace(-3, 3, 7)
    wrapped = np.exp(-((x[:, None] + turns) ** 2) / (2 * 0.5**2)).sum(axis=1)
    at_zero = np.exp(-(turns**2) / (2 * 0.5**2)).sum()
    np.testing.assert_allclose(circle.kernel(x), wrapped / at_zero, atol=1e-12)
    assert circle.spectrum.sum() == pytest.approx(1.0)


def test_distances_on_the_circle_are_those_of_the_kernel():
    circle, rng = Circle(0.5), np.random.default_rng(0)
    points, weights = rng.uniform(-np.pi, np.pi, 9), rng.normal(size=9)
    one, other = circle.empirical(points[:5], weights[:5]), circle.empirical(points[5:], -weights[5:])
    expected = weights @ circle.kernel(points[:, None] - points) @ weights
    assert circle.squared_distance(one, other) == pytest.approx(expected, rel=1e-10)


def test_wrapped_normals_on_the_circle_are_what_sampling_gives():
    circle, rng = Circle(0.5), np.random.default_rng(0)
    sample = circle.empirical(rng.normal(1.0, 0.8, size=200_000), np.full(200_000, 1 / 200_000))
    assert float(circle.squared_distance(sample, circle.wrapped_normal(1.0, 0.64))) < 2e-5


@pytest.mark.parametrize("variance", [0.05, 0.5])
def test_the_norm_of_theta_is_a_supremum_over_finite_sets(variance):
    """‖θ‖² ≥ tr(G⁻¹ Θ G⁻¹ Θ) on any finite set of points, with equality in the limit of a fine grid."""
    circle = Circle(0.5)
    x = np.linspace(-np.pi, np.pi, 22, endpoint=False)
    gram, theta = circle.kernel(x[:, None] - x), circle.kernel(x[:, None] - x, 2 * variance)
    half = np.linalg.solve(gram, theta)
    assert theta_norm(variance) ** 2 == pytest.approx(np.trace(half @ half), rel=2e-2)


def test_the_kalman_filter_is_conditioning_of_a_normal_vector():
    y = np.random.default_rng(0).normal(size=6)
    lags = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    prior = 0.9**lags / (1 - 0.81)
    for t in range(1, 7):
        gain = np.linalg.solve(prior[:t, :t] + np.eye(t), prior[:t, t - 1])
        means, variances = kalman(y)
        assert means[t - 1] == pytest.approx(gain @ y[:t])
        assert variances[t - 1] == pytest.approx(prior[t - 1, t - 1] - gain @ prior[:t, t - 1])


def test_intervals_hold_the_truth_95_percent_of_the_time():
    draws = np.random.default_rng(0).normal(3.0, 2.0, size=(4000, 5))
    inside = [found.low <= 3.0 <= found.high for found in map(confidence, draws)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.012)


def test_one_value_has_no_interval():
    assert confidence(np.array([2.0])) == (2.0, -np.inf, np.inf)


def test_slopes_are_those_of_polyfit():
    rng = np.random.default_rng(0)
    x, y = np.array([1.0, 3.0, 10.0, 50.0]), rng.uniform(1, 2, size=(6, 4))
    expected = [np.polyfit(np.log(x), np.log(row), 1)[0] for row in y]
    assert slope(x, y).value == pytest.approx(np.mean(expected))
    assert slope(np.tile(x, (6, 1)), y) == pytest.approx(slope(x, y))


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan])
def test_slopes_need_positive_numbers(bad):
    with pytest.raises(ValueError, match="positive"):
        slope(np.array([1.0, 2.0]), np.array([[1.0, bad]]))
