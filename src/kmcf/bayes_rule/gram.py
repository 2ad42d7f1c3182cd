"""What the literal and exact engines share: the kernel matrix of the example states, and Algorithm 1, line 3."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

from kmcf.bayes_rule.base import BayesRule, DensePosterior, Posterior, coverage, mean_coverage
from kmcf.herding.herding import Herding, herd, resampling_loss
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.linalg import CholeskyFactor, cholesky
from kmcf.numerics.objects import Objects


class GramRule(BayesRule):
    """A rule that keeps the n × n kernel matrix of the example states.

    Parameters
    ----------
    state_kernel : ExampleKernel
        k_X with the example states.
    observation_kernel : ExampleKernel
        k_Y with the example observations.
    epsilon, delta : float
        Regularisers.
    rule : {"kbr", "importance"}
        Which Bayes' rule.
    """

    def __init__(
        self,
        state_kernel: ExampleKernel,
        observation_kernel: ExampleKernel,
        *,
        epsilon: float,
        delta: float,
        rule: str,
    ) -> None:
        self.size = state_kernel.size
        self._state_kernel = state_kernel
        self._observation_kernel = observation_kernel
        self._state_gram = state_kernel.matrix()
        self._largest_state = float(state_kernel.diagonal().max())
        self._largest_observation = float(observation_kernel.diagonal().max())
        self._prior_factor = self._factorised(epsilon)
        self._observations = self._represented(observation_kernel)
        self._rule = rule
        self._delta = delta

    def regularised(self, epsilon: float, delta: float) -> Self:
        """Return the same rule with other regularisers; only G_X + nεI is factorised anew."""
        rule = copy.copy(self)
        rule._prior_factor = self._factorised(epsilon)
        rule._delta = delta
        return rule

    def _factorised(self, epsilon: float) -> CholeskyFactor:
        return cholesky(self._state_gram, shift=self.size * epsilon, name="G_X + n epsilon I", remedy="epsilon")

    @staticmethod
    @abstractmethod
    def _represented(observation_kernel: ExampleKernel) -> Any:
        """Return the kernel matrix of the example observations in the form the formulas want."""

    @staticmethod
    @abstractmethod
    def _formulas() -> dict[str, Callable[[FloatArray, Any, FloatArray, float], FloatArray]]:
        """Return Algorithm 1, line 4, and its importance-weighted counterpart, by the rule's name."""

    def correct(self, particles: Objects, particle_weights: FloatArray, observation: Objects) -> Posterior:
        """Apply Algorithm 1 to the empirical prior mean of the particles and to one observation."""
        similarities = self._state_kernel.against(particles)
        m_pi = similarities @ particle_weights  # Algorithm 3, line 13
        k_y = self._observation_kernel.against(observation)[:, 0]  # line 14
        prior = self._prior_factor.solve(m_pi)  # Algorithm 1, line 3: the diagonal of Λ
        weights = self._corrected(prior, k_y)
        return DensePosterior(
            weight_sum=float(weights.sum()),
            observation_coverage=coverage(float(k_y.max()), self._largest_observation),
            state_coverage=mean_coverage(similarities, particle_weights, self._largest_state),
            unnormalised=weights,
        )

    def _corrected(self, prior: FloatArray, k_y: FloatArray) -> FloatArray:
        """Return the weights, not normalised (Algorithm 1, line 4)."""
        return self._formulas()[self._rule](prior, self._observations, k_y, self._delta)

    def state_coverage(self, particles: Objects, particle_weights: FloatArray) -> float:
        """Average the particles' similarities to their closest example states."""
        return mean_coverage(self._state_kernel.against(particles), particle_weights, self._largest_state)

    def herd(self, posterior: Posterior, size: int) -> Herding:
        """Apply Algorithm 2 with the examples as candidates."""
        weights = posterior.weights()
        mean_values = self._state_gram @ weights
        return herd(mean_values, self._state_gram, size, float(weights @ mean_values))

    def resampling_loss(self, indices: IntArray, posterior: Posterior) -> float:
        """Return ‖m̌ − m̂‖ from the kernel matrix."""
        return resampling_loss(indices, posterior.weights(), self._state_gram)
