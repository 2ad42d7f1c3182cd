import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels_by_hand import gaussian_matrix
from scipy.spatial.distance import pdist
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import kernels as sklearn_kernels
from sklearn.metrics.pairwise import laplacian_kernel

from kmcf.kernels import Gaussian, Laplace, Matern

STATIONARY = [Gaussian, Laplace, Matern]


def rows(seed, n, d):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("d", [1, 2, 8, 9, 40])
def test_gaussian_is_the_exponential_of_the_squared_distance(d):
    a, b = rows(0, 7, d), rows(1, 4, d)
    np.testing.assert_allclose(Gaussian(1.7)(a, b), gaussian_matrix(a, b, 1.7), rtol=1e-12)


def test_gaussian_with_one_bandwidth_per_column():
    a, b, widths = rows(0, 5, 3), rows(1, 4, 3), np.array([0.5, 1.0, 3.0])
    expected = [[np.exp(-0.5 * sum(((x - y) / widths) ** 2)) for y in b] for x in a]
    np.testing.assert_allclose(Gaussian(widths)(a, b), expected, rtol=1e-13)


@pytest.mark.parametrize("d", [1, 3, 12])
def test_laplace_uses_the_l1_norm(d):
    a, b = rows(0, 6, d), rows(1, 5, d)
    np.testing.assert_allclose(Laplace(2.5)(a, b), laplacian_kernel(a, b, gamma=1.0 / 2.5), rtol=1e-12)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
@pytest.mark.parametrize("d", [1, 4, 15])
def test_matern_equals_scikit_learn(nu, d):
    a, b = rows(0, 6, d), rows(1, 5, d)
    expected = sklearn_kernels.Matern(length_scale=1.4, nu=nu)(a, b)
    np.testing.assert_allclose(Matern(1.4, nu=nu)(a, b), expected, rtol=1e-11)


def test_matern_of_another_smoothness_is_an_error():
    with pytest.raises(ValueError, match=r"nu = 2\.0; the smoothness must be 0\.5, 1\.5 or 2\.5"):
        Matern(1.0, nu=2.0)([[0.0]])


@pytest.mark.parametrize("kernel", STATIONARY)
@pytest.mark.parametrize("d", [3, 20])
def test_diagonal_is_exactly_one(kernel, d):
    points = 1e3 + rows(0, 30, d)
    np.testing.assert_array_equal(np.diag(kernel(0.5)(points)), np.ones(30))


@pytest.mark.parametrize(("kernel", "metric"), [(Gaussian, "euclidean"), (Matern, "euclidean"), (Laplace, "cityblock")])
@pytest.mark.parametrize("multiplier", [1.0, 0.5])
def test_bandwidth_none_learns_the_median_distance(kernel, metric, multiplier):
    points = rows(0, 60, 3)
    learnt = kernel(multiplier=multiplier).fit(points).bandwidth_
    assert learnt == pytest.approx(multiplier * np.median(pdist(points, metric)), rel=1e-13)


@pytest.mark.parametrize("kernel", STATIONARY)
def test_a_given_bandwidth_is_kept_and_the_multiplier_ignored(kernel):
    assert kernel(0.3, multiplier=7.0).fit(rows(0, 5, 2)).bandwidth_ == 0.3


def test_fitting_again_learns_again():
    kernel = Gaussian().fit([[0.0], [1.0]])
    assert kernel.bandwidth_ == 1.0
    assert kernel.fit([[0.0], [5.0]]).bandwidth_ == 5.0


@given(scale=st.floats(1e-3, 1e3), seed=st.integers(0, 100))
def test_learnt_kernels_do_not_change_with_the_unit_of_measurement(scale, seed):
    points = rows(seed, 8, 2)
    for kernel in STATIONARY:
        np.testing.assert_allclose(
            kernel().fit(scale * points)(scale * points), kernel().fit(points)(points), rtol=1e-9
        )


@pytest.mark.parametrize("kernel", STATIONARY)
def test_an_unfitted_bandwidth_says_to_fit(kernel):
    with pytest.raises(NotFittedError, match=r"bandwidth=None\) learns its bandwidth from examples: call fit"):
        kernel()([[0.0]])


@pytest.mark.parametrize("kernel", STATIONARY)
@pytest.mark.parametrize("bandwidth", [0.0, -1.0, np.nan, np.inf, [1.0, 0.0], [[1.0]]])
def test_a_bandwidth_that_is_not_positive_is_an_error(kernel, bandwidth):
    with pytest.raises(ValueError, match=f"{kernel.__name__} has bandwidth = .*positive and finite"):
        kernel(bandwidth)([[0.0, 0.0]])
    with pytest.raises(ValueError, match=f"{kernel.__name__} has bandwidth = .*positive and finite"):
        kernel(bandwidth).fit([[0.0, 0.0]])


@pytest.mark.parametrize("bandwidth", ["wide", object(), ["a", "b"]])
def test_a_bandwidth_that_is_not_a_number_is_an_error(bandwidth):
    with pytest.raises(TypeError, match=r"Gaussian has bandwidth = .*it must be a number"):
        Gaussian(bandwidth)([[0.0, 0.0]])


@pytest.mark.parametrize("multiplier", [0.0, -0.5, np.nan])
def test_a_multiplier_that_is_not_positive_is_an_error(multiplier):
    with pytest.raises(ValueError, match="Gaussian has multiplier = "):
        Gaussian(multiplier=multiplier).fit([[0.0], [1.0]])


@pytest.mark.parametrize("kernel", STATIONARY)
def test_a_wrong_number_of_bandwidths_is_an_error(kernel):
    with pytest.raises(ValueError, match="has 2 bandwidths but the data have 3 columns"):
        kernel([1.0, 2.0]).fit(rows(0, 4, 3))
    with pytest.raises(ValueError, match="has 2 bandwidths but the data have 3 columns"):
        kernel([1.0, 2.0])(rows(0, 4, 3))
