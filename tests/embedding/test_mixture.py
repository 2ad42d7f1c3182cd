"""Gaussian mixtures fitted to kernel means, against mixtures that are known."""

import numpy as np
import pytest

from kmcf.embedding import Embedding
from kmcf.embedding.mixture import GaussianMixture
from kmcf.kernels import Circular, Gaussian

MEANS, DEVIATIONS, WEIGHTS = np.array([-2.0, 1.5]), np.array([0.4, 0.8]), np.array([0.3, 0.7])


def quadrature(size=30):
    """Points and weights whose kernel mean is that of the mixture, to rounding."""
    points, weights = np.polynomial.hermite_e.hermegauss(size)
    weights = weights / weights.sum()
    states = np.concatenate([mean + sd * points for mean, sd in zip(MEANS, DEVIATIONS, strict=True)])
    return states[:, None], np.concatenate([share * weights for share in WEIGHTS])


def test_a_mixture_is_recovered():
    found = Embedding(*quadrature(), Gaussian(0.7)).mixture(2)
    order = np.argsort(found.means[:, 0])
    np.testing.assert_allclose(found.means[order, 0], MEANS, atol=1e-2)
    np.testing.assert_allclose(found.deviations[order, 0], DEVIATIONS, atol=2e-2)
    np.testing.assert_allclose(found.weights[order], WEIGHTS, atol=1e-2)
    assert found.distance < 1e-3


def test_the_distance_is_that_of_the_kernel_means():
    rng = np.random.default_rng(0)
    states, weights = rng.normal(size=(40, 2)), rng.normal(size=40)
    embedding = Embedding(states, weights / weights.sum(), Gaussian(1.2))
    found = embedding.mixture(3)
    draws = np.concatenate(
        [mean + sd * rng.normal(size=(20_000, 2)) for mean, sd in zip(found.means, found.deviations, strict=True)]
    )
    shares = np.repeat(found.weights / 20_000, 20_000)
    cross = shares @ embedding.evaluate(draws)
    few = rng.choice(len(draws), size=3000, p=shares / shares.sum())
    norm = float(np.mean(Gaussian(1.2)(draws[few], draws[rng.choice(len(draws), size=3000, p=shares / shares.sum())])))
    assert found.distance == pytest.approx(np.sqrt(embedding.squared_norm() - 2 * cross + norm), rel=0.1)


def test_the_density_integrates_to_one():
    mixture = GaussianMixture(WEIGHTS, MEANS[:, None], DEVIATIONS[:, None], 0.0)
    grid = np.linspace(-8, 8, 4001)
    assert np.trapezoid(mixture.density(grid[:, None]), grid) == pytest.approx(1.0)


def test_bad_input():
    states, weights = quadrature()
    with pytest.raises(TypeError, match="under a Gaussian kernel"):
        Embedding(states, weights, Circular(1.0)).mixture(2)
    with pytest.raises(ValueError, match="components = 0"):
        Embedding(states, weights, Gaussian(1.0)).mixture(0)
