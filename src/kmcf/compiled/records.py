"""The arrays of a compiled step: what it is given, what it hands on, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from kmcf.bayes_rule.core import CompressedCore
from kmcf.bayes_rule.evidence import Evidence
from kmcf.bayes_rule.particle_core import ParticleCore
from kmcf.compiled.algebra import DeviceAlgebra
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import Array


class BothCore(NamedTuple):
    """The numbers of the rules on examples and on particles."""

    examples: CompressedCore
    particles: ParticleCore
    state_rows: Array
    """U, (n, p)."""
    observation_rows: Array
    """V, (n, q)."""


class Model(NamedTuple):
    """The fitted numbers on the device."""

    core: CompressedCore | ParticleCore | BothCore
    candidate_states: Array | None
    """The states that herding chooses from, (N, ...); None where nothing is herded."""
    examples: Array
    """All example states, (n, ...), from which initial states are drawn by default."""


@dataclass(frozen=True, eq=False)
class StepSettings:
    """What a step needs to know besides the fitted numbers; it is fixed when the step is compiled."""

    transition: Callable[..., Any]
    initial: Callable[[int, Any], Any] | None
    state_pivots: ExampleKernel
    """What states are compared with: the pivots, or all examples where the posterior lives on the particles."""
    observation_pivots: ExampleKernel
    support: SupportSteps
    """How a step corrects and resamples."""
    angles: Sequence[int]
    seed: int
    n_particles: int
    n_resample: int
    """How many states are resampled."""
    rejecting: bool
    """Whether the prediction is kept when the correction cannot be trusted."""
    dtype: Any
    algebra: DeviceAlgebra


class FilterState(NamedTuple):
    """What one step hands to the next."""

    particles: Array
    """The sample that the next step moves, (m, ...)."""
    time: Array
    """Steps made."""
    stream: Array
    """Number of the stream of random numbers."""
    rejections: Array
    """Steps rejected so far."""
    clock: Array
    """The user's time, in double precision; NaN if steps are not given times."""
    elapsed: Array
    """Time since the step before; NaN if it is not known."""
    weights: Array | None = None
    """The particles' weights, (m,); None where they are always equal."""
    predicted: Array | None = None
    """The particles before resampling, where the posterior lives on them, (m, ...)."""


class ParticleWeights(NamedTuple):
    """The posterior on the predicted particles; where nothing was corrected, the prediction."""

    weights: Array
    """Normalised, (m,)."""
    resampled: Array
    """Whether the next step moves the particles that were picked; otherwise all, with their weights."""
    ess: Array
    mode: Array
    """The particle with the largest weight, flattened, (d,)."""


class BothPicks(NamedTuple):
    """What was resampled, where the posterior lives on the examples or on the particles."""

    herded: Array
    """Candidates, (ℓ,)."""
    drawn: Array
    """Particles, (m,)."""
    on_particles: Array
    """Which of the two it was."""


class StepResult(NamedTuple):
    """What one step computed; if nothing was corrected, the posterior's entries are NaN."""

    corrected: Array
    missing: Array
    rejected: Array
    broken: Array
    """The weights are not finite: a kernel or a factorisation failed."""
    diverged: Array
    """How many states the transition, or at the first step the initial draw, made NaN or infinite."""
    prior: Array | None
    """a, (p,); None where the posterior lives on the particles."""
    solution: Array | None
    """z, (q,)."""
    weight_sum: Array
    herding_loss: Array
    observation_coverage: Array
    state_coverage: Array
    evidence: Evidence
    """How well the prior predicted the observation."""
    mean: Array
    """Mean state, flattened, (d,)."""
    covariance: Array | None
    """(d, d); None with angles, whose deviations wrap around."""
    picks: Array | BothPicks
    """What was resampled: herded candidates, (ℓ,), or particles, (m,)."""
    particles: ParticleWeights | None = None
    """Where the posterior may live on the particles."""


class Corrected(NamedTuple):
    """What a Bayes' rule makes of one observation."""

    posterior: Any
    """What the rule needs to know of it later."""
    weight_sum: Array
    observation_coverage: Array
    state_coverage: Array
    evidence: Evidence
    prior_coverage: Array | None = None
    """The state coverage of a step without an observation, if it is another."""


class Outcome(NamedTuple):
    """What a step concludes, after it is known whether the correction is used."""

    mean: Array
    covariance: Array | None
    picks: Array | BothPicks
    herding_loss: Array
    prior: Array | None = None
    solution: Array | None = None
    particles: ParticleWeights | None = None


class SupportSteps(Protocol):
    """How a compiled step corrects and resamples, by where the posterior lives."""

    on_particles: bool
    """Whether the posterior's states may be the particles, which move from step to step."""
    herds: bool
    """Whether they may be the examples."""

    def correct(self, model: Model, prior: FilterState, observation: Array, settings: StepSettings) -> Corrected:
        """Apply Bayes' rule to the predicted particles, with their weights, and one observation."""
        ...

    def conclude(
        self, model: Model, prior: FilterState, found: Corrected, corrected: Array, key: Array, settings: StepSettings
    ) -> Outcome:
        """Resample, and sum up; where the correction is not used, sum up the prediction."""
        ...

    def following(
        self, model: Model, prior: FilterState, corrected: Array, picks: Any, settings: StepSettings
    ) -> Array:
        """Return the particles that the next step moves."""
        ...

    def blank(self, model: Model, state: FilterState, settings: StepSettings) -> Outcome:
        """Return what is known before the first step."""
        ...

    def numbers(self, model: Model, settings: StepSettings) -> tuple[int, int]:
        """Return how many numbers a step works with, and how many it leaves behind."""
        ...


def lives_on_particles(results: Any) -> Array:
    """Say of results, of one step or many, whether the belief's states are the predicted particles."""
    if results.particles is None:
        return ~results.corrected
    if isinstance(results.picks, BothPicks):
        return ~results.corrected | results.picks.on_particles
    return results.corrected | True


def herded(picks: Array | BothPicks) -> Array:
    """Return the candidates that were herded."""
    return picks.herded if isinstance(picks, BothPicks) else picks


def drawn(picks: Array | BothPicks) -> Array:
    """Return the particles that were drawn."""
    return picks.drawn if isinstance(picks, BothPicks) else picks
