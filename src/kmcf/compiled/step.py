"""One iteration of Algorithm 3 as a pure function of arrays, for one filter; ``vmap`` makes batches.

What NumPy decides with ``if`` (is the observation missing, can the correction be trusted) is decided here by selection:
both sides are computed and one is kept, so that the step can be compiled, scanned over time and batched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kmcf.bayes_rule.base import LEAST_SIMILARITY, LEAST_WEIGHT_SUM
from kmcf.bayes_rule.core import CompressedCore, Correction, correct, evidence_of, herd_features
from kmcf.bayes_rule.declared import DeclaredFunctions
from kmcf.bayes_rule.evidence import Evidence
from kmcf.compiled.algebra import DeviceAlgebra
from kmcf.compiled.checks import tracing
from kmcf.embedding.moments import weighted_covariance, weighted_mean
from kmcf.filter.clock import Drive
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import Array
from kmcf.numerics.circles import wrapped_columns
from kmcf.transitions.elapsed import needs_elapsed, takes_elapsed


class Model(NamedTuple):
    """The fitted numbers on the device."""

    core: CompressedCore
    candidate_states: Array
    """The states that herding chooses from, (N, ...)."""
    examples: Array
    """All example states, (n, ...), from which initial states are drawn by default."""


@dataclass(frozen=True, eq=False)
class StepSettings:
    """What a step needs to know besides the fitted numbers; it is fixed when the step is compiled."""

    transition: Callable[..., Any]
    initial: Callable[[int, Any], Any] | None
    state_pivots: ExampleKernel
    observation_pivots: ExampleKernel
    declared: DeclaredFunctions
    angles: Sequence[int]
    seed: int
    n_particles: int
    n_resample: int
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


class StepResult(NamedTuple):
    """What one step computed; if nothing was corrected, the posterior's entries are NaN."""

    corrected: Array
    missing: Array
    rejected: Array
    broken: Array
    """The weights are not finite: a kernel or a factorisation failed."""
    diverged: Array
    """How many states the transition, or at the first step the initial draw, made NaN or infinite."""
    prior: Array
    """a, (p,)."""
    solution: Array
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
    picks: Array
    """The herded candidates, (ℓ,)."""


def initial_state(model: Model, stream: Array, settings: StepSettings) -> FilterState:
    """Draw from p_init."""
    key, size = _key(stream, 0, settings), settings.n_particles
    shape = (size, *model.examples.shape[1:])
    if settings.initial is None:
        drawn = model.examples[jax.random.randint(key, (size,), 0, model.examples.shape[0])]
    else:
        with tracing("initial(size, key)"):
            drawn = settings.initial(size, key)
        if jnp.shape(drawn) == (size,) and shape == (size, 1):
            drawn = drawn[:, None]
    zero, unknown = jnp.zeros((), jnp.int32), jnp.asarray(jnp.nan, jnp.float64)
    particles = _checked(drawn, shape, "initial(size, key)", settings)
    return FilterState(particles, zero, _stream(stream), zero, unknown, unknown)


def advance(
    model: Model, state: FilterState, observation: Array, drive: Drive, settings: StepSettings
) -> tuple[FilterState, StepResult]:
    """Make one step. An observation that is all NaN is missing.

    Parameters
    ----------
    model : Model
        The fitted numbers.
    state : FilterState
        From :func:`initial_state` or an earlier step.
    observation : array
        One observation.
    drive : Drive
        What is passed to the transition: the control, and the time of the step if there is one.
    settings : StepSettings
        Everything else.
    """
    with jax.default_matmul_precision("highest"):  # no TF32 in single precision
        core = model.core
        # 1. Predict (Algorithm 3, lines 7-12)
        particles = predict(state, drive, settings)
        # 2. Correct (lines 13-15)
        missing = jnp.isnan(observation).all()
        correction, coverages = _corrected(core, particles, jnp.where(missing, 0.0, observation), settings)
        a, z, weight_sum, _ = correction
        # 3. Keep, or reject: then the prediction stays
        usable = (coverages[0] > LEAST_SIMILARITY) & (weight_sum > LEAST_WEIGHT_SUM)
        corrected = ~missing & (usable if settings.rejecting else weight_sum != 0.0)
        divisor = jnp.where(corrected, weight_sum, 1.0)
        # 4. Resample (line 10 of the next iteration)
        mean_features = core.tensors.mean_features(a, z) / divisor
        picks, loss = herd_features(core, mean_features, settings.n_resample, settings.algebra)
        mean, covariance = _moments(core, a, z, divisor, particles, corrected, settings)
    # 5. Report, with normalised weights (line 16)
    nan = jnp.asarray(jnp.nan, settings.dtype)
    result = StepResult(
        corrected=corrected,
        missing=missing,
        rejected=~corrected & ~missing & settings.rejecting,
        diverged=_not_finite(particles),
        broken=~missing & (~jnp.isfinite(weight_sum) | ((weight_sum == 0.0) & (not settings.rejecting))),
        prior=jnp.where(corrected, a, nan),
        solution=jnp.where(corrected, z, nan),
        weight_sum=jnp.where(corrected, weight_sum, nan),
        herding_loss=jnp.where(corrected, loss, nan),
        observation_coverage=jnp.where(missing, nan, coverages[0]),
        state_coverage=coverages[1],
        evidence=jax.tree.map(lambda value: jnp.where(missing, nan, value), evidence_of(core, correction)),
        mean=mean,
        covariance=covariance,
        picks=picks,
    )
    after = _following(model, state, result.corrected, picks, particles, drive, settings)
    return after._replace(rejections=state.rejections + result.rejected.astype(jnp.int32)), result


def predict(state: FilterState, drive: Drive, settings: StepSettings) -> Array:
    """Move the particles; the initial ones stay where they are (Algorithm 3, t = 1)."""
    key = _key(state.stream, state.time + 1, settings)
    control, timed = drive.control, {}
    if drive.clock is not None and takes_elapsed(settings.transition):
        passed = jnp.where(state.time == 0, 1.0, drive.clock - state.clock)  # nothing moves at the first step
        timed = {"elapsed": passed.astype(settings.dtype)}
    elif needs_elapsed(settings.transition):
        raise ValueError("your transition needs elapsed, but no times were given: pass times=...")
    hint = " (no controls were given: pass controls=... if it needs them)" if control is None else ""
    with tracing(f"transition(states, control, key){hint}"):
        moved = settings.transition(state.particles, control, key, **timed)
    checked = _checked(moved, state.particles.shape, "transition(states, control, key)", settings)
    return jnp.where(state.time == 0, state.particles, checked)


def replay(
    model: Model, state: FilterState, corrected: Array, picks: Array, drive: Drive, settings: StepSettings
) -> tuple[FilterState, Array]:
    """Repeat the prediction of a step whose outcome is known; return the next state and the predicted particles."""
    particles = predict(state, drive, settings)
    return _following(model, state, corrected, picks, particles, drive, settings), particles


def _following(
    model: Model,
    state: FilterState,
    corrected: Array,
    picks: Array,
    particles: Array,
    drive: Drive,
    settings: StepSettings,
) -> FilterState:
    """Return what the next step continues from: copies of the herded states, or the prediction where it stays."""
    resampled = model.candidate_states[picks[np.arange(settings.n_particles) % settings.n_resample]]
    after = state._replace(particles=jnp.where(corrected, resampled, particles), time=state.time + 1)
    if drive.clock is None:
        return after
    clock = jnp.asarray(drive.clock, jnp.float64)
    return after._replace(clock=clock, elapsed=clock - state.clock)


def _corrected(
    core: CompressedCore, particles: Array, observation: Array, settings: StepSettings
) -> tuple[Correction, tuple[Array, Array]]:
    """Apply Kernel Bayes' Rule; also return the coverages of the observation and of the particles."""
    mean_similarities, state_coverage = similarities_of_mean(core, particles, settings)
    similarities = settings.observation_pivots.against(observation[None])[:, 0].astype(settings.dtype)
    observation_coverage = core.observations.coverage(jnp.max(similarities, initial=0.0))
    correction = correct(core, mean_similarities, similarities, settings.algebra)
    return correction, (observation_coverage, state_coverage)


def blank_result(model: Model, state: FilterState, settings: StepSettings) -> StepResult:
    """Return what is known before the first step: the initial sample."""
    nan, false = jnp.asarray(jnp.nan, settings.dtype), jnp.zeros((), bool)
    p, q = model.core.tensors.ranks
    mean, covariance = _particle_moments(state.particles, settings)
    return StepResult(
        corrected=false,
        missing=false,
        rejected=false,
        broken=false,
        diverged=_not_finite(state.particles),
        prior=jnp.full(p, nan),
        solution=jnp.full(q, nan),
        weight_sum=nan,
        herding_loss=nan,
        observation_coverage=nan,
        state_coverage=nan,
        evidence=Evidence(nan, nan, nan, nan),
        mean=mean,
        covariance=covariance,
        picks=jnp.zeros(settings.n_resample, jnp.int32),
    )


def similarities_of_mean(core: CompressedCore, particles: Array, settings: StepSettings) -> tuple[Array, Array]:
    """Return the particles' mean similarities with the pivots, and how well the examples cover them."""
    mean, closest = settings.algebra.similarities(settings.state_pivots, particles)
    return mean.astype(settings.dtype), core.states.coverage(closest).astype(settings.dtype)


def _moments(
    core: CompressedCore, a: Array, z: Array, divisor: Array, particles: Array, corrected: Array, settings: StepSettings
) -> tuple[Array, Array | None]:
    """Return mean and covariance of the posterior, or of the prediction if that is kept."""
    expectations = core.tensors.expectations(a, z) / divisor
    mean: Array = settings.declared.mean(expectations)  # states are numbers here, so there is one
    covariance = settings.declared.covariance(expectations)
    predicted_mean, predicted_covariance = _particle_moments(particles, settings)
    mean = jnp.where(corrected, mean, predicted_mean).astype(settings.dtype)
    if covariance is None or predicted_covariance is None:
        return mean, None
    return mean, jnp.where(corrected, covariance, predicted_covariance).astype(settings.dtype)


def _particle_moments(particles: Array, settings: StepSettings) -> tuple[Array, Array | None]:
    rows = particles.reshape(particles.shape[0], -1)
    weights = jnp.full(rows.shape[0], 1.0 / rows.shape[0], rows.dtype)
    mean = weighted_mean(rows, weights, settings.angles)
    if len(settings.angles):
        return mean, None
    return mean, weighted_covariance(rows, weights, mean)


def _not_finite(particles: Array) -> Array:
    """Count the states that are not finite."""
    return jnp.sum(~jnp.isfinite(particles.reshape(particles.shape[0], -1)).all(axis=1), dtype=jnp.int32)


def _key(stream: Array, time: Any, settings: StepSettings) -> Array:
    """Return the random key of step ``time`` of a stream; it does not depend on earlier draws."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(settings.seed), _stream(stream)), time)


def _stream(stream: Array) -> Array:
    return jnp.asarray(stream, jnp.uint32)


def _checked(states: Any, shape: tuple[int, ...], source: str, settings: StepSettings) -> Array:
    if jnp.shape(states) != shape:
        raise ValueError(f"{source} returned an array of shape {jnp.shape(states)}; it must have shape {shape}.")
    values = jnp.asarray(states)
    if values.dtype.kind == "c":
        raise TypeError(f"{source} returned complex numbers; states are real.")
    return wrapped_columns(values.astype(settings.dtype), settings.angles)
