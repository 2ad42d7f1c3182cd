"""Ordinary beliefs from what compiled steps computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from kmcf.bayes_rule import CompressedPosterior, CompressedRule
from kmcf.bayes_rule.base import DensePosterior, Posterior
from kmcf.compiled.contract import Engine
from kmcf.compiled.preparing import herded_rule
from kmcf.compiled.records import FilterState, StepResult, drawn, herded, lives_on_particles
from kmcf.compiled.seen import Seen
from kmcf.filter.results.belief import Belief, equal_weights
from kmcf.filter.results.step_report import StepReport
from kmcf.numerics.arrays import FloatArray, IntArray


def fetched_belief(engine: Engine, state: FilterState, result: StepResult, seen: Seen) -> Belief:
    """Turn one step's arrays into an ordinary belief."""
    state, result = jax.device_get((state, result))
    return belief_of(
        engine, result, seen, time=int(state.time), stream=int(state.stream), rejections=int(state.rejections),
        particles=lambda: np.asarray(state.particles if state.predicted is None else state.predicted, np.float64),
        clocks=(float(state.clock), float(state.elapsed)),
    )  # fmt: skip


def belief_of(
    engine: Engine,
    result: StepResult,
    seen: Seen,
    *,
    time: int,
    stream: int,
    rejections: int,
    particles: Callable[[], FloatArray],
    clocks: tuple[float, float],
) -> Belief:
    """Make a belief from one step's results; the particles are needed only if it lives on them."""
    report = StepReport(
        weight_sum=float(result.weight_sum),
        herding_loss=float(result.herding_loss),
        observation_coverage=float(result.observation_coverage),
        state_coverage=float(result.state_coverage),
        log_evidence=float(result.evidence.predicted),
        relative_evidence=float(result.evidence.ratio),
        prediction_score=float(result.evidence.score),
        observation_distance=seen.distance,
        observation_shift=seen.shift,
        residual_shift=seen.residual_shift,
        running_observation=seen.running_observation,
        running=seen.running,
        missing=bool(result.missing),
        rejected=bool(result.rejected),
    )
    details: dict[str, Any] = {"time": time, "stream": stream, "report": report, "rejections": rejections}
    details |= {"kernel": engine.kernel, "angles": engine.settings.angles, "watch": engine.watch}
    details |= {name: value for name, value in zip(("clock", "elapsed"), clocks, strict=True) if value == value}
    details["calibration"] = engine.calibration
    if bool(lives_on_particles(result)):
        predicted = particles()
        if result.particles is None:
            return Belief(predicted, equal_weights(len(predicted)), **details)
        chosen = np.asarray(drawn(result.picks), np.intp) if bool(result.particles.resampled) else None
        return Belief(predicted, np.asarray(result.particles.weights, np.float64), resampled=chosen, **details)
    posterior = _posterior(engine, result, report)
    return Belief(engine.states, posterior, resampled=candidates_of(engine)[herded(result.picks)], **details)


def candidates_of(engine: Engine) -> IntArray:
    """Return which examples herding chooses from."""
    return herded_rule(engine.rule).candidates.indices


def _posterior(engine: Engine, result: StepResult, report: StepReport) -> Posterior:
    """Return the posterior of a step that corrected; the importance-weighted rule clips, so its weights are formed."""
    rule = herded_rule(engine.rule)
    prior, solution = (np.asarray(part, np.float64) for part in (result.prior, result.solution))
    common: dict[str, Any] = {
        "support": engine.states,
        "weight_sum": report.weight_sum,
        "observation_coverage": report.observation_coverage,
        "state_coverage": report.state_coverage,
    }
    if isinstance(rule, CompressedRule):
        return CompressedPosterior(rule=rule, prior=prior, solution=solution, **common)
    weights = np.maximum(rule.states.rows @ prior, 0.0) * (rule.observations.rows @ solution)
    return DensePosterior(rule=rule, unnormalised=weights, evidence=result.evidence, **common)
