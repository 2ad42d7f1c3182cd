"""What else serves as a kernel: callables and scikit-learn's kernels."""

import numpy as np
import pytest
from kernels_by_hand import gaussian_matrix
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, DotProduct, WhiteKernel

from kmcf.kernels import FromCallable, FromSklearn, Gaussian, Precomputed, as_kernel

A = np.random.default_rng(0).normal(size=(6, 3))
B = np.random.default_rng(1).normal(size=(4, 3))


def test_as_kernel_returns_our_own_kernels_unchanged():
    kernel = Gaussian(1.0)
    assert as_kernel(kernel) is kernel


def test_as_kernel_reads_callables_scikit_learn_kernels_and_precomputed():
    np.testing.assert_allclose(as_kernel(lambda a, b: a @ b.T)(A, B), A @ B.T, rtol=1e-13)
    np.testing.assert_allclose(as_kernel(RBF(1.5))(A, B), gaussian_matrix(A, B, 1.5), rtol=1e-12)
    assert isinstance(as_kernel("precomputed"), Precomputed)


def test_a_class_instead_of_an_object_says_what_to_write():
    with pytest.raises(TypeError, match=r"state_kernel must be an object, .* the class Gaussian; write Gaussian\(\)"):
        as_kernel(Gaussian, "state_kernel")


@pytest.mark.parametrize("wrong", ["gaussian", 1.0, None, np.eye(2)])
def test_what_is_no_kernel_is_an_error_that_lists_what_is(wrong):
    with pytest.raises(TypeError, match=r"observation_kernel must be a kmcf kernel.*callable.*'precomputed', not "):
        as_kernel(wrong, "observation_kernel")


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: np.ones(len(a)),
        lambda a, b: np.ones((len(b), len(a))),
        lambda a, b: 1.0,
        lambda a, b: np.ones((len(a), len(b), 1)),
    ],
)
def test_a_callable_that_returns_the_wrong_shape_is_an_error(function):
    with pytest.raises(ValueError, match=r"returned an array of shape .* for 6 and 4 objects; .* shape \(6, 4\)"):
        FromCallable(function)(A, B)


def test_the_error_names_the_function():
    def forgetful(a, b):
        return np.ones(len(a))

    with pytest.raises(ValueError, match="the kernel function forgetful returned"):
        FromCallable(forgetful)(A, B)


def test_diagonal_of_a_callable():
    np.testing.assert_allclose(FromCallable(lambda a, b: a @ b.T).diagonal(A), np.sum(A**2, axis=1), rtol=1e-13)


def test_callables_may_return_lists():
    np.testing.assert_array_equal(FromCallable(lambda a, b: [[1, 2]])([["x"]], ["y", "z"]), [[1.0, 2.0]])


def test_scikit_learn_kernel_with_its_diagonal():
    kernel = FromSklearn(DotProduct(2.0))
    np.testing.assert_allclose(kernel(A, B), 4.0 + A @ B.T, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(A), 4.0 + np.sum(A**2, axis=1), rtol=1e-12)


def test_cloning_does_not_share_the_scikit_learn_kernel():
    original = FromSklearn(RBF(1.0))
    copy = clone(original).set_params(kernel__length_scale=3.0)
    assert original.kernel.length_scale == 1.0
    np.testing.assert_allclose(copy(A, B), gaussian_matrix(A, B, 3.0), rtol=1e-12)


def test_scikit_learn_kernel_flattens_images():
    images = np.random.default_rng(2).normal(size=(3, 2, 2))
    flat = images.reshape(3, 4)
    np.testing.assert_allclose(FromSklearn(RBF(1.0))(images), gaussian_matrix(flat, flat, 1.0), rtol=1e-12)


def test_the_diagonal_of_a_noisy_scikit_learn_kernel_is_that_of_its_matrix():
    rows = np.random.default_rng(0).normal(size=(150, 2))
    kernel = FromSklearn(RBF(1.0) + WhiteKernel(0.5))
    np.testing.assert_allclose(kernel.diagonal(rows), np.diagonal(kernel(rows)), rtol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(rows), 1.0)


def test_an_object_that_computes_matrices_is_sent_to_precomputed():
    class GraphKernel:
        def fit_transform(self, graphs):
            return np.eye(len(graphs))

    with pytest.raises(TypeError, match="Pass what its fit_transform returns, with 'precomputed'"):
        as_kernel(GraphKernel())
