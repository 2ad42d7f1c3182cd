"""The few matrix routines the package needs, on NumPy arrays.

This is the seam to an array library's linear algebra: nothing above this module factorises a matrix itself.
No explicit inverse is ever formed.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from kmcf.numerics.arrays import FloatArray, IntArray

FEW_ROWS = 64
"""Up to so many rows LAPACK solves for one right-hand side as fast as BLAS does; with more it is a third as fast."""


class CholeskyFactor(NamedTuple):
    """The lower-triangular L with A = L Lᵀ."""

    lower: FloatArray

    def solve(self, right: FloatArray) -> FloatArray:
        """Solve A x = right."""
        return solve_factorised(self.lower, right)


def solve_factorised(lower: FloatArray, right: FloatArray) -> FloatArray:
    """Solve L Lᵀ x = right for a lower-triangular L.

    Examples
    --------
    >>> solve_factorised(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([4.0, 4.0]))
    array([0., 2.])
    """
    if lower.shape[0] == 0:
        return np.zeros_like(right)
    if right.ndim == 1 and len(lower) > FEW_ROWS:
        half = blas.dtrsv(lower, right, lower=1)
        return blas.dtrsv(lower, half, lower=1, trans=1, overwrite_x=1)
    return lapack.dpotrs(lower, right, lower=1)[0]


def cholesky(matrix: FloatArray, *, shift: float, name: str, remedy: str) -> CholeskyFactor:
    """Factorise ``matrix + shift * I``; the error of a failure names the parameter to raise.

    Parameters
    ----------
    matrix : array (n, n)
        Symmetric positive semi-definite.
    shift : float
        Added to the diagonal.
    name, remedy : str
        What the matrix is called and which parameter to raise, for the error message.

    Examples
    --------
    >>> cholesky(np.ones((2, 2)), shift=1.0, name="G", remedy="epsilon").solve(np.array([3.0, 3.0]))
    array([1., 1.])
    """
    shifted = np.array(matrix, order="F")
    shifted.reshape(-1, order="F")[:: len(shifted) + 1] += shift  # the diagonal
    if shifted.shape[0] == 0:
        return CholeskyFactor(shifted)
    lower, info = lapack.dpotrf(shifted, lower=1, clean=1, overwrite_a=1)
    if info != 0:
        raise linalg.LinAlgError(
            f"the matrix {name} is not positive definite (leading minor {info}). Check that the kernel is positive "
            f"definite, or raise {remedy}."
        )
    return CholeskyFactor(lower)


def is_positive_semidefinite(matrix: FloatArray, tolerance: float = 1e-8) -> bool:
    """Return whether a symmetric matrix has no eigenvalue below ``-tolerance`` times its largest entry.

    Examples
    --------
    >>> is_positive_semidefinite(np.ones((3, 3))), is_positive_semidefinite(np.array([[0.0, 1.0], [1.0, 0.0]]))
    (True, False)
    """
    scale = max(float(np.max(np.abs(matrix))), np.finfo(float).tiny)
    try:
        cholesky(matrix / scale, shift=tolerance, name="", remedy="")
    except linalg.LinAlgError:
        return False
    return True


def solve_lower(lower: FloatArray, right: FloatArray) -> FloatArray:
    """Solve L x = right for a lower-triangular L (Fortran order avoids a copy).

    Examples
    --------
    >>> solve_lower(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([2.0, 3.0]))
    array([1., 2.])
    """
    if lower.shape[0] == 0:
        return np.zeros_like(right)
    solution: FloatArray
    solution, info = lapack.dtrtrs(lower, right, lower=1)
    if info != 0:
        raise linalg.LinAlgError(f"a triangular factor has a zero on its diagonal (row {info - 1}).")
    return solution


def solve_lower_transposed(lower: FloatArray, right: FloatArray) -> FloatArray:
    """Solve Lᵀ x = right for a lower-triangular L.

    Examples
    --------
    >>> solve_lower_transposed(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([4.0, 2.0]))
    array([1., 2.])
    """
    return linalg.solve_triangular(lower, right, lower=True, trans="T", check_finite=False)


def weighted_gram(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Σ_i w_i r_i r_iᵀ for rows r_i and weights of any sign, exactly symmetric.

    Rows are split by the sign of their weight, so that each part is a symmetric rank-k product of half the cost.

    Examples
    --------
    >>> weighted_gram(np.array([[1.0, 2.0], [1.0, 0.0]]), np.array([1.0, -1.0]))
    array([[0., 2.],
           [2., 4.]])
    """
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for sign in (1.0, -1.0):
        chosen = sign * weights > 0
        if chosen.any():
            scaled = rows[chosen] * np.sqrt(sign * weights[chosen])[:, None]
            total += sign * (scaled.T @ scaled)  # NumPy calls BLAS syrk for A.T @ A
    return total


def solve_regularised_square(C: FloatArray, delta: float, right: FloatArray) -> FloatArray:
    """Solve (C² + δI) x = right for a symmetric, possibly indefinite C.

    Examples
    --------
    >>> solve_regularised_square(np.diag([2.0, -1.0]), 1.0, np.array([5.0, 2.0]))
    array([1., 1.])
    """
    return cholesky(C @ C.T, shift=delta, name="C² + delta I", remedy="delta").solve(right)


def solve_shifted(C: FloatArray, delta: float, right: FloatArray) -> FloatArray:
    """Solve (C + δI) x = right for a symmetric positive semi-definite C.

    Examples
    --------
    >>> solve_shifted(np.diag([2.0, 1.0]), 1.0, np.array([3.0, 2.0]))
    array([1., 1.])
    """
    return cholesky(C, shift=delta, name="C + delta I", remedy="delta").solve(right)


class PivotedCholesky(NamedTuple):
    """A rank-q factor of a positive semi-definite matrix, G ≈ V Vᵀ."""

    factor: FloatArray
    """V, of shape (n, q)."""
    pivots: IntArray
    """The q rows chosen, in order; V[pivots] is lower triangular."""
    residual: FloatArray
    """The diagonal of G − V Vᵀ, non-negative up to rounding; its sum is the trace-norm error."""

    @property
    def pivot_factor(self) -> FloatArray:
        """V[pivots], lower triangular (q, q): the Cholesky factor of G at the pivots."""
        return self.factor[self.pivots]

    def features(self, columns: FloatArray) -> FloatArray:
        """Map kernel values at the pivots, (q,) or (q, m), to the features ψ with V_i·ψ(x) ≈ k(x_i, x)."""
        return linalg.solve_triangular(self.pivot_factor, columns, lower=True, check_finite=False)


def pivoted_cholesky(
    columns: Callable[[IntArray], FloatArray],
    diagonal: FloatArray,
    *,
    tolerance: float,
    rank: int | None = None,
    share: float | None = None,
) -> PivotedCholesky:
    """Greedy partial Cholesky factorisation of a kernel matrix from single columns.

    Each step takes the row with the largest residual diagonal as the next pivot. It stops when that residual is at
    most ``tolerance`` times the largest diagonal entry, when it is rounding, or at ``rank``. The n × n matrix is never
    formed; the cost is O(n q²) and q kernel columns.

    Parameters
    ----------
    columns : callable
        Indices (k,) to the columns (n, k) of the matrix.
    diagonal : array (n,)
        Its diagonal.
    tolerance : float
        Relative residual at which to stop.
    rank : int, optional
        Largest rank.
    share : float, optional
        Stop as well once the factor keeps this share of the trace, so that its trace-norm error is at most the rest.

    Examples
    --------
    >>> G = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> result = pivoted_cholesky(lambda i: G[:, i], np.diag(G), tolerance=0.0)
    >>> bool(np.allclose(result.factor @ result.factor.T, G))
    True
    """
    n = diagonal.shape[0]
    limit = n if rank is None else min(rank, n)
    residual = np.array(diagonal, dtype=np.float64)
    negligible = None if share is None else (1.0 - share) * float(residual.sum())
    scale = float(residual.max(initial=0.0))
    rows = np.empty((min(limit, 64), n))  # Vᵀ, so that each new column of V is contiguous
    pivots: list[int] = []
    while len(pivots) < limit:
        q = len(pivots)
        pivot = int(residual.argmax())
        # Below the rounding of q subtractions a residual is noise, and dividing by its root would amplify it.
        if residual[pivot] <= max(tolerance, (q + 10) * np.finfo(float).eps) * scale:
            break
        if negligible is not None and float(residual.sum()) <= negligible:
            break
        if q == rows.shape[0]:
            rows = np.concatenate([rows, np.empty((min(q, limit - q), n))])
        root = np.sqrt(residual[pivot])
        rows[q] = (columns(np.array([pivot]))[:, 0] - rows[:q, pivot] @ rows[:q]) / root
        rows[q, pivots] = 0.0  # rows chosen before are reproduced exactly: V[pivots] is lower triangular
        rows[q, pivot] = root
        residual -= rows[q] ** 2
        pivots.append(pivot)
        residual[pivots] = 0.0
    if residual.min(initial=0.0) < -1e-6 * scale:
        raise linalg.LinAlgError(
            f"the kernel matrix is not positive semi-definite (residual diagonal {residual.min():.3g} after "
            f"{len(pivots)} pivots). Use a positive definite kernel."
        )
    factor = np.ascontiguousarray(rows[: len(pivots)].T)
    return PivotedCholesky(factor, np.array(pivots, dtype=np.intp), residual)


def pivoted_factor(matrix: FloatArray, tolerance: float) -> PivotedCholesky:
    """Factorise a positive semi-definite matrix that is at hand: as :func:`pivoted_cholesky`, in one call of LAPACK.

    Parameters
    ----------
    matrix : array (n, n)
        Symmetric positive semi-definite.
    tolerance : float
        Stop when the largest residual diagonal entry is at most this times the largest diagonal entry.

    Examples
    --------
    >>> result = pivoted_factor(np.array([[4.0, 2.0], [2.0, 1.0]]), 1e-12)
    >>> result.factor, result.pivots
    (array([[2.],
           [1.]]), array([0]))
    """
    n = len(matrix)
    diagonal = np.diagonal(matrix)
    scale = float(diagonal.max(initial=0.0))
    least = max(tolerance, (n + 10) * np.finfo(float).eps) * scale
    lower, order, rank, _ = lapack.dpstrf(np.array(matrix, order="F"), tol=least, lower=1, overwrite_a=1)
    order = order.astype(np.intp) - 1
    factor = np.empty((n, rank))
    factor[order] = np.tril(lower[:, :rank])
    residual = diagonal - np.sum(factor**2, axis=1)
    return PivotedCholesky(factor, order[:rank], residual)
