"""What the literal and exact engines share: the kernel matrix of the example states, and Algorithm 1, line 3."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from kmcf.bayes_rule.base import (
    DensePosterior,
    ExampleRule,
    Examples,
    Posterior,
    Prior,
    Resampler,
    coverage,
    mean_coverage,
)
from kmcf.bayes_rule.evidence import log_evidence
from kmcf.herding.herding import Herding, herd, resampling_loss
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.linalg import CholeskyFactor, cholesky
from kmcf.numerics.objects import Objects

MOST_EXPECTED = 20_000_000
"""Similarities with states that priors are expected on are kept up to this many numbers (160 MB)."""
Formula = Callable[[FloatArray, Any, FloatArray, float], FloatArray]
"""Takes the prior λ, the represented kernel matrix G_Y, the similarities k_Y and δ; returns unnormalised weights."""


class Expected(NamedTuple):
    """States that priors live on step after step."""

    states: Objects
    similarities: FloatArray
    """Of the example states (rows) with them."""


@dataclass(frozen=True, eq=False)
class GramRule(ExampleRule):
    """A rule that keeps the n × n kernel matrix of the example states."""

    formulas: ClassVar[dict[str, Formula]]
    """Algorithm 1, line 4, and its importance-weighted counterpart, by the rule's name."""

    examples: Examples
    resampler: Resampler
    state_gram: FloatArray
    """G_X."""
    prior_factor: CholeskyFactor
    """Of G_X + nεI."""
    observations: Any
    """G_Y in the form that the formulas take."""
    formula: Formula
    delta: float
    largest: tuple[float, float]
    """Largest diagonal entries of G_X and G_Y."""
    expected: Expected | None = field(default=None, kw_only=True)
    """What priors are expected on."""

    @classmethod
    def fit(
        cls,
        examples: Examples,
        *,
        epsilon: float,
        delta: float,
        rule: str,
        resampler: Resampler,
        represented: Any = None,
        **settings: Any,
    ) -> Self:
        """Compute the kernel matrices.

        Parameters
        ----------
        examples : Examples
            The example states, and both kernels on the examples.
        epsilon, delta : float
            Regularisers.
        rule : {"kbr", "importance"}
            Which Bayes' rule.
        resampler : callable
            How posteriors are resampled.
        represented : object, optional
            What :meth:`represented` returned for the same examples, if known.
        **settings
            Further fields of the engine.
        """
        state_gram = examples.state_kernel.matrix()
        return cls(
            examples=examples,
            resampler=resampler,
            state_gram=state_gram,
            prior_factor=_factorised(state_gram, epsilon),
            observations=cls.represented(examples.observation_kernel) if represented is None else represented,
            formula=cls.formulas[rule],
            delta=delta,
            largest=examples.largest,
            **settings,
        )

    @property
    def size(self) -> int:
        """Number of examples, n."""
        return self.examples.size

    @staticmethod
    @abstractmethod
    def represented(observation_kernel: ExampleKernel) -> Any:
        """Return the kernel matrix of the example observations in the form that the formulas take."""

    def regularised(self, epsilon: float, delta: float) -> Self:
        """Return the same rule with other regularisers; only G_X + nεI is factorised again."""
        return replace(self, prior_factor=_factorised(self.state_gram, epsilon), delta=delta)

    def expecting(self, states: Objects) -> Self:
        """Compare these very states with the examples once for all steps."""
        if self.size * len(states) > MOST_EXPECTED:
            return self
        return replace(self, expected=Expected(states, self.examples.state_kernel.against(states)))

    def correct(self, prior: Prior, observation: Objects) -> Posterior:
        """Apply Algorithm 1 to the empirical prior mean of the particles and to one observation."""
        similarities = self._similarities(prior.states)
        m_pi = similarities @ prior.weights  # Algorithm 3, line 13
        k_y = self.examples.observation_kernel.against(observation)[:, 0]  # line 14
        coefficients = self._prior(m_pi)
        weights = self._corrected(coefficients, k_y)
        return DensePosterior(
            rule=self,
            support=self.examples.states,
            weight_sum=float(weights.sum()),
            observation_coverage=coverage(float(k_y.max()), self.largest[1]),
            state_coverage=mean_coverage(similarities, prior.weights, self.largest[0]),
            unnormalised=weights,
            evidence=log_evidence(coefficients @ k_y, k_y.mean(), self._expected(coefficients)),
            contrast=self._contrast(coefficients, k_y),
        )

    def _similarities(self, states: Objects) -> FloatArray:
        """Return the similarities of the example states (rows) with those of a prior."""
        if self.expected is not None and self.expected.states is states:
            return self.expected.similarities
        return self.examples.state_kernel.against(states)

    def _prior(self, m_pi: FloatArray) -> FloatArray:
        """Return the diagonal of Λ (Algorithm 1, line 3)."""
        return self.prior_factor.solve(m_pi)

    def _corrected(self, coefficients: FloatArray, k_y: FloatArray) -> FloatArray:
        """Return the weights, not normalised (Algorithm 1, line 4)."""
        return self.formula(coefficients, self.observations, k_y, self.delta)

    @abstractmethod
    def _expected(self, coefficients: FloatArray) -> float:
        """Return λᵀ G_Y λ."""

    def _contrast(self, _coefficients: FloatArray, _k_y: FloatArray) -> float:
        """Return how much better than all examples the prior predicted the observation; NaN if it cannot tell."""
        return np.nan

    def state_coverage(self, prior: Prior) -> float:
        """Average the particles' similarities to their closest example states."""
        return mean_coverage(self._similarities(prior.states), prior.weights, self.largest[0])

    def herd(self, posterior: Posterior, size: int) -> Herding:
        """Apply Algorithm 2 with the examples as candidates."""
        weights = posterior.weights()
        mean_values = self.state_gram @ weights
        return herd(mean_values, self.state_gram, min(size, self.size), float(weights @ mean_values))

    def resampling_loss(self, indices: IntArray, posterior: Posterior) -> float:
        """Return ‖m̌ − m̂‖ from the kernel matrix."""
        return resampling_loss(indices, posterior.weights(), self.state_gram)


def _factorised(state_gram: FloatArray, epsilon: float) -> CholeskyFactor:
    return cholesky(state_gram, shift=len(state_gram) * epsilon, name="G_X + n epsilon I", remedy="epsilon")
