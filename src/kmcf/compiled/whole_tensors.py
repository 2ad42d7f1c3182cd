"""The sums over examples as a GPU likes them: symmetric pairs stored twice, so that a step only multiplies matrices."""

from __future__ import annotations

from dataclasses import dataclass

from kmcf.bayes_rule.tensors import Tensors, pair_positions
from kmcf.numerics.arrays import Array


@dataclass(frozen=True)
class WholeTensors(Tensors):
    """Tensors with ``correction`` of shape (p, q²) and ``herding`` of shape (pq, p)."""

    @classmethod
    def of_pairs(cls, tensors: Tensors) -> WholeTensors:
        """Return tensors of which a step needs no Σ w², with every pair in both of its places."""
        p, q = tensors.ranks
        herding = tensors.herding[pair_positions(p)].transpose(0, 2, 1).reshape(p * q, p)
        correction = tensors.correction[:, pair_positions(q).ravel()]
        return cls(tensors.n, tensors.state_gram, tensors.total, correction, herding, tensors.moments, None)

    def correction_matrix(self, a: Array) -> Array:
        """Return C = Σ_k a_k T_k, (q, q)."""
        _, q = self.ranks
        return (a @ self.correction).reshape(q, q)

    def mean_features(self, a: Array, z: Array) -> Array:
        """Return Uᵀw, (p,)."""
        return (a[:, None] * z[None, :]).reshape(-1) @ self.herding
