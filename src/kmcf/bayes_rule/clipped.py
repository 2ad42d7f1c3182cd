"""The sums over examples of the importance-weighted rule, which are made anew at every step.

That rule clips the prior's coefficients, λ = max(0, U a), so nothing here is linear in a, and what
:mod:`kmcf.bayes_rule.tensors` adds up once costs O(n q²) at every step. On an accelerator that is affordable; on NumPy
the low-rank engine does the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kmcf.numerics.arrays import Array, FloatArray


@dataclass(frozen=True)
class ClippedSums:
    """The rows that the sums run over; the methods are those of :class:`~kmcf.bayes_rule.tensors.Tensors`."""

    state_rows: FloatArray
    """U, (n, p)."""
    observation_rows: FloatArray
    """V, (n, q)."""
    values: FloatArray
    """The declared functions at the example states, (n, K)."""

    @property
    def ranks(self) -> tuple[int, int]:
        """Numbers of state and observation features."""
        return self.state_rows.shape[1], self.observation_rows.shape[1]

    def prior_weights(self, a: Array) -> Array:
        """Return λ = max(0, U a), (n,)."""
        return (self.state_rows @ a).clip(0.0)

    def observed_mean(self, a: Array) -> Array:
        """Return Vᵀλ, (q,)."""
        return self.prior_weights(a) @ self.observation_rows

    def correction_matrix(self, a: Array) -> Array:
        """Return C = VᵀΛV, (q, q)."""
        return (self.observation_rows * self.prior_weights(a)[:, None]).T @ self.observation_rows

    def solution(self, C: Array, psi: Array, delta: Any, algebra: Any) -> Array:
        """Return z = (C + δI)⁻¹ ψ(y)."""
        return algebra.solve_shifted(C, delta, psi)

    def weights(self, a: Array, z: Array) -> Array:
        """Return w = λ ∘ (V z), (n,), not normalised."""
        return self.prior_weights(a) * (self.observation_rows @ z)

    def weight_sum(self, a: Array, z: Array) -> Array:
        """Return Σ w."""
        return self.observed_mean(a) @ z

    def mean_features(self, a: Array, z: Array) -> Array:
        """Return Uᵀw, (p,)."""
        return self.weights(a, z) @ self.state_rows

    def expectations(self, a: Array, z: Array) -> Array:
        """Return Σ w f for the declared functions, (K,)."""
        return self.weights(a, z) @ self.values
