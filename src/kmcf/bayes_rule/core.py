"""The numerical core of the compressed engine, over the array namespace: NumPy and JAX run these same lines.

What differs between array libraries (a Cholesky solve, the greedy loop) comes in through :class:`Algebra`. All
functions are for one filter; JAX adds the batch by ``vmap``.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from kmcf.bayes_rule.clipped import ClippedSums
from kmcf.bayes_rule.evidence import Evidence, log_evidence
from kmcf.bayes_rule.tensors import Tensors
from kmcf.numerics.arrays import Array


class Algebra(Protocol):
    """The seam to an array library: what it must offer besides elementary functions and matrix products."""

    def solve_lower(self, lower: Array, right: Array) -> Array:
        """Solve L x = right."""
        ...

    def solve_factorised(self, lower: Array, right: Array) -> Array:
        """Solve L Lᵀ x = right."""
        ...

    def solve_regularised_square(self, C: Array, delta: Any, right: Array) -> Array:
        """Solve (C² + δI) x = right for a symmetric C."""
        ...

    def solve_shifted(self, C: Array, delta: Any, right: Array) -> Array:
        """Solve (C + δI) x = right for a positive semi-definite C."""
        ...

    def weighted_gram(self, rows: Array, weights: Array) -> Array:
        """Return Σ_i w_i r_i r_iᵀ for rows r_i and weights that are not negative."""
        ...

    def herd(self, mean_values: Array, gram: Array, size: int, squared_norm: Array) -> tuple[Array, Array]:
        """Return the picks of Kernel Herding (Algorithm 4) and their distance to the embedding."""
        ...


class FeatureMap(NamedTuple):
    """How similarities with the pivots become features: L⁻¹ k, or fewer directions of it."""

    lower: Array
    """L, the Cholesky factor of the pivots' kernel matrix."""
    directions: Array | None
    """directions · L⁻¹ if only some directions are kept."""
    largest: Any
    """The largest diagonal entry of the kernel matrix, positive."""

    def features(self, similarities: Array, algebra: Algebra) -> Array:
        """Map similarities with the pivots, (pivots,), to features, (p,)."""
        if self.directions is None:
            return algebra.solve_lower(self.lower, similarities)
        return self.directions @ similarities

    def coverage(self, similarity: Array) -> Array:
        """Return a similarity relative to the largest diagonal entry, clipped to [0, 1]."""
        return (similarity / self.largest).clip(0.0, 1.0)


class CompressedCore(NamedTuple):
    """All numbers that a step needs; for Kernel Bayes' Rule nothing here has the length of the examples."""

    states: FeatureMap
    observations: FeatureMap
    prior_lower: Array
    """Cholesky factor of UᵀU + nεI, (p, p)."""
    delta: Any
    tensors: Tensors | ClippedSums
    """The sums over examples: fixed for Kernel Bayes' Rule, made anew at every step for the importance-weighted one."""
    candidate_features: Array
    """Features of the states that herding chooses from, (N, p)."""
    candidate_gram: Array
    """Their kernel matrix, (N, N)."""
    mean_row: Array
    """The examples' mean observation features, (q,)."""


class Correction(NamedTuple):
    """The posterior as coefficients: w = (U a) ∘ (V z), unnormalised; the importance-weighted rule clips U a."""

    prior: Array
    """a, (p,)."""
    solution: Array
    """z, (q,)."""
    weight_sum: Array
    features: Array
    """ψ(y), (q,)."""


def correct(
    core: CompressedCore, mean_similarities: Array, observation_similarities: Array, algebra: Algebra
) -> Correction:
    """Apply Kernel Bayes' Rule, or its importance-weighted variant.

    Parameters
    ----------
    core : CompressedCore
        The fitted numbers.
    mean_similarities : array (state pivots,)
        The prior sample's mean similarities to the state pivots; taking the mean first saves solves.
    observation_similarities : array (observation pivots,)
        The observation's similarities to the observation pivots.
    algebra : Algebra
        The operations of the array library.
    """
    c = core.states.features(mean_similarities, algebra)
    psi = core.observations.features(observation_similarities, algebra)
    a = algebra.solve_factorised(core.prior_lower, c)  # λ = U a
    C = core.tensors.correction_matrix(a)
    z = core.tensors.solution(C, psi, core.delta, algebra)
    return Correction(a, z, core.tensors.weight_sum(a, z), psi)


def evidence_of(core: CompressedCore, correction: Correction) -> Evidence:
    """Return the evidence of the observation: Σ_i λ_i k_Y(y, Y_i) = aᵀ (UᵀV) ψ(y)."""
    mean, psi = core.tensors.observed_mean(correction.prior), correction.features  # Vᵀλ
    return log_evidence(mean @ psi, core.mean_row @ psi, mean @ mean)


def herd_features(core: CompressedCore, mean_features: Array, size: int, algebra: Algebra) -> tuple[Array, Array]:
    """Apply Algorithm 4 to the embedding with the given features Uᵀw / Σw; return picked candidates and the loss."""
    mean_values = mean_features @ core.candidate_features.T  # of a batch, JAX then makes the rows that herding reads
    return algebra.herd(mean_values, core.candidate_gram, size, mean_features @ mean_features)
