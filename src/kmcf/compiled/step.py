"""One iteration of Algorithm 3 as a pure function of arrays, for one filter; ``vmap`` makes batches.

What NumPy decides with ``if`` (is the observation missing, can the correction be trusted) is decided here by selection:
both sides are computed and one is kept, so that the step can be compiled, scanned over time and batched.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from kmcf.bayes_rule.base import LEAST_SIMILARITY, LEAST_WEIGHT_SUM
from kmcf.bayes_rule.evidence import Evidence
from kmcf.compiled.checks import tracing
from kmcf.compiled.records import Corrected, FilterState, Model, Outcome, StepResult, StepSettings
from kmcf.filter.clock import Drive
from kmcf.numerics.arrays import Array
from kmcf.numerics.circles import wrapped_columns
from kmcf.transitions.elapsed import needs_elapsed, takes_elapsed

RESAMPLING = 2**32 - 7
"""Random numbers for resampling: folded into a step's key, of which a transition gets all else."""


def initial_state(model: Model, stream: Array, settings: StepSettings) -> FilterState:
    """Draw from p_init."""
    key, size = step_key(stream, 0, settings), settings.n_particles
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
    start = FilterState(particles, zero, _stream(stream), zero, unknown, unknown)
    if not settings.support.on_particles:
        return start
    return start._replace(weights=jnp.full(size, 1.0 / size, settings.dtype), predicted=particles)


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
    support = settings.support
    with jax.default_matmul_precision("highest"):  # no TF32 in single precision
        # 1. Predict (Algorithm 3, lines 7-12)
        prior = state._replace(particles=predict(state, drive, settings))
        # 2. Correct (lines 13-15)
        missing = jnp.isnan(observation).all()
        found = support.correct(model, prior, jnp.where(missing, 0.0, observation), settings)
        # 3. Keep, or reject: then the prediction stays
        weight_sum = found.weight_sum
        usable = (found.observation_coverage > LEAST_SIMILARITY) & (weight_sum > LEAST_WEIGHT_SUM)
        corrected = ~missing & (usable if settings.rejecting else weight_sum != 0.0)
        # 4. Resample (line 10 of the next iteration)
        key = jax.random.fold_in(step_key(state.stream, state.time + 1, settings), RESAMPLING)
        outcome = support.conclude(model, prior, found, corrected, key, settings)
    # 5. Report, with normalised weights (line 16)
    nan = jnp.asarray(jnp.nan, settings.dtype)
    result = _result(
        outcome,
        corrected=corrected,
        missing=missing,
        rejected=~corrected & ~missing & settings.rejecting,
        diverged=_not_finite(prior.particles),
        broken=~missing & (~jnp.isfinite(weight_sum) | ((weight_sum == 0.0) & (not settings.rejecting))),
        weight_sum=jnp.where(corrected, weight_sum, nan),
        observation_coverage=jnp.where(missing, nan, found.observation_coverage),
        state_coverage=_state_coverage(found, missing),
        evidence=jax.tree.map(lambda value: jnp.where(missing, nan, value), found.evidence),
    )
    after = _following(model, prior, corrected, outcome.picks, drive, settings)
    if outcome.particles is not None:
        equal = jnp.asarray(1.0 / settings.n_particles, settings.dtype)
        after = after._replace(weights=jnp.where(outcome.particles.resampled, equal, outcome.particles.weights))
    return after._replace(rejections=state.rejections + result.rejected.astype(jnp.int32)), result


def _state_coverage(found: Corrected, missing: Array) -> Array:
    if found.prior_coverage is None:
        return found.state_coverage
    return jnp.where(missing, found.prior_coverage, found.state_coverage)


def _result(outcome: Outcome, **reported: Any) -> StepResult:
    return StepResult(**reported, **outcome._asdict())


def predict(state: FilterState, drive: Drive, settings: StepSettings) -> Array:
    """Move the particles; the initial ones stay where they are (Algorithm 3, t = 1)."""
    key = step_key(state.stream, state.time + 1, settings)
    passed = None
    if drive.clock is not None:
        passed = jnp.where(state.time == 0, 1.0, drive.clock - state.clock)  # nothing moves at the first step
    moved = move(state.particles, Drive(drive.control, passed), key, settings)
    return jnp.where(state.time == 0, state.particles, moved)


def move(particles: Array, drive: Drive, key: Array, settings: StepSettings) -> Array:
    """Draw from the user's transition, and check what it returns; the drive says how much time passed."""
    control, timed = drive.control, {}
    if drive.elapsed is not None and takes_elapsed(settings.transition):
        timed = {"elapsed": jnp.asarray(drive.elapsed, settings.dtype)}
    elif needs_elapsed(settings.transition):
        raise ValueError("your transition needs elapsed, but no times were given: pass times=...")
    hint = " (no controls were given: pass controls=... if it needs them)" if control is None else ""
    with tracing(f"transition(states, control, key){hint}"):
        moved = settings.transition(particles, control, key, **timed)
    return _checked(moved, particles.shape, "transition(states, control, key)", settings)


def replay(
    model: Model, state: FilterState, corrected: Array, picks: Any, drive: Drive, settings: StepSettings
) -> tuple[FilterState, Array]:
    """Repeat the prediction of a step whose outcome is known; return the next state and the predicted particles."""
    prior = state._replace(particles=predict(state, drive, settings))
    return _following(model, prior, corrected, picks, drive, settings), prior.particles


def _following(
    model: Model, prior: FilterState, corrected: Array, picks: Any, drive: Drive, settings: StepSettings
) -> FilterState:
    """Return what the next step continues from: what was resampled, or the prediction where it stays."""
    particles = settings.support.following(model, prior, corrected, picks, settings)
    after = prior._replace(particles=particles, time=prior.time + 1)
    if prior.predicted is not None:
        after = after._replace(predicted=prior.particles)
    if drive.clock is None:
        return after
    clock = jnp.asarray(drive.clock, jnp.float64)
    return after._replace(clock=clock, elapsed=clock - prior.clock)


def blank_result(model: Model, state: FilterState, settings: StepSettings) -> StepResult:
    """Return what is known before the first step: the initial sample."""
    nan, false = jnp.asarray(jnp.nan, settings.dtype), jnp.zeros((), bool)
    return _result(
        settings.support.blank(model, state, settings),
        corrected=false,
        missing=false,
        rejected=false,
        broken=false,
        diverged=_not_finite(state.particles),
        weight_sum=nan,
        observation_coverage=nan,
        state_coverage=nan,
        evidence=Evidence(nan, nan, nan, nan),
    )


def _not_finite(particles: Array) -> Array:
    """Count the states that are not finite."""
    return jnp.sum(~jnp.isfinite(particles.reshape(particles.shape[0], -1)).all(axis=1), dtype=jnp.int32)


def step_key(stream: Array, time: Any, settings: StepSettings) -> Array:
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
