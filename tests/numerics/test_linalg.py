import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels_by_hand import gaussian_matrix
from scipy import linalg

from kmcf.numerics.linalg import FEW_ROWS, cholesky, is_positive_semidefinite, pivoted_cholesky


def low_rank(seed, n, rank):
    factor = np.random.default_rng(seed).normal(size=(n, rank))
    return factor @ factor.T


def factorise(matrix, tolerance=0.0, rank=None):
    return pivoted_cholesky(lambda i: matrix[:, i], np.diag(matrix), tolerance=tolerance, rank=rank)


def literal_pivoted_cholesky(matrix, steps):
    """Subtract one rank-one piece after the other from the full matrix, at its largest diagonal entry."""
    residual, pieces, pivots = np.array(matrix), [], []
    for _ in range(steps):
        pivot = int(np.argmax(np.diag(residual)))
        piece = residual[:, pivot] / np.sqrt(residual[pivot, pivot])
        residual = residual - np.outer(piece, piece)
        pieces.append(piece)
        pivots.append(pivot)
    return np.stack(pieces, axis=1), pivots, np.diag(residual)


# --- Cholesky -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [6, FEW_ROWS, FEW_ROWS + 1, 150])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_solve_equals_the_explicit_inverse(n, columns):
    matrix = low_rank(0, n, 4)
    right = np.random.default_rng(1).normal(size=(n, *columns))
    right.flags.writeable = False
    factor = cholesky(matrix, shift=0.5, name="G", remedy="epsilon")
    expected = np.linalg.inv(matrix + 0.5 * np.eye(n)) @ right
    np.testing.assert_allclose(factor.solve(right), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(factor.lower @ factor.lower.T, matrix + 0.5 * np.eye(n), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(np.triu(factor.lower, 1), np.zeros((n, n)))


def test_cholesky_leaves_the_matrix_alone():
    matrix = low_rank(0, 4, 4)
    before = matrix.copy()
    cholesky(matrix, shift=1.0, name="G", remedy="epsilon")
    np.testing.assert_array_equal(matrix, before)


def test_failure_names_the_matrix_and_the_parameter_to_raise():
    with pytest.raises(linalg.LinAlgError, match=r"the matrix G_X is not positive definite.*or raise epsilon"):
        cholesky(-np.eye(3), shift=0.5, name="G_X", remedy="epsilon")


@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e10])
def test_semidefiniteness_is_decided_relative_to_the_size_of_the_matrix(scale):
    assert is_positive_semidefinite(scale * low_rank(0, 10, 3))
    assert is_positive_semidefinite(scale * np.diag([1.0, -1e-10]))
    assert not is_positive_semidefinite(scale * np.diag([1.0, -1e-6]))
    assert not is_positive_semidefinite(scale * (low_rank(0, 10, 10) - 20.0 * np.eye(10)))


def test_the_zero_matrix_is_positive_semidefinite():
    assert is_positive_semidefinite(np.zeros((3, 3)))


# --- pivoted Cholesky -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 30, 150])
def test_full_factorisation_reproduces_the_matrix(n):
    matrix = low_rank(n, n, n) + 0.1 * np.eye(n)
    result = factorise(matrix)
    assert result.factor.shape == (n, n)
    assert sorted(result.pivots) == list(range(n))
    np.testing.assert_allclose(result.factor @ result.factor.T, matrix, rtol=1e-10, atol=1e-10 * np.trace(matrix) / n)
    np.testing.assert_allclose(result.residual, np.zeros(n), atol=1e-10 * np.trace(matrix) / n)


@pytest.mark.parametrize("steps", [1, 4, 9])
def test_every_step_is_the_one_of_the_literal_elimination(steps):
    rng = np.random.default_rng(2)
    matrix = gaussian_matrix(rng.normal(size=(12, 2)), rng.normal(size=(12, 2)), 1.0)
    matrix = matrix @ matrix.T  # a diagonal without ties
    factor, pivots, residual = literal_pivoted_cholesky(matrix, steps)
    result = factorise(matrix, rank=steps)
    assert result.pivots.tolist() == pivots
    np.testing.assert_allclose(result.factor, factor, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(result.residual, residual, rtol=1e-8, atol=1e-10)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 20), rank=st.integers(1, 20))
def test_factor_is_lower_triangular_at_the_pivots_and_residual_is_what_is_left(seed, n, rank):
    matrix = low_rank(seed, n, n)
    result = factorise(matrix, tolerance=1e-12, rank=rank)
    scale = np.diag(matrix).max()
    q = len(result.pivots)
    assert q <= min(n, rank)
    assert len(set(result.pivots.tolist())) == q
    np.testing.assert_array_equal(np.triu(result.pivot_factor, 1), np.zeros((q, q)))
    np.testing.assert_array_equal(result.pivot_factor, result.factor[result.pivots])
    approximation = result.factor @ result.factor.T
    np.testing.assert_allclose(result.residual, np.diag(matrix - approximation), atol=1e-10 * scale)
    # the rows and columns of the pivots are reproduced, and what is left is positive semi-definite
    np.testing.assert_allclose(approximation[:, result.pivots], matrix[:, result.pivots], atol=1e-7 * scale)
    assert np.linalg.eigvalsh(matrix - approximation).min() > -1e-9 * scale


@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-6])
def test_stops_as_soon_as_the_residual_is_small_enough(tolerance):
    rows = np.linspace(0, 5, 80)[:, None]
    matrix = 7.0 * gaussian_matrix(rows, rows, 1.0)
    result = factorise(matrix, tolerance=tolerance)
    q = len(result.pivots)
    assert result.residual.max() <= 7.0 * tolerance
    assert factorise(matrix, rank=q - 1).residual.max() > 7.0 * tolerance


def test_stops_at_the_rank_asked_for():
    matrix = low_rank(0, 30, 30)
    result = factorise(matrix, rank=7)
    assert result.factor.shape == (30, 7)
    assert result.pivots.shape == (7,)
    assert factorise(matrix, rank=100).factor.shape == (30, 30)


@pytest.mark.parametrize("rank", [1, 3, 70])
def test_finds_the_rank_of_a_deficient_matrix(rank):
    matrix = low_rank(1, 100, rank)
    result = factorise(matrix, tolerance=1e-12)
    assert len(result.pivots) == rank
    np.testing.assert_allclose(result.factor @ result.factor.T, matrix, atol=1e-9 * np.diag(matrix).max())


@given(seed=st.integers(0, 10_000), rank=st.integers(1, 6))
def test_without_tolerance_rounding_never_makes_a_row_a_pivot_twice(seed, rank):
    matrix = low_rank(seed, 15, rank)
    result = factorise(matrix, tolerance=0.0)
    assert len(set(result.pivots.tolist())) == len(result.pivots)
    np.testing.assert_allclose(result.factor @ result.factor.T, matrix, atol=1e-9 * np.diag(matrix).max())


def test_duplicated_rows_are_factorised_once():
    rows = np.random.default_rng(0).normal(size=(5, 2))
    rows = np.repeat(rows, 4, axis=0)
    result = factorise(gaussian_matrix(rows, rows, 1.0), tolerance=1e-12)
    assert len(result.pivots) == 5
    np.testing.assert_allclose(result.factor[0::4], result.factor[3::4], atol=1e-12)


def test_the_zero_matrix_has_rank_zero():
    result = factorise(np.zeros((4, 4)))
    assert result.factor.shape == (4, 0)
    assert result.pivots.shape == (0,)
    np.testing.assert_array_equal(result.residual, np.zeros(4))


def test_indefinite_matrices_are_an_error():
    matrix = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(linalg.LinAlgError, match=r"not positive semi-definite \(residual diagonal -3 after 1 pivots\)"):
        factorise(matrix)
    with pytest.raises(linalg.LinAlgError, match="not positive semi-definite"):
        factorise(np.diag([-1.0, -2.0]))


def test_only_single_columns_of_the_matrix_are_asked_for():
    matrix = low_rank(0, 40, 6)
    asked = []

    def columns(indices):
        asked.extend(indices.tolist())
        return matrix[:, indices]

    result = pivoted_cholesky(columns, np.diag(matrix), tolerance=1e-12)
    assert asked == result.pivots.tolist()


@pytest.mark.parametrize("rank", [5, 40])
def test_features_reproduce_kernel_values(rank):
    rng = np.random.default_rng(4)
    rows, new = rng.normal(size=(40, 2)), rng.normal(size=(3, 2))
    matrix, cross = gaussian_matrix(rows, rows, 1.0), gaussian_matrix(rows, new, 1.0)
    result = factorise(matrix, tolerance=1e-10, rank=rank)
    pivots = result.pivots
    # Nyström: k(x_i, pivots) K(pivots, pivots)⁻¹ k(pivots, x), exact at the pivots
    nystroem = matrix[:, pivots] @ np.linalg.pinv(matrix[np.ix_(pivots, pivots)], hermitian=True) @ cross[pivots]
    values = result.factor @ result.features(cross[pivots])
    np.testing.assert_allclose(values, nystroem, atol=1e-5)
    np.testing.assert_allclose(values[pivots], cross[pivots], atol=1e-10)
    np.testing.assert_allclose(result.factor @ result.features(cross[pivots, 1]), values[:, 1], atol=1e-12)
    if rank == 40:
        np.testing.assert_allclose(values, cross, atol=1e-4)


def test_features_of_the_examples_are_the_rows_of_the_factor():
    matrix = low_rank(3, 20, 6)
    result = factorise(matrix, tolerance=1e-12)
    np.testing.assert_allclose(result.features(matrix[result.pivots]), result.factor.T, atol=1e-8)


def test_features_without_pivots_are_empty():
    assert factorise(np.zeros((4, 4))).features(np.empty((0, 3))).shape == (0, 3)


def test_a_triangular_factor_that_is_singular_is_named_by_row():
    from kmcf.numerics.linalg import solve_lower

    with pytest.raises(np.linalg.LinAlgError, match=r"zero on its diagonal \(row 1\)"):
        solve_lower(np.array([[1.0, 0.0], [2.0, 0.0]]), np.ones(2))
    assert solve_lower(np.zeros((0, 0)), np.zeros((0, 3))).shape == (0, 3)
