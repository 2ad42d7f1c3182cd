"""A Bayes' rule whose posterior lives on the particles instead of the examples (``support="particles"``).

Here the examples give a likelihood, not a posterior. With A_ji the share of example i among the examples around
particle j,

    λ_i = Σ_j γ_j A_ji,   z = (VᵀΛV + δI)⁻¹ ψ(y),   w_j ∝ γ_j max(0, Σ_i A_ji (V z)_i).

For δ → ∞ the likelihood δ V z becomes the similarities k_Y themselves, and Σ_i A_ji k_Y(i) their average over the
examples around a particle, an estimate of E[k_Y(y, Y) | x]; nothing is factorised then.

Where the examples do not reach, a particle borrows the likelihood of the nearest example and keeps its own place, so
the filter can follow a state beyond the examples; the price is O(n m) per step and no signed weights. With a
background φ > 0 it does not borrow:

    w_j ∝ γ_j (φ l + c_j max(0, Σ_i A_ji (V z)_i)),   c_j = max_i k_X(x_j, X_i) / max_i k_X(X_i, X_i),

where l is the likelihood of an observation that fits perfectly once the state is known, k / (k + δ) with the largest
k = k_Y(Y_i, Y_i), or k itself for δ = ∞. No observation then counts against a state by more than φ allows, whether the
examples there look different or there are none, and one that resembles no example changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from kmcf.bayes_rule.base import BayesRule, DensePosterior, Posterior, Prior, Resampler, Sample
from kmcf.bayes_rule.contrast import shares
from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.bayes_rule.host_algebra import HostAlgebra
from kmcf.bayes_rule.particle_core import (
    Likelihood,
    ParticleCore,
    likelihood_of,
    reweigh,
    state_coverage,
    surroundings,
)
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import Array, FloatArray
from kmcf.numerics.objects import Objects


@dataclass(frozen=True, eq=False)
class ParticleRule(BayesRule):
    """The rule on particles."""

    state_kernel: ExampleKernel
    """k_X with the example states; narrow, a fraction of the median distance."""
    observations: KernelFeatures | ExampleKernel
    """V; or, for δ = ∞, k_Y with the example observations."""
    delta: float
    """Regulariser; if infinite, likelihoods are the similarities themselves."""
    resampler: Resampler
    background: float = 0.0
    """φ."""
    by_embedding: ClassVar[bool] = False  # type: ignore[misc]
    sharpness: float = 1.0
    """The state kernel is raised to this power, which narrows it where it is wider than this rule wants."""
    states: Objects | None = None
    """The example states, where a lost filter may look for its own."""

    @property
    def size(self) -> int:
        """Number of examples, n."""
        return self.state_kernel.size

    @cached_property
    def core(self) -> ParticleCore:
        """All numbers that a step needs besides the kernels."""
        observed = self.observations
        rows = observed.rows if isinstance(observed, KernelFeatures) else observed.matrix()
        return ParticleCore(
            observations=observed.map if isinstance(observed, KernelFeatures) else None,
            rows=rows,
            mean_row=observed.mean_row if isinstance(observed, KernelFeatures) else rows.mean(axis=0),
            delta=self.delta,
            largest_state=float(self.state_kernel.diagonal().max()) ** self.sharpness,
            largest_observation=(
                observed.largest if isinstance(observed, KernelFeatures) else float(observed.diagonal().max())
            ),
            background=self.background if self.background > 0.0 else None,
        )

    @property
    def observation_kernel(self) -> ExampleKernel:
        """What observations are compared with: the pivots, or for δ = ∞ all examples."""
        return self.observations.pivot_kernel if isinstance(self.observations, KernelFeatures) else self.observations

    def regularised(self, _epsilon: float, delta: float) -> Self | None:
        """Return the same rule with another δ (it has no ε); None if only one of the two is infinite."""
        if np.isinf(delta) != np.isinf(self.delta):
            return None
        return replace(self, delta=delta)

    def correct(self, prior: Prior, observation: Objects) -> Posterior:
        """Re-weight the particles by the likelihood that the examples around them suggest."""
        around = surroundings(self.logs(prior.states), prior.weights)
        similarities = self.observation_kernel.against(observation)[:, 0]
        seen = likelihood_of(self.core, around.coefficients, similarities, HostAlgebra)
        weights = reweigh(self.core, around, seen, prior.weights)
        return DensePosterior(
            rule=self,
            support=prior.states,
            weight_sum=float(weights.sum()),
            observation_coverage=float(seen.coverage),
            state_coverage=float(state_coverage(self.core, around.closest, prior.weights)),
            unnormalised=weights,
            evidence=seen.evidence,
            contrast=self._contrast(around.coefficients, seen),
        )

    def _contrast(self, coefficients: FloatArray, seen: Likelihood) -> float:
        if isinstance(self.observations, KernelFeatures) and seen.features is not None:
            return self.observations.contrast(coefficients, seen.features)
        return float(seen.evidence.ratio)

    def suggested(self, observation: Objects) -> Prior | None:
        """Weigh the example states by one observation alone; for δ = ∞ by their similarity to it."""
        observed = self.observations
        if isinstance(observed, KernelFeatures):
            weights = observed.likely(observation)
        else:
            weights = shares(observed.against(observation)[:, 0])
        return None if weights is None or self.states is None else Sample(self.states, weights)

    def state_coverage(self, prior: Prior) -> float:
        """Average the particles' similarities to their closest example states."""
        return float(state_coverage(self.core, self.logs(prior.states).max(axis=0), prior.weights))

    def logs(self, particles: Objects) -> FloatArray:
        """Return the logarithms of the similarities of examples and particles, (n, m)."""
        return sharpened(self.state_kernel.log_against(particles), self.sharpness)


def sharpened(logs: Array, sharpness: float) -> Array:
    """Raise similarities to a power, given their logarithms."""
    return logs if sharpness == 1.0 else sharpness * logs
