"""One step of any filter: predict, correct, keep or reject, resample, report.

Filters differ in how they predict and in their Bayes' rule; everything else is written here, once. With herding and
Kernel Bayes' Rule this is one iteration of Algorithm 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.bayes_rule import BayesRule, Posterior, Prior, Sample
from kmcf.filter.clock import Drive
from kmcf.filter.motion import Motion
from kmcf.filter.reach import Reach
from kmcf.filter.relocation import Reconsidered, Relocation
from kmcf.filter.results.belief import Belief, equal_weights
from kmcf.filter.results.step_report import StepReport
from kmcf.kernels import Kernel
from kmcf.numerics.objects import Objects
from kmcf.trust.alarm import Look, Watch
from kmcf.trust.calibration import Calibration
from kmcf.trust.distances import kernel_distance

Prediction = Callable[[Belief, Drive, np.random.Generator], Prior]
"""Moves a belief on: takes it, what drives the move and random numbers; returns the prior of the next step."""


@dataclass(frozen=True, eq=False)
class Step:
    """One step: a function of the belief, the observation, what drives the move and random numbers."""

    predict: Prediction
    rule: BayesRule
    rejecting: bool
    """Whether the prediction is kept when the correction cannot be trusted; the paper's Algorithm 3 never does so."""
    n_particles: int
    kernel: Kernel | None
    """The kernel on states, for distances between beliefs."""
    angles: Sequence[int]
    """State columns that are angles."""
    calibration: Calibration | None = None
    """What the intervals of its beliefs are corrected by."""
    watch: Watch | None = None
    """What raises alarms; it changes no estimate."""
    relocation: Relocation | None = None
    """What looks for the state among all examples where observations contradict the prediction."""

    reach: Reach | None = None
    """What follows predicted states beyond the examples; it changes no estimate."""

    def __call__(self, belief: Belief, observation: Objects | None, drive: Drive, rng: np.random.Generator) -> Belief:
        """Return the next belief. The observation is a collection of length 1, or None if it is missing."""
        # 1. Predict (Algorithm 3, lines 7-12)
        prior = self.predict(belief, drive, rng)
        beyond = None if self.reach is None else self.reach.beyond(belief, prior, drive, rng)
        if observation is None:
            covered = self.rule.state_coverage(prior)
            seen = {name: getattr(belief.report, name) for name in ("running", "running_observation", "doubt")}
            seen["beyond"] = beyond
            return self._kept(belief, prior, StepReport(missing=True, state_coverage=covered, **seen))
        # 2. Correct (lines 13-15)
        prior, posterior, told = self._correct(belief, prior, observation, rng)
        told = {**told, "beyond": beyond}
        # 3. Keep, or reject: then the prediction stays
        if self.rejecting and not posterior.usable:
            return self._kept(belief, prior, self._report(belief, observation, posterior, rejected=True, **told))
        if posterior.vanishes:
            raise FloatingPointError(
                "the posterior weights sum to zero, so they cannot be normalised: no example resembles this "
                "observation. With reject=True the prediction would be kept instead."
            )
        # 4. Resample (line 10 of the next iteration)
        resampled, loss = posterior.resample(self.n_particles, rng)
        # 5. Report, with normalised weights (line 16)
        return Belief(
            posterior.support,
            posterior,
            kernel=self.kernel,
            angles=self.angles,
            time=belief.time + 1,
            stream=belief.stream,
            report=self._report(
                belief, observation, posterior, weight_sum=posterior.weight_sum, herding_loss=loss, **told
            ),
            resampled=resampled,
            rejections=belief.rejections,
            calibration=self.calibration,
            watch=self.watch,
        )

    def initial(self, motion: Motion, stream: int, rng: np.random.Generator) -> Belief:
        """Return the belief before the first step: equally weighted draws from p_init."""
        states = motion.draw(self.n_particles, rng)
        described: dict[str, Any] = {"kernel": self.kernel, "angles": self.angles, "calibration": self.calibration}
        return Belief(states, equal_weights(len(states)), stream=stream, **described)

    def _correct(self, belief: Belief, prior: Prior, observation: Objects, rng: np.random.Generator) -> Reconsidered:
        """Apply the rule; where observations contradict the prediction, look elsewhere, too."""
        found = Reconsidered(prior, self.rule.correct(prior, observation), {})
        if self.relocation is not None:
            found = self.relocation.reconsider(belief.report.doubt, *found[:2], self.rule, observation, rng)
        if not np.isfinite(found.posterior.weight_sum):
            raise FloatingPointError(
                "the posterior weights are not finite; check that the kernels return finite values for this "
                "observation, or raise epsilon and delta."
            )
        return found

    def _kept(self, belief: Belief, prior: Prior, report: StepReport) -> Belief:
        """Return the prediction as the next belief."""
        return Belief(
            prior.states,
            prior.weights,
            kernel=self.kernel,
            angles=self.angles,
            time=belief.time + 1,
            stream=belief.stream,
            report=report,
            rejections=belief.rejections + report.rejected,
            calibration=self.calibration,
            watch=self.watch,
        )

    def _report(self, belief: Belief, observation: Objects, posterior: Posterior, **known: Any) -> StepReport:
        """Say how the step went."""
        evidence, covered = known.pop("evidence", posterior.evidence), posterior.observation_coverage
        look, distance = Look(), np.nan
        if self.watch is not None:
            mean = None if known.get("rejected") else posterior.mean_state(self.angles)
            look = self.watch.look(belief.report.running_observation, observation, mean)
            # NaN, for observations that are not numbers
            distance = look.distance if look.distance == look.distance else kernel_distance(covered)
        return StepReport(
            observation_shift=look.shift,
            residual_shift=look.residual_shift,
            running_observation=look.running,
            observation_coverage=covered,
            state_coverage=posterior.state_coverage,
            log_evidence=float(evidence.predicted),
            relative_evidence=float(evidence.ratio),
            prediction_score=float(evidence.score),
            observation_distance=distance,
            sensors=posterior.sensors,
            running=belief.report.running.after(distance, float(evidence.innovation), -float(evidence.spread)),
            **known,
        )


@dataclass(frozen=True, eq=False)
class Move:
    """The prediction of particle filters: copies of what was resampled move; at t = 1 the initial sample stays."""

    motion: Motion
    n_particles: int

    def __call__(self, belief: Belief, drive: Drive, rng: np.random.Generator) -> Sample:
        """Return the moved particles."""
        particles, weights = belief.particles(self.n_particles)
        if belief.time == 0:
            return Sample(particles, weights)
        return Sample(self.motion.move(particles, drive, rng, belief.time + 1), weights)
