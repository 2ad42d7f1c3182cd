"""Solving many small positive definite systems: by the library's Cholesky, or one fused kernel per system on a GPU."""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its classes without types.

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl

from kmcf.arrays import Array


def cholesky_solve(matrix: Array, right: Array) -> Array:
    """Solve A x = right by a Cholesky factorisation and two triangular solves; NaN where A is not positive definite.

    Examples
    --------
    >>> cholesky_solve(jnp.array([[4.0, 2.0], [2.0, 2.0]]), jnp.array([4.0, 4.0])).tolist()
    [0.0, 2.0]
    """
    lower = jnp.linalg.cholesky(matrix, symmetrize_input=False)
    half = lax.linalg.triangular_solve(lower, right[:, None], left_side=True, lower=True)
    return lax.linalg.triangular_solve(lower, half, left_side=True, lower=True, transpose_a=True)[:, 0]


def fused_solve(matrix: Array, right: Array, *, interpret: bool = False) -> Array:
    """Do the same in one kernel per system (Pallas), which holds the matrix in registers.

    It is the square-root-free form A = L D Lᵀ of Cholesky's factorisation, column by column; the forward substitution
    is done along the way. ``interpret`` runs it without a GPU, for tests.

    Examples
    --------
    >>> fused_solve(jnp.array([[4.0, 2.0], [2.0, 2.0]]), jnp.array([4.0, 4.0]), interpret=True).tolist()
    [0.0, 2.0]
    """
    from jax.experimental.pallas import triton

    size = matrix.shape[0]
    width = max(1 << max(size - 1, 0).bit_length(), 2)  # blocks are powers of two; the rest is the identity
    padded = jnp.pad(matrix, (0, width - size)) + jnp.diag((jnp.arange(width) >= size).astype(matrix.dtype))
    solution = pl.pallas_call(
        _solve_kernel,
        out_shape=jax.ShapeDtypeStruct((width,), matrix.dtype),
        compiler_params=triton.CompilerParams(num_warps=1 if width <= 32 else 4, num_stages=1),
        interpret=interpret,
        name="solve",
    )(padded, jnp.pad(right, (0, width - size)))
    return solution[:size]


def _solve_kernel(matrix_ref: Any, right_ref: Any, solution_ref: Any) -> None:
    width = right_ref.shape[0]
    index = lax.broadcasted_iota(jnp.int32, (width,), 0)
    rows = lax.broadcasted_iota(jnp.int32, (width, width), 0)
    columns = lax.broadcasted_iota(jnp.int32, (width, width), 1)

    def eliminate(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        """Column k of L replaces column k of the matrix; what is right of it becomes the Schur complement."""
        A, b = state
        column = jnp.sum(jnp.where(columns == k, A, 0.0), axis=1)
        pivot = jnp.sum(jnp.where(index == k, column, 0.0))
        pivot = jnp.where(pivot > 0.0, pivot, jnp.nan)  # not positive definite: say so, as Cholesky does
        below = jnp.where(index > k, column / pivot, 0.0)
        b = b - below * jnp.sum(jnp.where(index == k, b, 0.0))
        across = jnp.where(index > k, column, 0.0)
        A = A - below[:, None] * across[None, :]
        A = jnp.where((columns == k) & (rows > k), below[:, None], A)
        return A, b

    A, b = lax.fori_loop(0, width, eliminate, (matrix_ref[...], right_ref[...]))
    diagonal = jnp.sum(jnp.where(rows == columns, A, 0.0), axis=1)
    x = b / diagonal

    def substitute(step: Array, x: Array) -> Array:
        """Subtract from x_k what the entries after it contribute through Lᵀ."""
        k = width - 1 - step
        column = jnp.sum(jnp.where((columns == k) & (rows > k), A, 0.0), axis=1)
        return jnp.where(index == k, x - jnp.sum(column * x), x)

    solution_ref[...] = lax.fori_loop(1, width, substitute, x)
