"""A Bayes' rule whose posterior lives on the particles instead of the examples (``support="particles"``).

The examples teach a likelihood, not a posterior: with A_ji the share of example i among the examples around particle j,

    λ_i = Σ_j γ_j A_ji,   z = (VᵀΛV + δI)⁻¹ ψ(y),   w_j ∝ γ_j max(0, Σ_i A_ji (V z)_i).

Where the examples do not reach, a particle borrows the likelihood of the nearest example and keeps its own place, so
the filter can follow a state beyond the examples; the price is O(n m) per step and no signed weights.
"""

from __future__ import annotations

import copy
from typing import Self

import numpy as np

from kmcf.arrays import FloatArray
from kmcf.bayes_rule.base import DensePosterior, Posterior, coverage
from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.kernels.base import ExampleKernel
from kmcf.linalg import cholesky, weighted_gram
from kmcf.objects import Objects


class ParticleRule:
    """The rule on particles.

    Parameters
    ----------
    state_kernel : ExampleKernel
        k_X with the example states; narrow (a fraction of the median distance).
    observations : KernelFeatures
        V.
    delta : float
        Regulariser.
    """

    def __init__(self, state_kernel: ExampleKernel, observations: KernelFeatures, *, delta: float) -> None:
        self.size = state_kernel.size
        self.observations = observations
        self._state_kernel = state_kernel
        self._largest = float(state_kernel.diagonal().max())
        self._delta = delta

    def regularised(self, epsilon: float, delta: float) -> Self:
        """Return the same rule with another δ; it has no ε."""
        del epsilon
        rule = copy.copy(self)
        rule._delta = delta
        return rule

    def correct(self, particles: Objects, particle_weights: FloatArray, observation: Objects) -> Posterior:
        """Re-weight the particles by the likelihood that the examples around them suggest."""
        logs = self._state_kernel.log_against(particles).T  # (m, n)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        prior = shares.T @ particle_weights
        psi, observation_coverage = self.observations.of_one(observation)
        V = self.observations.rows
        C = weighted_gram(V, np.maximum(prior, 0.0))
        likelihood = V @ cholesky(C, shift=self._delta, name="C + delta I", remedy="delta").solve(psi)
        weights = particle_weights * np.maximum(shares @ likelihood, 0.0)
        return DensePosterior(
            weight_sum=float(weights.sum()),
            observation_coverage=observation_coverage,
            state_coverage=self._coverage(logs, particle_weights),
            unnormalised=weights,
        )

    def state_coverage(self, particles: Objects, particle_weights: FloatArray) -> float:
        """Average the particles' similarities to their closest example states."""
        return self._coverage(self._state_kernel.log_against(particles).T, particle_weights)

    def _coverage(self, logs: FloatArray, weights: FloatArray) -> float:
        closest = np.exp(logs.max(axis=1))
        return coverage(float(closest @ np.abs(weights) / np.abs(weights).sum()), self._largest)
