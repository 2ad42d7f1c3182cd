"""What the particle filters share: move, weigh, normalise, resample when the weights have become uneven.

Weights are computed in logarithms, so that likelihoods of any size can be used. A filter only says how well each
particle explains an observation.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import logsumexp

from kmcf.baselines.examples import ExampleFilter
from kmcf.filter.belief import Belief, StepReport
from kmcf.filter.rejection import LEAST_SIMILARITY
from kmcf.filter.settings import check_choice, check_count, check_positive
from kmcf.herding.resampling import SCHEMES
from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.objects import Objects, is_numeric


class Likelihood(NamedTuple):
    """How well each particle explains an observation."""

    logs: FloatArray
    """Logarithms, up to a constant, (m,); −∞ where it cannot."""
    coverage: float = np.nan
    """Similarity of the observation to the closest example; NaN where there is no such notion."""


class ParticleBase(ExampleFilter):
    """Base of the particle filters."""

    resampling: str
    resample_threshold: float

    _why_rejected: ClassVar[str] = (
        "because no particle explains it or no example resembles it; the prediction was kept. Use more particles, a "
        "wider transition or, where the likelihood was learnt, more examples like it."
    )

    @abstractmethod
    def _likelihood(self, particles: Objects, observation: Objects) -> Likelihood:
        """Say how well the particles explain an observation (a collection of length 1)."""

    def _check_particle_settings(self) -> None:
        check_count("n_particles", self.n_particles)
        check_choice("resampling", self.resampling, tuple(SCHEMES))
        check_positive("resample_threshold", self.resample_threshold, zero=True)
        if self.resample_threshold > 1:
            raise ValueError(
                f"resample_threshold = {self.resample_threshold!r}; it is the effective sample size below which to "
                "resample, as a share of the particles, between 0 (never) and 1 (always)."
            )

    def _advance(self, belief: Belief, observation: Objects | None, control: Any, rng: np.random.Generator) -> Belief:
        next_step = {"time": belief.time + 1, "stream": belief.stream, "rejections": belief.rejections}
        # 1. Move; the initial sample stays where it is
        particles, weights = belief.particles(int(self.n_particles))
        if belief.time > 0:
            particles = self._move(particles, control, rng, belief.time + 1)
        if observation is None:
            return self._belief(particles, weights, report=StepReport(missing=True), **next_step)
        # 2. Weigh
        likelihood = self._likelihood(particles, observation)
        with np.errstate(divide="ignore"):  # a weight of zero stays zero
            logs = np.log(weights) + self._checked_logs(likelihood.logs, len(weights))
        evidence = float(logsumexp(logs))
        # 3. Normalise, unless nothing explains the observation: then the prediction stays
        if evidence == -np.inf or likelihood.coverage <= LEAST_SIMILARITY:
            next_step["rejections"] += 1
            report = StepReport(observation_coverage=likelihood.coverage, rejected=True)
            return self._belief(particles, weights, report=report, **next_step)
        posterior = np.exp(logs - evidence)
        posterior /= posterior.sum()
        # 4. Resample what the next step moves
        report = StepReport(weight_sum=float(np.exp(min(evidence, 700.0))), observation_coverage=likelihood.coverage)
        resampled = None
        if 1.0 / float(np.sum(posterior**2)) < self.resample_threshold * len(posterior):
            resampled = SCHEMES[self.resampling](posterior, len(posterior), rng)
        return self._belief(particles, posterior, report=report, resampled=resampled, **next_step)

    @staticmethod
    def _checked_logs(logs: FloatArray, size: int) -> FloatArray:
        values: FloatArray = np.asarray(logs, dtype=np.float64)
        if values.shape != (size,):
            raise ValueError(
                f"the log-likelihood of {size} particles is an array of shape {values.shape}; it must have one number "
                f"per particle, shape {(size,)}."
            )
        if np.isnan(values).any() or (values == np.inf).any():
            raise ValueError("the log-likelihood of some particles is NaN or plus infinity.")
        return values

    def _numbers_per_belief(self) -> int:
        columns = int(np.prod(self.states_.shape[1:])) if is_numeric(self.states_) else 1
        return int(self.n_particles) * (1 + columns)
