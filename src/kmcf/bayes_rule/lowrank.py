"""Kernel Bayes' Rule with low-rank kernel matrices, stably: O(n (p + q²) + q³) per step, no n × n matrix.

With features U of the states (n × p) and V of the observations (n × q), Algorithm 5 becomes

    a = (UᵀU + nεI)⁻¹ c,   λ = U a,   C = Vᵀ diag(λ) V,   z = (C² + δI)⁻¹ C ψ(y),   w = λ ∘ (V z),

where c and ψ(y) are the features of the prior mean and of the observation. The paper's form divides by nε and inverts
C, and blows up at small rank; this one inverts neither. The observation enters through its features, like the examples
do, where Algorithm 5 has VᵀΛ k_Y in place of C ψ(y): the same at high rank, and at low rank the errors of the two
readings are compared in ``docs/engines.md``.
"""

from __future__ import annotations

import copy
from typing import Self

import numpy as np

from kmcf.bayes_rule.base import BayesRule, DensePosterior, Posterior
from kmcf.bayes_rule.candidates import Candidates, features_loss
from kmcf.bayes_rule.factors import KernelFeatures, prior_factor
from kmcf.herding.herding import Herding
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.linalg import cholesky, solve_regularised_square, weighted_gram
from kmcf.numerics.objects import Objects


class LowRankRule(BayesRule):
    """The low-rank engine, for both rules.

    Parameters
    ----------
    states : KernelFeatures
        U.
    observations : KernelFeatures
        V.
    state_kernel : ExampleKernel
        The state kernel with its examples, for the herding candidates.
    epsilon, delta : float
        Regularisers.
    rule : {"kbr", "importance"}
        Which Bayes' rule.
    """

    def __init__(
        self,
        states: KernelFeatures,
        observations: KernelFeatures,
        state_kernel: ExampleKernel,
        *,
        epsilon: float,
        delta: float,
        rule: str,
    ) -> None:
        self.size = state_kernel.size
        self.states = states
        self.observations = observations
        self._candidates = Candidates(states, state_kernel)
        self._prior_factor = prior_factor(states.rows.T @ states.rows, self.size, epsilon)
        self._delta = delta
        self._importance = rule == "importance"

    def regularised(self, epsilon: float, delta: float) -> Self:
        """Return the same rule with other regularisers; only UᵀU + nεI is factorised anew."""
        rule = copy.copy(self)
        rule._prior_factor = prior_factor(self.states.rows.T @ self.states.rows, self.size, epsilon)
        rule._delta = delta
        return rule

    def correct(self, particles: Objects, particle_weights: FloatArray, observation: Objects) -> Posterior:
        """Apply the low-rank rule to the empirical prior mean of the particles and to one observation."""
        mean, state_coverage = self.states.of_mean(particles, particle_weights)
        psi, observation_coverage = self.observations.of_one(observation)
        prior = self.states.rows @ self._prior_factor.solve(mean)  # Algorithm 5, line 3
        V = self.observations.rows
        if self._importance:
            prior = np.maximum(prior, 0.0)
            C = weighted_gram(V, prior)
            z = cholesky(C, shift=self._delta, name="C + delta I", remedy="delta").solve(psi)
        else:
            C = weighted_gram(V, prior)  # line 4
            z = solve_regularised_square(C, self._delta, C @ psi)
        weights = prior * (V @ z)  # line 5
        return DensePosterior(
            weight_sum=float(weights.sum()),
            observation_coverage=observation_coverage,
            state_coverage=state_coverage,
            unnormalised=weights,
        )

    def state_coverage(self, particles: Objects, particle_weights: FloatArray) -> float:
        """Average the particles' similarities to the closest pivots."""
        return self.states.coverage(particles, particle_weights)

    def herd(self, posterior: Posterior, size: int) -> Herding:
        """Apply Algorithm 4 with the candidates."""
        return self._candidates.herd(self.states.rows.T @ posterior.weights(), size)

    def resampling_loss(self, indices: IntArray, posterior: Posterior) -> float:
        """Return ‖m̌ − m̂‖ in the feature space."""
        return features_loss(self.states.rows[indices], self.states.rows.T @ posterior.weights())
