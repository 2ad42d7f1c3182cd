"""The contract between a filter and a Bayes' rule: a prior sample and an observation give a posterior."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from kmcf.herding.herding import Herding
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects


@dataclass(frozen=True)
class Posterior(ABC):
    """What a rule says after one observation: weights on the n example states, which it may not have formed yet."""

    weight_sum: float
    """Sum of the weights before normalisation."""
    observation_coverage: float
    """Largest similarity of the observation to an example observation, relative to the largest diagonal entry."""
    state_coverage: float
    """The prior's average over particles of the largest similarity to an example state, likewise."""

    @abstractmethod
    def weights(self) -> FloatArray:
        """Return the normalised weights, (n,)."""


@dataclass(frozen=True)
class DensePosterior(Posterior):
    """A posterior whose weights are at hand."""

    unnormalised: FloatArray

    def weights(self) -> FloatArray:
        """Divide the weights by their sum."""
        return self._normalised

    @cached_property
    def _normalised(self) -> FloatArray:
        weights: FloatArray = self.unnormalised / self.weight_sum
        weights.flags.writeable = False
        return weights


class BayesRule(ABC):
    """A Bayes' rule fitted to n examples. The filter sees no matrix, only these methods."""

    size: int
    """n, the number of examples the posterior lives on."""

    @abstractmethod
    def correct(self, particles: Objects, particle_weights: FloatArray, observation: Objects) -> Posterior:
        """Turn a weighted prior sample and one observation (a collection of length 1) into a posterior."""

    @abstractmethod
    def state_coverage(self, particles: Objects, particle_weights: FloatArray) -> float:
        """Say how close a prior sample is to the example states, in [0, 1]."""

    @abstractmethod
    def herd(self, posterior: Posterior, size: int) -> Herding:
        """Pick ``size`` example states that represent a posterior."""

    @abstractmethod
    def resampling_loss(self, indices: IntArray, posterior: Posterior) -> float:
        """Return the RKHS distance of resampled example states to a posterior."""

    def regularised(self, epsilon: float, delta: float) -> Self | None:
        """Return the same rule with other regularisers, sharing kernel matrices and factors; None where it cannot."""
        del epsilon, delta
        return None


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
    return coverage(float(similarities.max(axis=0) @ share / share.sum()), largest)
