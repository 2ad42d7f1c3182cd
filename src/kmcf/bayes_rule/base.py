"""The contract between a filter and a Bayes' rule: a prior sample and an observation give posterior weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from kmcf.arrays import FloatArray, IntArray
from kmcf.herding import Herding, herd, resampling_loss
from kmcf.kernels.base import ExampleKernel
from kmcf.linalg import cholesky
from kmcf.objects import Objects


class Correction(NamedTuple):
    """What a rule says about one observation."""

    weights: FloatArray
    """Posterior weights on the n example states, before normalisation."""
    observation_coverage: float
    """Largest similarity of the observation to an example observation, relative to the largest diagonal entry."""
    state_coverage: float
    """The prior's average over particles of the largest similarity to an example state, likewise."""


class BayesRule(ABC):
    """A Bayes' rule fitted to n examples. The filter sees no matrix, only these methods."""

    size: int
    """n, the number of examples the posterior lives on."""

    @abstractmethod
    def correct(self, particles: Objects, particle_weights: FloatArray, observation: Objects) -> Correction:
        """Turn a weighted prior sample and one observation (a collection of length 1) into posterior weights."""

    @abstractmethod
    def state_coverage(self, particles: Objects, particle_weights: FloatArray) -> float:
        """Say how close a prior sample is to the example states, in [0, 1]."""

    @abstractmethod
    def herd(self, weights: FloatArray, size: int) -> Herding:
        """Pick ``size`` example states that represent the embedding with the given (normalised) weights."""

    @abstractmethod
    def resampling_loss(self, indices: IntArray, weights: FloatArray) -> float:
        """Return the RKHS distance of resampled example states to the embedding with the given weights."""


class GramRule(BayesRule):
    """A rule that keeps the kernel matrix of the example states: the part common to the literal and exact engines.

    Parameters
    ----------
    state_kernel : ExampleKernel
        k_X with the example states.
    observation_kernel : ExampleKernel
        k_Y with the example observations.
    epsilon : float
        ε of Algorithm 1, line 3.
    """

    def __init__(self, state_kernel: ExampleKernel, observation_kernel: ExampleKernel, epsilon: float) -> None:
        self.size = state_kernel.size
        self._state_kernel = state_kernel
        self._observation_kernel = observation_kernel
        self._state_gram = state_kernel.matrix()
        self._largest_state = float(state_kernel.diagonal().max())
        self._largest_observation = float(observation_kernel.diagonal().max())
        self._prior_factor = cholesky(
            self._state_gram, shift=self.size * epsilon, name="G_X + n epsilon I", remedy="epsilon"
        )

    def correct(self, particles: Objects, particle_weights: FloatArray, observation: Objects) -> Correction:
        """Apply Algorithm 1 to the empirical prior mean of the particles and to one observation."""
        similarities = self._state_kernel.against(particles)
        m_pi = similarities @ particle_weights  # Algorithm 3, line 13
        k_y = self._observation_kernel.against(observation)[:, 0]  # line 14
        prior = self._prior_factor.solve(m_pi)  # Algorithm 1, line 3: the diagonal of Λ
        return Correction(
            weights=self._posterior(prior, k_y),
            observation_coverage=coverage(k_y.max(), self._largest_observation),
            state_coverage=mean_coverage(similarities, particle_weights, self._largest_state),
        )

    def state_coverage(self, particles: Objects, particle_weights: FloatArray) -> float:
        """Average the particles' similarities to their closest example states."""
        return mean_coverage(self._state_kernel.against(particles), particle_weights, self._largest_state)

    @abstractmethod
    def _posterior(self, prior: FloatArray, k_y: FloatArray) -> FloatArray:
        """Algorithm 1, line 4, or its importance-weighted counterpart."""

    def herd(self, weights: FloatArray, size: int) -> Herding:
        """Apply Algorithm 2 with the examples as candidates."""
        mean_values = self._state_gram @ weights
        return herd(mean_values, self._state_gram, size, float(weights @ mean_values))

    def resampling_loss(self, indices: IntArray, weights: FloatArray) -> float:
        """Return ‖m̌ − m̂‖ from the kernel matrix."""
        return resampling_loss(indices, weights, self._state_gram)


def coverage(similarity: float, largest: float) -> float:
    """Return a similarity relative to the largest diagonal entry, clipped to [0, 1]."""
    return float(min(max(similarity / largest, 0.0), 1.0)) if largest > 0 else 0.0


def mean_coverage(similarities: FloatArray, weights: FloatArray, largest: float) -> float:
    """Average the particles' best similarities (a column each) by absolute weight: signed ones would cancel."""
    share = np.abs(weights)
    return coverage(float(similarities.max(axis=0) @ share / share.sum()), largest)
