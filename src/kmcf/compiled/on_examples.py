"""The posterior of a compiled step on the example states, resampled by herding: Algorithm 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp

from kmcf.bayes_rule.clipped import ClippedSums
from kmcf.bayes_rule.core import CompressedCore, Correction, correct, evidence_of, herd_features
from kmcf.bayes_rule.declared import DeclaredFunctions
from kmcf.compiled.records import Corrected, FilterState, Model, Outcome, StepSettings
from kmcf.embedding.moments import weighted_covariance, weighted_mean
from kmcf.numerics.arrays import Array


@dataclass(frozen=True, eq=False)
class ExampleSteps:
    """Kernel Bayes' Rule, or its importance-weighted variant, and herding."""

    declared: DeclaredFunctions
    """The state's moments, as functions whose expectations come with each step."""
    on_particles: ClassVar[bool] = False
    herds: ClassVar[bool] = True

    def correct(self, model: Model, prior: FilterState, observation: Array, settings: StepSettings) -> Corrected:
        """Apply the rule to the mean of the particles."""
        core = _core(model)
        mean_similarities, state_coverage = similarities_of_mean(core, prior.particles, settings, prior.weights)
        similarities = settings.observation_pivots.against(observation[None])[:, 0].astype(settings.dtype)
        observation_coverage = core.observations.coverage(jnp.max(similarities, initial=0.0))
        correction = correct(core, mean_similarities, similarities, settings.algebra)
        evidence = evidence_of(core, correction)
        return Corrected(correction, correction.weight_sum, observation_coverage, state_coverage, evidence)

    def conclude(
        self, model: Model, prior: FilterState, found: Corrected, corrected: Array, key: Array, settings: StepSettings
    ) -> Outcome:
        """Herd the posterior; mean and covariance are its own, or those of the prediction if that is kept."""
        core, correction = _core(model), found.posterior
        assert isinstance(correction, Correction)
        a, z = correction.prior, correction.solution
        divisor = jnp.where(corrected, correction.weight_sum, 1.0)
        mean_features = core.tensors.mean_features(a, z) / divisor
        picks, loss = herd_features(core, mean_features, settings.n_resample, settings.algebra)
        mean, covariance = self._moments(core, correction, divisor, prior.particles, corrected, settings)
        nan = jnp.asarray(jnp.nan, settings.dtype)
        return Outcome(
            mean=mean,
            covariance=covariance,
            picks=picks,
            herding_loss=jnp.where(corrected, loss, nan),
            prior=jnp.where(corrected, a, nan),
            solution=jnp.where(corrected, z, nan),
        )

    def following(
        self, model: Model, prior: FilterState, corrected: Array, picks: Array, settings: StepSettings
    ) -> Array:
        """Return copies of the herded states, or the prediction where it stays."""
        assert model.candidate_states is not None
        copies = -(-settings.n_particles // settings.n_resample)
        picked = model.candidate_states[picks]
        resampled = jnp.tile(picked, (copies, *[1] * (picked.ndim - 1)))[: settings.n_particles]
        return jnp.where(corrected, resampled, prior.particles)

    def blank(self, model: Model, state: FilterState, settings: StepSettings) -> Outcome:
        """Return the moments of the initial sample."""
        nan = jnp.asarray(jnp.nan, settings.dtype)
        p, q = _core(model).tensors.ranks
        mean, covariance = particle_moments(state.particles, settings)
        picks = jnp.zeros(settings.n_resample, jnp.int32)
        return Outcome(mean, covariance, picks, nan, jnp.full(p, nan), jnp.full(q, nan))

    def numbers(self, model: Model, settings: StepSettings) -> tuple[int, int]:
        """Count the similarities of particles and pivots once, in case the compiler cannot fuse them away."""
        tensors = _core(model).tensors
        assert model.candidate_states is not None
        (p, q), size, numbers = tensors.ranks, settings.n_particles, model.examples[0].size
        working = 8 * size * numbers + size * p + 4 * model.candidate_states.shape[0] + 6 * q * q + 2 * p * p
        if isinstance(tensors, ClippedSums):  # the importance-weighted rule works on all examples at every step
            working += model.examples.shape[0] * (q + 4)
        return working, p + q + 2 * numbers + numbers**2 + settings.n_resample + 10

    def _moments(
        self,
        core: CompressedCore,
        correction: Correction,
        divisor: Array,
        particles: Array,
        corrected: Array,
        settings: StepSettings,
    ) -> tuple[Array, Array | None]:
        """Return mean and covariance of the posterior, or of the prediction if that is kept."""
        expectations = core.tensors.expectations(correction.prior, correction.solution) / divisor
        mean: Array = self.declared.mean(expectations)  # states are numbers here, so there is one
        covariance = self.declared.covariance(expectations)
        predicted_mean, predicted_covariance = particle_moments(particles, settings)
        mean = jnp.where(corrected, mean, predicted_mean).astype(settings.dtype)
        if covariance is None or predicted_covariance is None:
            return mean, None
        return mean, jnp.where(corrected, covariance, predicted_covariance).astype(settings.dtype)


def similarities_of_mean(
    core: CompressedCore, particles: Array, settings: StepSettings, weights: Array | None = None
) -> tuple[Array, Array]:
    """Return the particles' mean similarities with the pivots, and how well the examples cover them."""
    if weights is None:
        mean, closest = settings.algebra.similarities(settings.state_pivots, particles)
    else:
        values = settings.state_pivots.against(particles)
        mean, closest = values @ weights, values.max(axis=0) @ weights
    return mean.astype(settings.dtype), core.states.coverage(closest).astype(settings.dtype)


def particle_moments(
    particles: Array, settings: StepSettings, weights: Array | None = None
) -> tuple[Array, Array | None]:
    """Return mean and covariance of particles, equally weighted by default; with angles the mean alone."""
    rows = particles.reshape(particles.shape[0], -1)
    if weights is None:
        weights = jnp.full(rows.shape[0], 1.0 / rows.shape[0], rows.dtype)
    mean = weighted_mean(rows, weights, settings.angles)
    return mean, None if len(settings.angles) else weighted_covariance(rows, weights, mean)


def _core(model: Model) -> CompressedCore:
    assert isinstance(model.core, CompressedCore)
    return model.core
