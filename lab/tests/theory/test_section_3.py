"""What Section 3 recalls of kernel means, on closed forms."""

import numpy as np
import pytest
from scipy.special import ive

from kmcf.embedding import Embedding
from kmcf.herding.herding import herd
from kmcf.kernels import Circular, Constant, Gaussian, Laplace, Linear, Matern

BANDWIDTH = 0.7
KERNEL = Gaussian(BANDWIDTH)


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
        estimate = Embedding(rng.normal(size=(n, d)), np.full(n, 1.0 / n), KERNEL)
        errors.append(estimate.squared_norm() - 2 * mean_of_normal(estimate.states).mean() + norm)
    assert np.mean(errors) == pytest.approx((1 - norm) / n, abs=4 * np.std(errors) / 20)


def test_expectations_are_inner_products_and_errors_are_bounded_by_cauchy_schwarz():
    """For f = Σ c_j k(·, z_j), E f = Σ c_j m_P(z_j), and |E f − Σ w_i f(X_i)| ≤ ‖m̂ − m_P‖ ‖f‖."""
    rng = np.random.default_rng(1)
    centres, c = rng.normal(size=(4, 1)), rng.normal(size=4)
    f = Embedding(centres, c, KERNEL)
    weights = rng.normal(size=6)
    estimate = Embedding(rng.normal(size=(6, 1)), weights / weights.sum(), KERNEL)
    draws = rng.normal(size=(400_000, 1))
    exact = c @ mean_of_normal(centres)
    values = f.evaluate(draws)
    assert values.mean() == pytest.approx(exact, abs=4 * values.std() / np.sqrt(len(draws)))
    found = estimate.expectation(f.evaluate)
    assert found == pytest.approx(c @ estimate.evaluate(centres))  # ⟨m̂, f⟩, from either side
    squared = estimate.squared_norm() - 2 * estimate.expectation(mean_of_normal)
    distance = np.sqrt(squared + np.sqrt(BANDWIDTH**2 / (BANDWIDTH**2 + 2)))
    assert abs(exact - found) <= distance * np.sqrt(f.squared_norm())


def squared_distance_of_means(kernel, first, second):
    """‖m_P − m_Q‖² of two distributions, each points (n, 1) and their probabilities."""
    points, masses = np.concatenate([first[0], second[0]]), np.concatenate([first[1], -second[1]])
    return float(masses @ kernel(points, points) @ masses)


def normal_quadrature(count):
    """Return points and probabilities with the first 2·count − 1 moments of N(0, 1)."""
    points, masses = np.polynomial.hermite_e.hermegauss(count)
    return points[:, None], masses / masses.sum()


@pytest.mark.parametrize("similar", [Gaussian(1.0), Laplace(1.0), *(Matern(1.0, nu=nu) for nu in (0.5, 1.5, 2.5))])
def test_characteristic_kernels_tell_distributions_with_equal_moments_apart(similar):
    """Quadratures of 3 and 4 points agree in five moments: nothing to a polynomial kernel of degree 5, but to these."""
    first, second = normal_quadrature(3), normal_quadrature(4)
    linear = Linear() + Constant(1.0)
    of_degree_5 = linear * linear * linear * linear * linear
    assert abs(squared_distance_of_means(of_degree_5, first, second)) < 1e-10
    assert squared_distance_of_means(of_degree_5 * linear, first, second) > 1.0  # the sixth moments differ
    assert squared_distance_of_means(similar, first, second) > 1e-4


def test_the_kernel_of_angles_sees_every_frequency():
    """On the circle a kernel of the difference is characteristic if and only if no Fourier coefficient vanishes."""
    turns = 2 * np.pi * np.arange(64) / 64
    coefficients = np.fft.fft(Circular(1.0)(turns[:, None], np.zeros((1, 1)))[:, 0]).real / 64
    orders = np.arange(12)
    assert coefficients[:12] == pytest.approx(
        ive(orders, 1.0), rel=1e-6, abs=1e-15
    )  # those of exp(cos − 1): all positive
    cosine = np.fft.fft(1.0 + np.cos(turns)).real / 64  # positive definite, not characteristic
    assert np.abs(cosine[2:12]).max() < 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_each_pick_of_herding_minimises_the_distance_reached(seed):
    """With k(x, x) constant the p-th pick minimises ‖m̂ − (1/p) Σ_{j≤p} k(·, x_j)‖ over all candidates."""
    rng = np.random.default_rng(seed)
    points, target = rng.normal(size=(12, 1)), rng.normal(size=12)
    gram = KERNEL(points)
    picks = list(herd(gram @ target, gram, 20, float(target @ gram @ target)).indices)
    for p in range(1, 21):
        losses = []
        for candidate in range(12):
            gap = np.bincount([*picks[: p - 1], candidate], minlength=12) / p - target
            losses.append(gap @ gram @ gap)
        assert losses[picks[p - 1]] == pytest.approx(min(losses), rel=1e-9)
