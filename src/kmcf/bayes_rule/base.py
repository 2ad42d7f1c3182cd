"""The contract between a filter and a Bayes' rule: a prior sample and an observation give a posterior.

A filter never asks which rule it has: it hands over a prior, and the posterior knows where it lives, what can be read
off it and how it is resampled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from kmcf.bayes_rule.evidence import Evidence
from kmcf.embedding.lazy_weights import LazyWeights, WeightSummary, summarise_columns
from kmcf.embedding.moments import weighted_mean
from kmcf.herding.herding import Herding
from kmcf.herding.resampling import Resampled
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects, is_numeric, take

LEAST_SIMILARITY = 1e-8
"""The largest similarity of an observation to the examples, over the largest diagonal entry, must exceed this."""
LEAST_WEIGHT_SUM = 1e-3
"""The sum of the unnormalised weights must exceed this."""
MOST_NEGATIVE_MASS, SUSPICIOUS_WEIGHT_SUM = 5.0, 0.5
"""Normalised, negative weights must add up to no more than this; they are looked at where the sum is below a half."""

UNKNOWN_EVIDENCE = Evidence(np.nan, np.nan, np.nan)

Resampler = Callable[[Any, int, np.random.Generator], Resampled]
"""Takes a posterior, the number of particles and random numbers (:mod:`kmcf.herding.resampling`)."""


class Prior(Protocol):
    """A weighted sample of states to be corrected."""

    @property
    def states(self) -> Objects:
        """The sample."""

    @property
    def weights(self) -> FloatArray:
        """Its weights, which sum to one."""


class Sample(NamedTuple):
    """A prior that has been worked out."""

    states: Objects
    weights: FloatArray


class SensorUse(NamedTuple):
    """Which of several sensors had a say in a posterior; nobody, where there is only one."""

    used: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    """Those that spoke but were not used."""


NOBODY = SensorUse()


class Examples(NamedTuple):
    """The n example pairs as a rule sees them."""

    states: Objects
    state_kernel: ExampleKernel
    """k_X, one argument fixed to the example states."""
    observation_kernel: ExampleKernel
    """k_Y, one argument fixed to the example observations."""

    @property
    def size(self) -> int:
        """Number of examples, n."""
        return self.state_kernel.size

    @property
    def largest(self) -> tuple[float, float]:
        """Largest diagonal entries of G_X and G_Y."""
        return float(self.state_kernel.diagonal().max()), float(self.observation_kernel.diagonal().max())

    def subset(self, indices: IntArray) -> Examples:
        """Return some of the examples."""
        return Examples(
            take(self.states, indices), self.state_kernel.subset(indices), self.observation_kernel.subset(indices)
        )


@dataclass(frozen=True, eq=False)
class Posterior(LazyWeights):
    """What a rule concludes from one observation: weights on its support, perhaps not formed yet."""

    rule: Any
    """The rule that made it."""
    support: Objects
    """The states that carry the weights."""
    weight_sum: float
    """Sum of the weights before normalisation."""
    observation_coverage: float
    """Largest similarity of the observation to an example observation, relative to the largest diagonal entry."""
    state_coverage: float
    """Largest similarity of a particle to an example state, averaged over the prior; relative in the same way."""
    evidence: Evidence = field(default=UNKNOWN_EVIDENCE, kw_only=True)
    """How well the prior predicted the observation; NaN for rules that have no weights on the examples."""
    contrast: float = field(default=np.nan, kw_only=True)
    """How much better than a prior spread over all examples, sharply; NaN where a rule cannot tell."""

    @property
    def usable(self) -> bool:
        """Whether some example resembles the observation, and the weights do not nearly cancel.

        Weights cancel where their sum is tiny, or where it is small and large negative weights stand against large
        positive ones. The second takes the weights, which are formed for it only where their sum gives reason to.
        """
        if not self.resembled or self.weight_sum <= LEAST_WEIGHT_SUM:
            return False
        if self.weight_sum >= SUSPICIOUS_WEIGHT_SUM:
            return True
        return -float(np.minimum(self.weights(), 0.0).sum()) <= MOST_NEGATIVE_MASS

    @property
    def resembled(self) -> bool:
        """Whether some example observation resembles the observation."""
        return not self.observation_coverage <= LEAST_SIMILARITY

    @property
    def sensors(self) -> SensorUse:
        """Which sensors it rests on, where there are several."""
        return NOBODY

    def embedded(self) -> Prior:
        """Return a signed sample with the same kernel mean, as a prior for rules that look at nothing else."""
        return Sample(self.support, self.weights())

    def mean_state(self, angles: Sequence[int]) -> FloatArray | None:
        """Return the mean state, flattened; None where states are not numbers, or it takes weights not formed yet."""
        known = self.mean()
        if known is not None or not self.formed or not is_numeric(self.support):
            return known
        weights = self.weights()
        return np.asarray(weighted_mean(np.reshape(self.support, (len(weights), -1)), weights, angles))

    @property
    def vanishes(self) -> bool:
        """Whether there is nothing to normalise."""
        return self.weight_sum == 0.0

    def resample(self, size: int, rng: np.random.Generator) -> Resampled:
        """Choose what the next step moves, with the rule's resampler."""
        return self.rule.resampler(self, size, rng)

    def herd(self, size: int) -> Herding:
        """Pick at most ``size`` states of the support that represent the posterior."""
        return self.rule.herd(self, size)

    def resampling_loss(self, indices: IntArray) -> float:
        """Return the RKHS distance of resampled states to the posterior."""
        return self.rule.resampling_loss(indices, self)


@dataclass(frozen=True, eq=False)
class DensePosterior(Posterior):
    """A posterior whose weights have been formed."""

    unnormalised: FloatArray
    formed: ClassVar[bool] = True

    def weights(self) -> FloatArray:
        """Divide the weights by their sum."""
        return self._normalised

    @cached_property
    def _normalised(self) -> FloatArray:
        weights = self.unnormalised / self.weight_sum
        weights.flags.writeable = False
        return weights

    def summarise(self, others: Sequence[Self]) -> WeightSummary:
        """Summarise the weights as they are."""
        return summarise_columns(np.stack([posterior.weights() for posterior in others], axis=1))


class BayesRule(ABC):
    """A Bayes' rule fitted to n examples; immutable. The filter sees no matrix, only these methods."""

    resampler: Resampler
    """How its posteriors are resampled."""
    by_embedding: bool = True
    """Whether it sees a prior only by its kernel mean, so that any sample with the same one will do."""
    outside: float = 0.0
    """Share of the examples added last that the pivots chosen at fit do not reach."""
    kept: int | None = None
    """How many numbers a posterior keeps at most; None: one per example."""

    @abstractmethod
    def correct(self, prior: Prior, observation: Objects) -> Posterior:
        """Turn a weighted prior sample and one observation (a collection of length 1) into a posterior."""

    @abstractmethod
    def state_coverage(self, prior: Prior) -> float:
        """Return how close a prior sample is to the example states, in [0, 1]; NaN if that has no meaning."""

    def expecting(self, _states: Objects) -> Self:
        """Return the rule made ready for priors on these very states, step after step."""
        return self

    def suggested(self, _observation: Objects) -> Prior | None:
        """Return the example states, weighted by how probable each makes one observation; None if it cannot tell."""
        return None

    def extended(self, _states: Objects, _observations: Objects) -> Self | None:
        """Return the rule with further examples, at the cost of these alone; None if it has to be fitted again."""
        return None

    def regularised(self, _epsilon: float, _delta: float) -> Self | None:
        """Return the same rule with other regularisers, sharing kernel matrices and factors; None if it cannot."""
        return None


class ExampleRule(BayesRule):
    """A rule whose posteriors live on the example states, so that they can be herded."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of examples, n."""

    @abstractmethod
    def herd(self, posterior: Any, size: int) -> Herding:
        """Pick at most ``size`` example states that represent a posterior."""

    @abstractmethod
    def resampling_loss(self, indices: IntArray, posterior: Any) -> float:
        """Return the RKHS distance of resampled example states to a posterior."""


def coverage(similarity: float, largest: float) -> float:
    """Return a similarity relative to the largest diagonal entry, clipped to [0, 1].

    Examples
    --------
    >>> coverage(0.5, 2.0), coverage(3.0, 2.0), coverage(0.0, 0.0)
    (0.25, 1.0, 0.0)
    """
    return float(min(max(similarity / largest, 0.0), 1.0)) if largest > 0 else 0.0


def mean_coverage(similarities: FloatArray, weights: FloatArray, largest: float) -> float:
    """Average the particles' best similarities (a column each) by absolute weight: signed ones would cancel."""
    share = np.abs(weights)
    return coverage(float(similarities.max(axis=0) @ share / np.add.reduce(share)), largest)
