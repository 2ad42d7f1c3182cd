"""The rule on particles for observations that consist of positions: judged at each particle's own pose.

Landmarks in view or the echoes of a laser can be carried from where they were made to anywhere else. A kernel that does
so (``kernels/placed.py``) gives the likelihood s_j of each particle itself, for which it is at no loss where there are
no examples. With the names of :mod:`kmcf.bayes_rule.particles`, for δ = ∞,

    w_j ∝ γ_j (φ e l + ρ c_j Σ_i A_ji k_Y(i) + (1 − ρ) l s_j),

where ρ is the kernel's share for resemblance, and e the unit of the background: the more an observation consists of,
the smaller s_j is anywhere. Where no predicted pose explains the observation, others join them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kmcf.bayes_rule.base import DensePosterior, Posterior, Prior
from kmcf.bayes_rule.host_algebra import HostAlgebra
from kmcf.bayes_rule.particle_core import likelihood_of, reached_averages, state_coverage, surroundings
from kmcf.bayes_rule.particles import ParticleRule
from kmcf.kernels import ExampleKernel
from kmcf.kernels.placed import Placed
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects


@dataclass(frozen=True, eq=False)
class PlacedParticleRule(ParticleRule):
    """The rule on particles that know what they would see."""

    placed: Placed = field(kw_only=True)
    """The examples' observations placed in the world."""

    def correct(self, prior: Prior, observation: Objects) -> Posterior:
        """Re-weight the particles by what would be seen from each of them."""
        assert isinstance(self.observations, ExampleKernel)
        prepared = self.observations.kernel.prepare(observation)
        particles, given = self._searched(prior, prepared)
        logs = self.logs(particles)
        around = surroundings(logs, given)
        known = likelihood_of(self.core, around.coefficients, self.observations.against(observation)[:, 0], HostAlgebra)
        seen = self.placed.likelihood(np.asarray(particles), prepared, logs)
        share = self.placed.resemblance
        background = self.background * self.placed.unit(prepared)
        likelihood = (background + (1.0 - share) * seen) * known.perfect
        if share > 0.0:
            likelihood += share * reached_averages(self.core, around, known)
        weights = given * likelihood
        if weights.any():
            weights /= weights.sum()  # many landmarks make tiny likelihoods anywhere, which is no reason to reject them
        return DensePosterior(
            rule=self,
            support=particles,
            weight_sum=float(weights.sum()),
            observation_coverage=max(float(known.coverage), float(seen.max())),  # it may be seen from another pose
            state_coverage=float(state_coverage(self.core, around.closest, given)) if share > 0.0 else np.nan,
            unnormalised=weights,
            evidence=known.evidence,
            contrast=float(known.evidence.ratio),
        )

    def state_coverage(self, prior: Prior) -> float:
        """Return how near examples are, if it matters: where they are placed, they need not be near."""
        return super().state_coverage(prior) if self.placed.resemblance > 0.0 else np.nan

    def _searched(self, prior: Prior, prepared: Any) -> tuple[Objects, FloatArray]:
        """Return a prior with further states where it hardly explains an observation that others would."""
        poses = np.asarray(prior.states)
        others, share = self.placed.elsewhere(poses, prior.weights, prepared)
        if len(others) == 0:
            return poses, prior.weights
        return np.concatenate([poses, others]), np.concatenate([(1.0 - share.sum()) * prior.weights, share])
