"""Sums over examples that hold everything a step of the compressed engine needs.

With rows U_i of the state features and V_i of the observation features, λ = U a and w = λ ∘ (V z), so that

    C = Σ_k a_k T_k,       T_k = Σ_i U_ik V_i V_iᵀ          posterior equations
    Σ w = aᵀ (UᵀV) z                                        normalisation
    Uᵀw = Σ_l a_l S_l z,   S_l = Σ_i U_il U_i V_iᵀ          herding
    Σ w f = aᵀ (Σ_i f(X_i) U_i V_iᵀ) z                      expectations
    Σ w² = Σ_i (a·U_i)² (z·V_i)²                            effective sample size

are all contractions of fixed tensors. Symmetric pairs of indices are stored once. Being sums, the tensors of two sets
of examples add up to those of their union.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, IntArray

BLOCK_NUMBERS = 400_000
"""A block of examples is chosen so that its products number about this many and stay in the cache."""
SQUARES_NUMBERS, SQUARES_WORK, FEW_SQUARES = 1e7, 2e10, 2e5
"""The tensor of Σ w² is kept if it has at most this many entries and takes at most this many multiplications; and if
it has few entries, or fewer than forming the weights would take multiplications."""


@dataclass(frozen=True)
class Tensors:
    """The sums for n examples with p state and q observation features."""

    n: int
    state_gram: FloatArray
    """UᵀU, (p, p)."""
    total: FloatArray
    """UᵀV, (p, q)."""
    correction: FloatArray
    """T_k with symmetric pairs stored once, (p, q(q+1)/2)."""
    herding: FloatArray
    """S_l with symmetric pairs stored once, (p(p+1)/2, q)."""
    moments: FloatArray
    """Σ_i f(X_i) U_i V_iᵀ for K declared functions, (K, p, q)."""
    squares: FloatArray | None
    """For Σ w², (p(p+1)/2, q(q+1)/2); None if that would be too large."""

    @classmethod
    def of(cls, U: FloatArray, V: FloatArray, values: FloatArray, *, squares: bool) -> Tensors:
        """Add up the examples in one pass, block by block; the memory is that of the result plus one block.

        Parameters
        ----------
        U, V : arrays (n, p), (n, q)
            Features.
        values : array (n, K)
            Values of the declared functions at the example states.
        squares : bool
            Whether to keep the tensor of Σ w².
        """
        (n, p), q, K = U.shape, V.shape[1], values.shape[1]
        pairs_p, pairs_q = p * (p + 1) // 2, q * (q + 1) // 2
        state_gram, total = np.zeros((p, p)), np.zeros((p, q))
        correction, herding, moments = np.zeros((p, pairs_q)), np.zeros((pairs_p, q)), np.zeros((K, p, q))
        fourth = np.zeros((pairs_p, pairs_q)) if squares else None
        size = max(64, BLOCK_NUMBERS // max(pairs_p, pairs_q, 1))
        for start in range(0, n, size):
            u, v, f = (np.ascontiguousarray(rows[start : start + size]) for rows in (U, V, values))
            uu, vv = products(u), products(v)
            state_gram += u.T @ u
            total += u.T @ v
            correction += u.T @ vv
            herding += uu.T @ v
            for k in range(K):
                moments[k] += (f[:, k, None] * u).T @ v
            if fourth is not None:
                fourth += uu.T @ vv
        return cls(n, state_gram, total, correction, herding, moments, fourth)

    def __add__(self, other: Tensors) -> Tensors:
        squares = None if self.squares is None or other.squares is None else self.squares + other.squares
        return Tensors(
            self.n + other.n,
            self.state_gram + other.state_gram,
            self.total + other.total,
            self.correction + other.correction,
            self.herding + other.herding,
            self.moments + other.moments,
            squares,
        )

    @property
    def ranks(self) -> tuple[int, int]:
        """Numbers of state and observation features."""
        return self.total.shape[0], self.total.shape[1]

    def observed_mean(self, a: Array) -> Array:
        """Return Vᵀλ, (q,)."""
        return a @ self.total

    def solution(self, C: Array, psi: Array, delta: Any, algebra: Any) -> Array:
        """Return z = (C² + δI)⁻¹ C ψ(y)."""
        return algebra.solve_regularised_square(C, delta, C @ psi)

    def correction_matrix(self, a: Array) -> Array:
        """Return C = Σ_k a_k T_k, (q, q)."""
        return (a @ self.correction)[pair_positions(self.total.shape[1])]

    def weight_sum(self, a: Array, z: Array) -> Array:
        """Return Σ w."""
        return a @ (self.total @ z)

    def mean_features(self, a: Array, z: Array) -> Array:
        """Return Uᵀw, (p,)."""
        return (self.herding @ z)[pair_positions(a.shape[0])] @ a

    def expectations(self, a: Array, z: Array) -> Array:
        """Return Σ w f for the declared functions, (K,)."""
        return (self.moments @ z) @ a

    def sum_of_squares(self, a: FloatArray, z: FloatArray) -> float | None:
        """Return Σ w², or None if its tensor was not kept."""
        if self.squares is None:
            return None
        return float(_doubled(a) @ (self.squares @ _doubled(z)))


def keeps_squares(n: int, p: int, q: int) -> bool:
    """Say whether the tensor of Σ w² is worth its memory and time."""
    entries = p * p * q * q / 4
    small = entries <= SQUARES_NUMBERS and 2 * n * entries <= SQUARES_WORK
    return small and entries <= max(FEW_SQUARES, 2 * n * (p + q))


def products(rows: FloatArray) -> FloatArray:
    """Return the products of all pairs j ≤ k of columns, (n, q(q+1)/2).

    Examples
    --------
    >>> products(np.array([[2.0, 3.0]]))
    array([[4., 6., 9.]])
    """
    n, q = rows.shape
    result = np.empty((n, q * (q + 1) // 2))
    start = 0
    for j in range(q):
        np.multiply(rows[:, j : j + 1], rows[:, j:], out=result[:, start : start + q - j])
        start += q - j
    return result


@cache
def pair_positions(q: int) -> IntArray:
    """Return the (q, q) matrix of positions at which :func:`products` stores each pair.

    Examples
    --------
    >>> pair_positions(2)
    array([[0, 1],
           [1, 2]])
    """
    upper = np.triu_indices(q)
    positions = np.zeros((q, q), dtype=np.intp)
    positions[upper] = np.arange(len(upper[0]))
    positions.T[upper] = positions[upper]
    positions.flags.writeable = False
    return positions


def _doubled(vector: FloatArray) -> FloatArray:
    """Return a vector's pairs, off-diagonal ones counted twice, so that contracting them gives the full double sum."""
    first, second, counted = _pairs(len(vector))
    return vector[first] * vector[second] * counted


@cache
def _pairs(q: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return both members of every pair j ≤ k, in the order of :func:`products`, and how often it counts."""
    first, second = np.triu_indices(q)
    return first, second, np.where(first == second, 1.0, 2.0)
