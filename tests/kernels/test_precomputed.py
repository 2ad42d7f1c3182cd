"""Kernel matrices computed elsewhere."""

import numpy as np
import pytest
from kernels_by_hand import gaussian_matrix

from kmcf.kernels import Linear, Precomputed

A = np.random.default_rng(0).normal(size=(6, 2))
B = np.random.default_rng(1).normal(size=(4, 2))
MATRIX = gaussian_matrix(A, A, 1.0)


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


def test_logarithms_of_given_similarities():
    rows = np.array([[1.0, 0.5, 0.0, 0.1, 0.2, 0.3]])
    logs = Precomputed().on_examples(MATRIX).log_against(rows)
    np.testing.assert_allclose(logs[[0, 1, 3], 0], np.log([1.0, 0.5, 0.1]))
    assert np.isfinite(logs).all()
