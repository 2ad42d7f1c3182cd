import numpy as np
import pytest
from formulas import gaussian_matrix
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, DotProduct, WhiteKernel

from kmcf.kernels import FromCallable, FromSklearn, Gaussian, Linear, Precomputed, as_kernel

A = np.random.default_rng(0).normal(size=(6, 2))
B = np.random.default_rng(1).normal(size=(4, 2))
MATRIX = gaussian_matrix(A, A, 1.0)


# --- as_kernel ------------------------------------------------------------------------------------------------------


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


# --- callables ------------------------------------------------------------------------------------------------------


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


# --- scikit-learn ---------------------------------------------------------------------------------------------------


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


# --- precomputed ----------------------------------------------------------------------------------------------------


def test_precomputed_examples_give_parts_of_the_matrix():
    fixed = Precomputed().fit(MATRIX).on_examples(MATRIX)
    np.testing.assert_array_equal(fixed.matrix(), MATRIX)
    np.testing.assert_array_equal(fixed.diagonal(), np.diag(MATRIX))
    np.testing.assert_array_equal(fixed.columns(np.array([4, 1])), MATRIX[:, [4, 1]])
    rows = gaussian_matrix(B, A, 1.0)
    np.testing.assert_array_equal(fixed.against(rows), rows.T)
    assert fixed.size == 6


def test_subset_of_precomputed_examples_still_takes_full_rows():
    chosen = np.array([5, 0, 3])
    whole = Precomputed().on_examples(MATRIX)
    part = whole.subset(chosen)
    rows = gaussian_matrix(B, A, 1.0)
    np.testing.assert_array_equal(part.matrix(), MATRIX[np.ix_(chosen, chosen)])
    np.testing.assert_array_equal(part.diagonal(), np.diag(MATRIX)[chosen])
    np.testing.assert_array_equal(part.columns(np.array([2])), MATRIX[np.ix_(chosen, [3])])
    np.testing.assert_array_equal(part.against(rows), rows.T[chosen])
    assert (part.size, whole.size) == (3, 6)
    again = part.subset(np.array([2, 0]))
    np.testing.assert_array_equal(again.matrix(), MATRIX[np.ix_([3, 5], [3, 5])])
    np.testing.assert_array_equal(again.against(rows), rows.T[[3, 5]])


@pytest.mark.parametrize("rows", [np.ones((2, 5)), np.ones(6), np.ones((1, 6, 1))])
def test_rows_of_the_wrong_length_are_an_error(rows):
    with pytest.raises(ValueError, match="a row of 6 kernel values"):
        Precomputed().on_examples(MATRIX).against(rows)


@pytest.mark.parametrize("matrix", [np.ones((3, 2)), np.ones(4), np.ones((2, 2, 2)), np.empty((0, 0))])
def test_a_matrix_that_is_not_square_is_an_error(matrix):
    with pytest.raises(ValueError, match=r"needs the square kernel matrix of the example observations, but got"):
        Precomputed().fit(matrix)


def test_an_asymmetric_matrix_is_an_error():
    matrix = MATRIX.copy()
    matrix[0, 1] += 0.25
    with pytest.raises(ValueError, match=r"not symmetric \(largest difference 0\.25\)"):
        Precomputed().fit(matrix)


def test_an_indefinite_matrix_is_an_error():
    with pytest.raises(ValueError, match="not positive semi-definite"):
        Precomputed().fit(MATRIX - 0.5 * np.eye(6))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_is_an_error(bad):
    matrix = MATRIX.copy()
    matrix[2, 3] = matrix[3, 2] = bad
    with pytest.raises(ValueError, match="NaN or infinite"):
        Precomputed().fit(matrix)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_rounding_is_forgiven_at_every_scale(scale):
    rows = np.random.default_rng(3).normal(size=(8, 2))
    Precomputed().fit(scale * rows @ rows.T)  # rank 2: six eigenvalues are zero up to rounding
    Precomputed().fit(np.zeros((3, 3)))
    Precomputed().fit((scale * np.eye(2)).tolist())


def test_precomputed_has_no_function():
    with pytest.raises(TypeError, match="no function to evaluate"):
        Precomputed()(MATRIX, MATRIX)
    with pytest.raises(TypeError, match="no function to evaluate"):
        (Precomputed() + Linear())(MATRIX)


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
