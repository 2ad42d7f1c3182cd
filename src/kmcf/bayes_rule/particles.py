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

Observations that consist of positions (landmarks in view, the echoes of a laser) can be carried from where they were
made to anywhere else. A kernel that does so (``kernels/placed.py``) gives the likelihood of each particle itself, for
which it is at no loss where there are no examples. It replaces the average above, times c_j, or a share of it; then,
too, nothing is factorised.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from kmcf.bayes_rule.base import BayesRule, DensePosterior, Posterior, Prior, Resampler, coverage
from kmcf.bayes_rule.evidence import Evidence, log_evidence
from kmcf.bayes_rule.factors import KernelFeatures
from kmcf.kernels import ExampleKernel
from kmcf.kernels.placed import Placed
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.linalg import solve_shifted, weighted_gram
from kmcf.numerics.objects import Objects


class Likelihood(NamedTuple):
    """What one observation says."""

    at_examples: FloatArray
    perfect: float
    """The likelihood of an observation that fits perfectly."""
    coverage: float
    evidence: Evidence
    contrast: float


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
    placed: Placed | None = None
    """The examples' observations placed in the world, where the kernel on observations can."""

    @property
    def size(self) -> int:
        """Number of examples, n."""
        return self.state_kernel.size

    @cached_property
    def _largest(self) -> tuple[float, float]:
        """The largest similarities of an example state, and of an example observation, with itself."""
        observed = self.observations
        return (
            float(self.state_kernel.diagonal().max()) ** self.sharpness,
            observed.largest if isinstance(observed, KernelFeatures) else float(observed.diagonal().max()),
        )

    @cached_property
    def _observation_gram(self) -> FloatArray:
        """G_Y, for δ = ∞ only."""
        assert not isinstance(self.observations, KernelFeatures)
        return self.observations.matrix()

    def regularised(self, _epsilon: float, delta: float) -> Self | None:
        """Return the same rule with another δ (it has no ε); None if only one of the two is infinite."""
        if np.isinf(delta) != np.isinf(self.delta):
            return None
        return replace(self, delta=delta)

    def correct(self, prior: Prior, observation: Objects) -> Posterior:
        """Re-weight the particles by the likelihood that the examples around them suggest."""
        particles, particle_weights = self._searched(prior, observation)
        logs = self._logs(particles)
        closest = logs.max(axis=0)
        similarities = logs - closest
        np.exp(similarities, out=similarities)
        totals = similarities.sum(axis=0)  # A_ji = similarities_ij / totals_j
        coefficients = similarities @ (particle_weights / totals)
        at_examples, unit, observation_coverage, evidence, contrast = self._likelihood(coefficients, observation)
        likelihood = np.maximum(at_examples @ similarities, 0.0) / totals
        if self.background > 0.0 or self.placed is not None:
            likelihood *= np.exp(closest) / self._largest[0]
        if self.placed is not None:
            seen = self.placed.likelihood(np.asarray(particles), self._prepared(observation), logs)
            likelihood = self.placed.resemblance * likelihood + (1.0 - self.placed.resemblance) * unit * seen
            observation_coverage = max(
                observation_coverage, float(seen.max())
            )  # nothing has to be seen from the same pose
        likelihood += self.background * unit
        weights = particle_weights * likelihood
        if self.placed is not None and weights.any():
            weights /= weights.sum()  # many landmarks make tiny likelihoods anywhere, which is no reason to reject them
        return DensePosterior(
            rule=self,
            support=particles,
            weight_sum=float(weights.sum()),
            observation_coverage=observation_coverage,
            state_coverage=self._coverage(closest, particle_weights),
            unnormalised=weights,
            evidence=evidence,
            contrast=contrast,
        )

    def _likelihood(self, coefficients: FloatArray, observation: Objects) -> Likelihood:
        """Return what the observation says about the examples, for a prior with weights λ on them."""
        if not isinstance(self.observations, KernelFeatures):
            k_y = self.observations.against(observation)[:, 0]
            expected = coefficients @ (self._observation_gram @ coefficients)
            evidence = log_evidence(coefficients @ k_y, k_y.mean(), expected)
            covered = coverage(float(k_y.max()), self._largest[1])
            return Likelihood(k_y, self._largest[1], covered, evidence, float(evidence.ratio))
        psi, observation_coverage = self.observations.of_one(observation)
        V = self.observations.rows
        C = weighted_gram(V, np.maximum(coefficients, 0.0))
        likelihood = V @ solve_shifted(C, self.delta, psi)
        unit = self._largest[1] / (self._largest[1] + self.delta)
        seen = self.observations.evidence(coefficients, psi), self.observations.contrast(coefficients, psi)
        return Likelihood(likelihood, unit, observation_coverage, *seen)

    def _searched(self, prior: Prior, observation: Objects) -> tuple[Objects, FloatArray]:
        """Return a prior with further states where it hardly explains an observation that others would."""
        if self.placed is None:
            return prior.states, prior.weights
        poses = np.asarray(prior.states)
        others, share = self.placed.elsewhere(poses, prior.weights, self._prepared(observation))
        if len(others) == 0:
            return poses, prior.weights
        weights = np.concatenate([(1.0 - share.sum()) * prior.weights, share])
        return np.concatenate([poses, others]), weights

    def _prepared(self, observation: Objects) -> Any:
        assert isinstance(self.observations, ExampleKernel)
        return self.observations.kernel.prepare(observation)

    def state_coverage(self, prior: Prior) -> float:
        """Average the particles' similarities to their closest example states."""
        return self._coverage(self._logs(prior.states).max(axis=0), prior.weights)

    def _logs(self, particles: Objects) -> FloatArray:
        """Return the logarithms of the similarities of examples and particles, (n, m)."""
        logs = self.state_kernel.log_against(particles)
        return logs if self.sharpness == 1.0 else self.sharpness * logs

    def _coverage(self, closest: FloatArray, weights: FloatArray) -> float:
        share = np.abs(weights) / np.abs(weights).sum()
        return coverage(float(np.exp(closest) @ share), self._largest[0])
