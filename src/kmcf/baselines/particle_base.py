"""What the particle filters share: move, weigh, normalise, resample when the weights have become uneven.

Weights are computed in logarithms, so that the scale of a likelihood does not matter. A filter only says how well each
particle explains an observation.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from kmcf.baselines.examples import ExampleFilter
from kmcf.bayes_rule import BayesRule, DensePosterior, Prior
from kmcf.bayes_rule.base import LEAST_SIMILARITY, UNKNOWN_EVIDENCE, Resampler
from kmcf.filter.settings import MOST_PARTICLES, check_choice, check_count, check_positive
from kmcf.filter.step import Move, Step
from kmcf.herding.resampling import SCHEMES, Draw, KeepAll
from kmcf.numerics.arrays import FloatArray, log_sum_exp
from kmcf.numerics.objects import Objects, is_numeric


class Likelihood(NamedTuple):
    """How well each particle explains an observation."""

    logs: FloatArray
    """Logarithms, up to a constant, (m,); −∞ for particles that cannot explain it."""
    coverage: float = np.nan
    """Similarity of the observation to the closest example; NaN if there is no such notion."""


@dataclass(frozen=True, eq=False)
class LikelihoodPosterior(DensePosterior):
    """Particles weighted by their likelihoods."""

    explained: bool
    """Whether any particle explains the observation at all."""

    @property
    def usable(self) -> bool:
        """Whether some particle explains the observation and, if similarities are known, some example resembles it."""
        return self.explained and not self.observation_coverage <= LEAST_SIMILARITY

    @property
    def vanishes(self) -> bool:
        """Whether no particle explains the observation; a zero ``weight_sum`` alone may be an underflow."""
        return not self.explained

    @cached_property
    def _normalised(self) -> FloatArray:
        weights = self.unnormalised / self.unnormalised.sum()
        weights.flags.writeable = False
        return weights


@dataclass(frozen=True, eq=False)
class LikelihoodRule(BayesRule):
    """Bayes' rule on particles for any likelihood, computed in logarithms, so that its scale does not matter."""

    likelihood: Callable[[Objects, Objects], Likelihood]
    """Takes the particles and an observation."""
    resampler: Resampler

    def correct(self, prior: Prior, observation: Objects) -> LikelihoodPosterior:
        """Weigh the particles."""
        found = self.likelihood(prior.states, observation)
        with np.errstate(divide="ignore"):  # a weight of zero stays zero
            logs = np.log(prior.weights) + _checked_logs(found.logs, len(prior.weights))
        evidence = float(log_sum_exp(logs))
        explained = evidence > -np.inf
        weights = np.exp(logs - evidence) if explained else np.zeros(len(logs))
        weight_sum = float(np.exp(min(evidence, 700.0)))
        return LikelihoodPosterior(
            rule=self,
            support=prior.states,
            weight_sum=weight_sum,
            observation_coverage=found.coverage,
            state_coverage=np.nan,
            unnormalised=weights,
            explained=explained,
            evidence=UNKNOWN_EVIDENCE._replace(predicted=evidence),
        )

    def state_coverage(self, _prior: Prior) -> float:
        """Return NaN: particles may be anywhere."""
        return np.nan


class ParticleBase(ExampleFilter):
    """Base class of the particle filters."""

    resampling: str
    resample_threshold: float

    why_rejected: ClassVar[str] = (
        "because no particle explains it or no example resembles it; the prediction was kept. Use more particles, a "
        "wider transition or, if the likelihood was learnt, more examples like it."
    )

    @abstractmethod
    def _likelihood(self, particles: Objects, observation: Objects) -> Likelihood:
        """Say how well the particles explain an observation (a collection of length 1)."""

    def _check_settings(self) -> None:
        """Check all settings that do not depend on the examples."""
        check_count("n_particles", self.n_particles, most=MOST_PARTICLES)
        check_choice("resampling", self.resampling, tuple(SCHEMES))
        check_positive("resample_threshold", self.resample_threshold, zero=True)
        if self.resample_threshold > 1:
            raise ValueError(
                f"resample_threshold = {self.resample_threshold!r}; it is the effective sample size below which to "
                "resample, as a share of the particles, between 0 (never) and 1 (always)."
            )

    def _step(self) -> Step:
        share = float(self.resample_threshold)
        resampler = Draw(self.resampling, 1.0 / share) if share > 0.0 else KeepAll()
        return self._assembled(Move(self._motion(), int(self.n_particles)), self._rule(resampler))

    def _rule(self, resampler: Resampler) -> BayesRule:
        """Return how observations are corrected."""
        return LikelihoodRule(likelihood=self._likelihood, resampler=resampler)

    def _numbers_per_belief(self) -> int:
        columns = int(np.prod(self.states_.shape[1:])) if is_numeric(self.states_) else 1
        return int(self.n_particles) * (1 + columns)


def _checked_logs(logs: FloatArray, size: int) -> FloatArray:
    values = np.asarray(logs, dtype=np.float64)
    if values.shape != (size,):
        raise ValueError(
            f"the log-likelihood of {size} particles is an array of shape {values.shape}; it must have one number "
            f"per particle, shape {(size,)}."
        )
    if np.isnan(values).any() or (values == np.inf).any():
        raise ValueError("the log-likelihood of some particles is NaN or plus infinity.")
    return values
