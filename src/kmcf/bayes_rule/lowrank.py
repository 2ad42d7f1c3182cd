"""Kernel Bayes' Rule with low-rank kernel matrices, stably: O(n (p + q²) + q³) per step, no n × n matrix.

With features U of the states (n × p) and V of the observations (n × q), Algorithm 5 becomes

    a = (UᵀU + nεI)⁻¹ c,   λ = U a,   C = Vᵀ diag(λ) V,   z = (C² + δI)⁻¹ C ψ(y),   w = λ ∘ (V z),

where c and ψ(y) are the features of the prior mean and of the observation. The paper's form divides by nε and inverts
C, and blows up at small rank; this one does neither. Here the observation enters through its features, as the examples
do: C ψ(y), where Algorithm 5 has VᵀΛ k_Y. The two agree at high rank; ``docs/engines.md`` compares their errors at low
rank.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from kmcf.bayes_rule.base import DensePosterior, ExampleRule, Examples, Posterior, Prior, Resampler, Sample
from kmcf.bayes_rule.candidates import Candidates, features_loss
from kmcf.bayes_rule.clipped import ClippedSums
from kmcf.bayes_rule.core import CompressedCore
from kmcf.bayes_rule.declared import DeclaredFunctions
from kmcf.bayes_rule.factors import KernelFeatures, prior_factor
from kmcf.herding.herding import Herding
from kmcf.numerics.arrays import IntArray
from kmcf.numerics.linalg import CholeskyFactor, solve_regularised_square, solve_shifted, weighted_gram
from kmcf.numerics.objects import Objects


@dataclass(frozen=True, eq=False)
class LowRankRule(ExampleRule):
    """The low-rank engine, for both rules."""

    support: Objects
    """The example states."""
    resampler: Resampler
    states: KernelFeatures
    """U."""
    observations: KernelFeatures
    """V."""
    candidates: Candidates
    """The example states that herding chooses from."""
    prior_factor: CholeskyFactor
    """Of UᵀU + nεI."""
    delta: float
    importance: bool
    """The importance-weighted rule instead of Kernel Bayes' Rule."""

    @classmethod
    def fit(
        cls,
        examples: Examples,
        states: KernelFeatures,
        observations: KernelFeatures,
        *,
        epsilon: float,
        delta: float,
        rule: str,
        resampler: Resampler,
    ) -> Self:
        """Prepare the rule.

        Parameters
        ----------
        examples : Examples
            The example states, and the state kernel for the herding candidates.
        states, observations : KernelFeatures
            U and V.
        epsilon, delta : float
            Regularisers.
        rule : {"kbr", "importance"}
            Which Bayes' rule.
        resampler : callable
            How posteriors are resampled.
        """
        return cls(
            support=examples.states,
            resampler=resampler,
            states=states,
            observations=observations,
            candidates=Candidates(states, examples.state_kernel),
            prior_factor=prior_factor(states.rows.T @ states.rows, examples.size, epsilon),
            delta=delta,
            importance=rule == "importance",
        )

    @property
    def size(self) -> int:
        """Number of examples, n."""
        return len(self.states.rows)

    def regularised(self, epsilon: float, delta: float) -> Self:
        """Return the same rule with other regularisers; only UᵀU + nεI is factorised again."""
        factor = prior_factor(self.states.rows.T @ self.states.rows, self.size, epsilon)
        return replace(self, prior_factor=factor, delta=delta)

    def correct(self, prior: Prior, observation: Objects) -> Posterior:
        """Apply the low-rank rule to the empirical prior mean of the particles and to one observation."""
        mean, state_coverage = self.states.of_mean(prior.states, prior.weights)
        psi, observation_coverage = self.observations.of_one(observation)
        coefficients = self.states.rows @ self.prior_factor.solve(mean)  # Algorithm 5, line 3
        V = self.observations.rows
        if self.importance:
            coefficients = np.maximum(coefficients, 0.0)
            C = weighted_gram(V, coefficients)
            z = solve_shifted(C, self.delta, psi)
        else:
            C = weighted_gram(V, coefficients)  # line 4
            z = solve_regularised_square(C, self.delta, C @ psi)
        weights = coefficients * (V @ z)  # line 5
        return DensePosterior(
            rule=self,
            support=self.support,
            weight_sum=float(weights.sum()),
            observation_coverage=observation_coverage,
            state_coverage=state_coverage,
            unnormalised=weights,
            evidence=self.observations.evidence(coefficients, psi),
            contrast=self.observations.contrast(coefficients, psi),
        )

    def suggested(self, observation: Objects) -> Prior | None:
        """Weigh the example states by one observation alone."""
        weights = self.observations.likely(observation)
        return None if weights is None else Sample(self.support, weights)

    def compiled_core(self, declared: DeclaredFunctions) -> CompressedCore:
        """Return all numbers that a compiled step needs, for the importance-weighted rule.

        Parameters
        ----------
        declared : DeclaredFunctions
            Functions whose expectations come with each step.
        """
        return CompressedCore(
            states=self.states.map,
            observations=self.observations.map,
            prior_lower=self.prior_factor.lower,
            delta=self.delta,
            tensors=ClippedSums(self.states.rows, self.observations.rows, declared.values(self.support)),
            candidate_features=self.candidates.features,
            candidate_gram=self.candidates.gram,
            mean_row=self.observations.mean_row,
        )

    def state_coverage(self, prior: Prior) -> float:
        """Average the particles' similarities to the closest pivots."""
        return self.states.coverage(prior.states, prior.weights)

    def herd(self, posterior: Posterior, size: int) -> Herding:
        """Apply Algorithm 4 with the candidates."""
        return self.candidates.herd(self.states.rows.T @ posterior.weights(), min(size, self.size))

    def resampling_loss(self, indices: IntArray, posterior: Posterior) -> float:
        """Return ‖m̌ − m̂‖ in the feature space."""
        return features_loss(self.states.rows[indices], self.states.rows.T @ posterior.weights())
