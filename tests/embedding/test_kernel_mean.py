"""Kernel means against closed forms for normal distributions and explicit sums."""

import pickle

import numpy as np
import pytest
from embeddings import gaussian_inner, gaussian_quadrature, signed_weights
from hypothesis import given
from hypothesis import strategies as st
from kernels_by_hand import gaussian_matrix

from kmcf.embedding import kernel_mean
from kmcf.embedding.kernel_mean import KernelMean
from kmcf.kernels import Gaussian


def random_mean(seed, n):
    rng = np.random.default_rng(seed)
    return KernelMean(rng.normal(size=(n, 2)), signed_weights(n, rng), Gaussian(1.1))


@pytest.mark.parametrize(("mean", "sd"), [(0.0, 0.3), (1.2, 1.0)])
def test_kernel_mean_and_norm_of_a_normal_distribution(mean, sd):
    belief = KernelMean(*gaussian_quadrature(mean, sd), Gaussian(0.8))
    points = np.array([[-1.0], [0.0], [2.0]])
    expected = [gaussian_inner(mean, sd**2, point, 0.0, 0.8) for point in points[:, 0]]
    np.testing.assert_allclose(belief.evaluate(points), expected, rtol=1e-6)
    assert belief.squared_norm() == pytest.approx(gaussian_inner(mean, sd**2, mean, sd**2, 0.8), rel=1e-6)


@pytest.mark.parametrize(("mean", "sd"), [(0.5, 0.3), (0.0, 0.6), (2.0, 1.0), (50.0, 0.3)])
def test_distance_of_normal_distributions(mean, sd):
    first = KernelMean(*gaussian_quadrature(0.0, 0.3), Gaussian(0.8))
    second = KernelMean(*gaussian_quadrature(mean, sd, size=60), Gaussian(0.8))
    squared = (
        gaussian_inner(0.0, 0.09, 0.0, 0.09, 0.8)
        + gaussian_inner(mean, sd**2, mean, sd**2, 0.8)
        - 2.0 * gaussian_inner(0.0, 0.09, mean, sd**2, 0.8)
    )
    assert first.distance(second) == pytest.approx(np.sqrt(squared), rel=1e-6)
    assert second.distance(first) == pytest.approx(np.sqrt(squared), rel=1e-6)


@given(seed=st.integers(0, 1000))
def test_distance_is_the_explicit_norm_of_the_difference(seed):
    first, second = (random_mean(seed + i, n=5 + i) for i in (0, 1))
    points = np.vstack([first.states, second.states])
    coefficients = np.concatenate([first.weights, -second.weights])
    squared = coefficients @ gaussian_matrix(points, points, 1.1) @ coefficients
    assert first.distance(second) == pytest.approx(np.sqrt(max(squared, 0.0)), abs=1e-6)
    assert first.squared_norm() == pytest.approx(
        first.weights @ gaussian_matrix(first.states, first.states, 1.1) @ first.weights, abs=1e-10
    )


def test_values_do_not_depend_on_the_blocks(monkeypatch):
    mean, points = random_mean(0, 7), np.random.default_rng(1).normal(size=(11, 2))
    expected = gaussian_matrix(points, mean.states, 1.1) @ mean.weights
    monkeypatch.setattr(kernel_mean, "BLOCK_NUMBERS", 20)
    np.testing.assert_allclose(mean.evaluate(points), expected, rtol=1e-12)
    assert mean.evaluate(points[:0]).shape == (0,)


def test_the_heaviest_states_are_those_with_the_largest_absolute_weights():
    mean = KernelMean(np.zeros((4, 1)), np.array([0.1, -0.9, 0.3, 1.5]))
    np.testing.assert_array_equal(mean.heaviest(2), [1, 3])
    np.testing.assert_array_equal(mean.heaviest(9), [0, 1, 2, 3])


def test_pickling_keeps_states_and_weights():
    mean = random_mean(0, 5)
    again = pickle.loads(pickle.dumps(mean))
    np.testing.assert_array_equal(again.weights, mean.weights)
    assert again.distance(mean) == pytest.approx(0.0, abs=1e-7)
