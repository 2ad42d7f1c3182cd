"""Closed forms against numerical integration, sampling and explicit kernels."""

import functools
import math

import numpy as np
import pytest
from scipy import integrate

from kmcf_lab.truths import Circle, NormalMean, theta_norm

BANDWIDTH = 0.7


def kernel(x, y):
    return np.exp(-((x - y) ** 2) / (2 * BANDWIDTH**2))


def integral(f, mean, sd):
    """E f(x) for x ~ N(mean, sd²), by quadrature."""
    scale = 1.0 / (sd * math.sqrt(2.0 * math.pi))
    return integrate.quad(
        lambda x: f(x) * scale * math.exp(-0.5 * ((x - mean) / sd) ** 2), mean - 12 * sd, mean + 12 * sd
    )[0]


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
