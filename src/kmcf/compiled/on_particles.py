"""The posterior of a compiled step on the predicted particles, resampled systematically where weights are uneven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp

from kmcf.bayes_rule.particle_core import ParticleCore, likelihood_of, reweigh, state_coverage, surroundings
from kmcf.bayes_rule.particles import sharpened
from kmcf.compiled.on_examples import particle_moments
from kmcf.compiled.records import Corrected, FilterState, Model, Outcome, ParticleWeights, StepSettings
from kmcf.herding.resampling import at_positions
from kmcf.numerics.arrays import Array


@dataclass(frozen=True)
class ParticleSteps:
    """The rule on particles, and systematic resampling."""

    threshold: float
    """Resample where Σw² exceeds this over the number of particles (0: always, inf: never)."""
    sharpness: float = 1.0
    """The state kernel is raised to this power."""
    on_particles: ClassVar[bool] = True
    herds: ClassVar[bool] = False

    def correct(self, model: Model, prior: FilterState, observation: Array, settings: StepSettings) -> Corrected:
        """Re-weight the particles by the likelihood that the examples around them suggest."""
        core, weights = _core(model), prior.weights
        logs = sharpened(settings.state_pivots.log_against(prior.particles), self.sharpness).astype(settings.dtype)
        around = surroundings(logs, weights)
        similarities = settings.observation_pivots.against(observation[None])[:, 0].astype(settings.dtype)
        seen = likelihood_of(core, around.coefficients, similarities, settings.algebra)
        unnormalised = reweigh(core, around, seen, weights)
        covered = state_coverage(core, around.closest, weights)
        return Corrected(unnormalised, unnormalised.sum(), seen.coverage, covered, seen.evidence)

    def conclude(
        self, model: Model, prior: FilterState, found: Corrected, corrected: Array, key: Array, settings: StepSettings
    ) -> Outcome:
        """Draw particles by their weights where these are uneven; otherwise all go on with their weights."""
        size = settings.n_particles
        assert prior.weights is not None
        weights = jnp.where(corrected, found.posterior / jnp.where(corrected, found.weight_sum, 1.0), prior.weights)
        squares = jnp.sum(weights**2)
        uneven = corrected & (squares > self.threshold / size if self.threshold else True)
        start = jax.random.uniform(key, (), settings.dtype)
        drawn = at_positions((start + jnp.arange(size, dtype=settings.dtype)) / size, weights)
        picks = jnp.where(uneven, drawn, jnp.arange(size)).astype(jnp.int32)
        return self._outcome(prior.particles, weights, uneven, picks, settings)

    def following(
        self, model: Model, prior: FilterState, corrected: Array, picks: Array, settings: StepSettings
    ) -> Array:
        """Return the particles that were drawn; all of them where none were."""
        return prior.particles[picks]

    def blank(self, model: Model, state: FilterState, settings: StepSettings) -> Outcome:
        """Return the moments of the initial sample."""
        picks = jnp.arange(settings.n_particles, dtype=jnp.int32)
        assert state.weights is not None
        return self._outcome(state.particles, state.weights, jnp.zeros((), bool), picks, settings)

    def numbers(self, model: Model, settings: StepSettings) -> tuple[int, int]:
        """Count the similarities of particles and examples thrice: logarithms, exponentials, and one more."""
        n, size, numbers = model.examples.shape[0], settings.n_particles, model.examples[0].size
        q = _core(model).rows.shape[1]
        working = 3 * n * size + 8 * size * numbers + n * q + 3 * q * q
        return working, 2 * size + 2 * numbers + numbers**2 + 10

    def _outcome(
        self, particles: Array, weights: Array, uneven: Array, picks: Array, settings: StepSettings
    ) -> Outcome:
        mean, covariance = particle_moments(particles, settings, weights)
        mode = particles.reshape(len(particles), -1)[jnp.argmax(weights)]
        found = ParticleWeights(weights, uneven, 1.0 / jnp.sum(weights**2), mode)
        return Outcome(mean, covariance, picks, jnp.asarray(jnp.nan, settings.dtype), particles=found)


def _core(model: Model) -> ParticleCore:
    assert isinstance(model.core, ParticleCore)
    return model.core
