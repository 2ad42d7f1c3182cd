"""Sums, products and multiples of kernels."""

import numpy as np
import pytest
from kernels_by_hand import gaussian_matrix
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF

from kmcf.kernels import Columns, Constant, Gaussian, Laplace, Linear, Matern

A = np.random.default_rng(0).normal(size=(6, 3))
B = np.random.default_rng(1).normal(size=(4, 3))


def test_sum_and_product_work_entry_by_entry():
    gaussian, inner = gaussian_matrix(A, B, 1.5), A @ B.T
    np.testing.assert_allclose((Gaussian(1.5) + Linear())(A, B), gaussian + inner, rtol=1e-12)
    np.testing.assert_allclose((Gaussian(1.5) * Linear())(A, B), gaussian * inner, rtol=1e-12)


@pytest.mark.parametrize("factor", [2, 0.5, np.float64(3.0), np.int64(4)])
def test_a_number_times_a_kernel_scales_it_from_both_sides(factor):
    expected = float(factor) * gaussian_matrix(A, B, 1.0)
    np.testing.assert_allclose((factor * Gaussian(1.0))(A, B), expected, rtol=1e-12)
    np.testing.assert_allclose((Gaussian(1.0) * factor)(A, B), expected, rtol=1e-12)
    np.testing.assert_allclose((factor * Gaussian(1.0)).diagonal(A), np.full(6, float(factor)), rtol=1e-15)


@pytest.mark.parametrize("factor", [0, -1.0, np.nan, np.inf])
def test_a_factor_that_is_not_positive_is_an_error(factor):
    with pytest.raises(ValueError, match=r"multiplied by .*positive and finite"):
        (factor * Gaussian(1.0))(A, B)


def test_callables_and_scikit_learn_kernels_compose():
    gaussian = gaussian_matrix(A, B, 2.0)

    def inner(a, b):
        return a @ b.T

    np.testing.assert_allclose((Linear() + RBF(2.0))(A, B), A @ B.T + gaussian, rtol=1e-12)
    np.testing.assert_allclose((Linear() * RBF(2.0))(A, B), A @ B.T * gaussian, rtol=1e-12)
    np.testing.assert_allclose((inner + Gaussian(2.0))(A, B), A @ B.T + gaussian, rtol=1e-12)
    np.testing.assert_allclose((inner * Gaussian(2.0))(A, B), A @ B.T * gaussian, rtol=1e-12)


@pytest.mark.parametrize("other", ["text", 1.0, None, Gaussian])
def test_adding_what_is_not_a_kernel_is_an_error(other):
    with pytest.raises(TypeError, match="a kernel must be"):
        Gaussian(1.0) + other


def test_fitting_a_composition_fits_all_parts_on_the_same_examples():
    kernel = (2.0 * (Gaussian() + Laplace()) * Columns(Gaussian(), [1])).fit(A)
    assert kernel.first.kernel.first.bandwidth_ == pytest.approx(np.median(pdist(A)))
    assert kernel.first.kernel.second.bandwidth_ == pytest.approx(np.median(pdist(A, "cityblock")))
    assert kernel.second.kernel.bandwidth_ == pytest.approx(np.median(pdist(A[:, [1]])))


def test_nested_parameters_can_be_read_and_set():
    kernel = Gaussian(1.0) + Columns(Matern(2.0), [0])
    assert kernel.get_params()["second__kernel__bandwidth"] == 2.0
    changed = clone(kernel).set_params(first__bandwidth=5.0)
    np.testing.assert_allclose(changed.first(A, B), gaussian_matrix(A, B, 5.0), rtol=1e-12)
    assert kernel.first.bandwidth == 1.0


def test_structured_and_missing_are_inherited():
    class Words(Constant):
        structured = True
        handles_missing = True

    assert (Words() + Gaussian(1.0)).structured
    assert not (Words() + Gaussian(1.0)).handles_missing
    assert (2 * (Words() * Words())).handles_missing
    assert not Gaussian(1.0).structured


def test_the_logarithm_of_a_multiple():
    kernel = 3.0 * Gaussian(1.0)
    found = kernel.evaluate_log(kernel.prepare(A), kernel.prepare(B))
    np.testing.assert_allclose(found, np.log(3.0 * gaussian_matrix(A, B, 1.0)), rtol=1e-12)
