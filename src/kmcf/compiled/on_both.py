"""The posterior of a compiled step on the examples, or on the particles where few examples carry it.

Both are worked out at every step, and one is kept: in compiled code the choice saves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from kmcf.bayes_rule.base import LEAST_SIMILARITY, LEAST_WEIGHT_SUM
from kmcf.bayes_rule.both import LEAST_ESS
from kmcf.bayes_rule.clipped import ClippedSums
from kmcf.compiled.on_examples import ExampleSteps
from kmcf.compiled.on_particles import ParticleSteps
from kmcf.compiled.records import BothCore, BothPicks, Corrected, FilterState, Model, Outcome, StepSettings
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import Array


class Halves(NamedTuple):
    """What both rules make of one observation, and which is taken."""

    examples: Corrected
    particles: Corrected
    on_particles: Array


@dataclass(frozen=True, eq=False)
class BothSteps:
    """The rule on examples with herding, and the rule on particles where it says too little."""

    examples: ExampleSteps
    particles: ParticleSteps
    state_kernel: ExampleKernel
    """k_X with all example states, for the rule on particles."""
    observation_pivots: ExampleKernel
    """What the rule on particles compares observations with."""
    on_particles: ClassVar[bool] = True
    herds: ClassVar[bool] = True

    def correct(self, model: Model, prior: FilterState, observation: Array, settings: StepSettings) -> Corrected:
        """Take the posterior on the examples if enough of them carry it, otherwise that on the particles."""
        core = _core(model)
        here = self.examples.correct(model._replace(core=core.examples), prior, observation, settings)
        there = self.particles.correct(model._replace(core=core.particles), prior, observation, self._narrow(settings))
        resembled = here.observation_coverage > LEAST_SIMILARITY
        carried = (here.weight_sum > LEAST_WEIGHT_SUM) & (_effective_size(core, here) >= LEAST_ESS)
        elsewhere = jnp.isfinite(here.weight_sum) & resembled & ~carried
        chosen = jax.tree.map(lambda *both: jnp.where(elsewhere, *both), there[1:5], here[1:5])
        weight_sum, observation_coverage, state_coverage, evidence = chosen
        halves = Halves(here, there, elsewhere)
        return Corrected(halves, weight_sum, observation_coverage, state_coverage, evidence, here.state_coverage)

    def conclude(
        self, model: Model, prior: FilterState, found: Corrected, corrected: Array, key: Array, settings: StepSettings
    ) -> Outcome:
        """Herd the posterior on the examples, or draw particles; predictions are weighted particles."""
        core, halves = _core(model), found.posterior
        assert isinstance(halves, Halves)
        on_examples, on_particles = corrected & ~halves.on_particles, corrected & halves.on_particles
        rest = prior, halves.examples, on_examples, key, settings
        here = self.examples.conclude(model._replace(core=core.examples), *rest)
        rest = prior, halves.particles, on_particles, key, settings
        there = self.particles.conclude(model._replace(core=core.particles), *rest)
        assert there.particles is not None
        equal_next = there.particles.resampled | on_examples
        moments = (here.mean, here.covariance), (there.mean, there.covariance)
        mean, covariance = jax.tree.map(lambda *both: jnp.where(on_examples, *both), *moments)
        return here._replace(
            mean=mean,
            covariance=covariance,
            picks=BothPicks(here.picks, there.picks, on_particles),
            particles=there.particles._replace(resampled=equal_next),
        )

    def following(
        self, model: Model, prior: FilterState, corrected: Array, picks: Any, settings: StepSettings
    ) -> Array:
        """Return copies of the herded states, the particles that were drawn, or the prediction where it stays."""
        here = self.examples.following(model, prior, corrected, picks.herded, settings)
        return jnp.where(picks.on_particles, prior.particles[picks.drawn], here)

    def blank(self, model: Model, state: FilterState, settings: StepSettings) -> Outcome:
        """Return the moments of the initial sample."""
        core = _core(model)
        here = self.examples.blank(model._replace(core=core.examples), state, settings)
        there = self.particles.blank(model._replace(core=core.particles), state, settings)
        picks = BothPicks(here.picks, there.picks, jnp.zeros((), bool))
        return there._replace(picks=picks, prior=here.prior, solution=here.solution)

    def numbers(self, model: Model, settings: StepSettings) -> tuple[int, int]:
        """Add up those of both, and the weights of all examples."""
        core = _core(model)
        here = self.examples.numbers(model._replace(core=core.examples), settings)
        there = self.particles.numbers(model._replace(core=core.particles), settings)
        return here[0] + there[0] + 4 * model.examples.shape[0], here[1] + there[1]

    def _narrow(self, settings: StepSettings) -> StepSettings:
        return replace(settings, state_pivots=self.state_kernel, observation_pivots=self.observation_pivots)


def _effective_size(core: BothCore, found: Corrected) -> Array:
    """Return 1 / Σw² of the normalised weights on the examples."""
    a, z, tensors = found.posterior.prior, found.posterior.solution, core.examples.tensors
    if isinstance(tensors, ClippedSums):
        weights = tensors.weights(a, z)
    else:
        weights = (core.state_rows @ a) * (core.observation_rows @ z)
    return found.weight_sum**2 / jnp.sum(weights**2)


def _core(model: Model) -> BothCore:
    assert isinstance(model.core, BothCore)
    return model.core
