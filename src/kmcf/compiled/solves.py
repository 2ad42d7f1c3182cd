"""Small symmetric systems: JAX's Cholesky for one filter, one fused GPU kernel for a batch of them.

Libraries factorise a batch of small matrices by several kernels, each of which streams all of them through memory. The
fused kernel gives every filter a thread, and neighbouring filters neighbouring places in memory. Its loops are not
unrolled: that would be faster, but takes minutes to compile.
"""

# mypy: disable-error-code=no-untyped-call
# JAX leaves some of its classes without types.

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap
from jax.experimental import pallas as pl

from kmcf.compiled.fusing import warps
from kmcf.numerics.arrays import Array

THREADS = 32
"""Filters per program of the fused kernel: one warp, whose threads need not wait for each other."""
FEWEST = 32
"""A few filters are no work for a warp of threads, each of which does everything one after the other."""
TOGETHER = 4
"""Rows of a column that are computed side by side, while one waits for its numbers."""
MOST_ROWS = 32
"""Libraries are faster with larger matrices."""


def plain_solve(matrix: Array, right: Array) -> Array:
    """Solve A x = right for a positive definite A; not a number if it is not.

    Examples
    --------
    >>> plain_solve(jnp.array([[4.0, 0.0], [0.0, 1.0]]), jnp.array([8.0, 3.0])).tolist()
    [2.0, 3.0]
    """
    return solve_factorised(jnp.linalg.cholesky(matrix, symmetrize_input=False), right)


def solve_factorised(lower: Array, right: Array) -> Array:
    """Solve L Lᵀ x = right.

    Examples
    --------
    >>> solve_factorised(jnp.array([[2.0, 0.0], [0.0, 1.0]]), jnp.array([8.0, 3.0])).tolist()
    [2.0, 3.0]
    """
    half = lax.linalg.triangular_solve(lower, right[:, None], left_side=True, lower=True)
    return lax.linalg.triangular_solve(lower, half, left_side=True, lower=True, transpose_a=True)[:, 0]


def fused_solve(matrix: Array, right: Array, *, interpret: bool = False) -> Array:
    """Do the same; many at a time, under ``vmap``, in one GPU kernel (Pallas).

    Parameters
    ----------
    matrix, right : arrays (q, q), (q,)
        The system.
    interpret : bool
        Run the kernel without a GPU, for tests.

    Examples
    --------
    >>> matrices, rights = jnp.full((40, 1, 1), 4.0), jnp.arange(40.0)[:, None]
    >>> jax.vmap(partial(fused_solve, interpret=True))(matrices, rights)[:3, 0].tolist()
    [0.0, 0.25, 0.5]
    """

    def solve(_: Any, right: Array) -> Array:
        return _one_or_many(interpret)(matrix, right)

    # Derivatives come from the equation, not from the kernel, which has none.
    return lax.custom_linear_solve(lambda x: matrix @ x, right, solve, symmetric=True)


def _one_or_many(interpret: bool) -> Any:
    """Return the plain solution, batched by the kernel."""
    solve = custom_vmap(plain_solve)

    @solve.def_vmap
    def many(size: int, batched: Any, matrices: Array, rights: Array) -> tuple[Array, bool]:
        if size < FEWEST:
            return jax.vmap(plain_solve, [0 if is_batched else None for is_batched in batched])(matrices, rights), True
        given = [
            array if is_batched else jnp.broadcast_to(array, (size, *array.shape))
            for array, is_batched in zip((matrices, rights), batched, strict=True)
        ]
        return _solve_many(*given, interpret=interpret), True

    return solve


def _solve_many(matrices: Array, rights: Array, *, interpret: bool) -> Array:
    """Solve (B, q, q) systems with the filters' axis last, so that a warp reads neighbouring numbers."""
    count, q = rights.shape
    programs = -(-count // THREADS)
    more = programs * THREADS - count
    A = jnp.pad(jnp.moveaxis(matrices, 0, -1), [(0, TOGETHER - 1), (0, 0), (0, more)])
    b = jnp.pad(rights.T, [(0, 0), (0, more)])
    vector = pl.BlockSpec((q, THREADS), lambda k: (0, k))
    square = pl.BlockSpec((q + TOGETHER - 1, q, THREADS), lambda k: (0, 0, k))
    solutions, _ = pl.pallas_call(
        partial(_solve_kernel, q=q),
        grid=(programs,),
        in_specs=[square, vector],
        out_specs=[vector, square],
        out_shape=[jax.ShapeDtypeStruct(b.shape, b.dtype), jax.ShapeDtypeStruct(A.shape, A.dtype)],
        compiler_params=warps(1),
        interpret=interpret,
        name="solve",
    )(A, b)
    return solutions[:, :count].T


def _solve_kernel(A_ref: Any, b_ref: Any, x_ref: Any, L_ref: Any, *, q: int) -> None:
    """Factorise column by column and substitute twice; the diagonal of L holds reciprocals."""

    def less(rows: list[Any], j: Any) -> list[Array]:
        """Return A_ij − Σ_{k<j} L_ik L_jk for some rows i."""

        def subtract(k: Any, rest: list[Array]) -> list[Array]:
            known = L_ref[j, k, :]
            return [value - L_ref[i, k, :] * known for i, value in zip(rows, rest, strict=True)]

        return lax.fori_loop(0, j, subtract, [A_ref[i, j, :] for i in rows])

    def column(j: Any, _: None) -> None:
        scale = lax.rsqrt(less([j], j)[0])
        L_ref[j, j, :] = scale

        def rows(group: Any, _: None) -> None:
            some = [j + 1 + TOGETHER * group + k for k in range(TOGETHER)]  # those beyond the last are never read
            for i, value in zip(some, less(some, j), strict=True):
                L_ref[i, j, :] = value * scale

        lax.fori_loop(0, (q - j - 1 + TOGETHER - 1) // TOGETHER, rows, None)

    def forward(i: Any, _: None) -> None:
        rest = lax.fori_loop(0, i, lambda k, rest: rest - L_ref[i, k, :] * x_ref[k, :], b_ref[i, :])
        x_ref[i, :] = rest * L_ref[i, i, :]

    def backward(step: Any, _: None) -> None:
        i = q - 1 - step
        rest = lax.fori_loop(i + 1, q, lambda k, rest: rest - L_ref[k, i, :] * x_ref[k, :], x_ref[i, :])
        x_ref[i, :] = rest * L_ref[i, i, :]

    for loop in (column, forward, backward):
        lax.fori_loop(0, q, loop, None)
