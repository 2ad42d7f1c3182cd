"""Kernel Bayes' Rule at a cost per step that does not depend on the number of examples.

The low-rank rule is linear in the prior's coefficients a and in z with coefficients that are sums over examples
(:mod:`kmcf.bayes_rule.tensors`), so those sums are all a step needs. The n weights are formed only when someone asks.
Rule "kbr" only: the importance-weighted rule clips λ = U a at zero, which is not linear in a.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from kmcf.bayes_rule.base import BayesRule, Posterior
from kmcf.bayes_rule.candidates import Candidates, features_loss
from kmcf.bayes_rule.core import CompressedCore, correct, herd_features
from kmcf.bayes_rule.declared import DeclaredFunctions, Function
from kmcf.bayes_rule.factors import KernelFeatures, prior_factor
from kmcf.bayes_rule.host_algebra import HostAlgebra
from kmcf.bayes_rule.tensors import Tensors, keeps_squares
from kmcf.embedding.lazy_weights import WeightSummary
from kmcf.herding.herding import Herding
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects

ROWS_AT_ONCE = 8192


class CompressedRule(BayesRule):
    """The compressed engine.

    Parameters
    ----------
    states, observations : KernelFeatures
        U and V.
    state_kernel : ExampleKernel
        The state kernel with its examples, for the herding candidates.
    declared : DeclaredFunctions
        Functions whose expectations shall need no weights.
    values : array (n, K)
        Their values at the example states.
    epsilon, delta : float
        Regularisers.
    """

    def __init__(
        self,
        states: KernelFeatures,
        observations: KernelFeatures,
        state_kernel: ExampleKernel,
        *,
        declared: DeclaredFunctions,
        values: FloatArray,
        epsilon: float,
        delta: float,
    ) -> None:
        self.size = state_kernel.size
        self.outside = 0.0
        """Share of the examples added last that the pivots do not reach."""
        self.states = states
        self.observations = observations
        self.declared = declared
        squares = keeps_squares(self.size, states.rank, observations.rank)
        self.tensors = Tensors.of(states.rows, observations.rows, values, squares=squares)
        self.candidates = Candidates(states, state_kernel)
        """The example states that herding chooses from."""
        self._epsilon = epsilon
        self._delta = delta
        self.core = self._make_core()
        """All numbers that a step needs."""

    def _make_core(self) -> CompressedCore:
        return CompressedCore(
            states=self.states.map,
            observations=self.observations.map,
            prior_lower=prior_factor(self.tensors.state_gram, self.size, self._epsilon).lower,
            delta=self._delta,
            tensors=self.tensors,
            candidate_features=self.candidates.features,
            candidate_gram=self.candidates.gram,
        )

    def regularised(self, epsilon: float, delta: float) -> Self:
        """Return the same rule with other regularisers; only UᵀU + nεI is factorised anew."""
        rule = copy.copy(self)
        rule._epsilon, rule._delta = epsilon, delta
        rule.core = rule._make_core()
        return rule

    def extended(self, states: Objects, observations: Objects) -> CompressedRule:
        """Return the rule for some examples more, with the same pivots; this one stays as it is.

        The cost depends on the number of new examples only. Herding candidates stay the same.
        """
        new_states, new_observations = self.states.extended(states), self.observations.extended(observations)
        fresh = slice(self.size, None)
        added = Tensors.of(
            new_states.rows[fresh],
            new_observations.rows[fresh],
            self.declared.values(states),
            squares=self.tensors.squares is not None,
        )
        rule = copy.copy(self)
        rule.states, rule.observations = new_states, new_observations
        rule.tensors = self.tensors + added
        rule.outside = max(new_states.outside, new_observations.outside)
        rule.size = rule.tensors.n
        rule.core = rule._make_core()
        return rule

    def correct(self, particles: Objects, particle_weights: FloatArray, observation: Objects) -> Posterior:
        """Apply the low-rank rule, without forming anything of length n."""
        mean, state_coverage = self.states.similarities_of_mean(particles, particle_weights)
        similarities, observation_coverage = self.observations.similarities_of_one(observation)
        a, z, weight_sum = correct(self.core, mean, similarities, HostAlgebra)
        return CompressedPosterior(
            weight_sum=float(weight_sum),
            observation_coverage=observation_coverage,
            state_coverage=state_coverage,
            rule=self,
            prior=a,
            solution=z,
        )

    def state_coverage(self, particles: Objects, particle_weights: FloatArray) -> float:
        """Average the particles' similarities to the closest pivots."""
        return self.states.coverage(particles, particle_weights)

    def herd(self, posterior: Posterior, size: int) -> Herding:
        """Apply Algorithm 4 with the candidates."""
        picks, loss = herd_features(self.core, self._mean_features(posterior), size, HostAlgebra)
        return Herding(self.candidates.indices[picks], float(loss))

    def resampling_loss(self, indices: IntArray, posterior: Posterior) -> float:
        """Return ‖m̌ − m̂‖ in the feature space."""
        return features_loss(self.states.rows[indices], self._mean_features(posterior))

    def _mean_features(self, posterior: Posterior) -> FloatArray:
        """Return Uᵀw / Σw."""
        if isinstance(posterior, CompressedPosterior):
            summed: FloatArray = self.tensors.mean_features(posterior.prior, posterior.solution)
            return summed / posterior.weight_sum
        features: FloatArray = self.states.rows.T @ posterior.weights()
        return features

    def summarise(self, prior: FloatArray, solution: FloatArray, weight_sum: FloatArray) -> WeightSummary:
        """Form the weights of T posteriors block by block and keep only what summaries need.

        Parameters
        ----------
        prior, solution : arrays (p, T), (q, T)
            a and z of each posterior.
        weight_sum : array (T,)
            Their sums.
        """
        steps = len(weight_sum)
        squares, negative = np.zeros(steps), np.zeros(steps)
        largest, best = np.full(steps, -np.inf), np.zeros(steps, dtype=np.intp)
        for start in range(0, self.size, ROWS_AT_ONCE):
            rows = slice(start, min(start + ROWS_AT_ONCE, self.size))
            weights = (self.states.rows[rows] @ prior) * (self.observations.rows[rows] @ solution) / weight_sum
            squares += np.sum(weights**2, axis=0)
            negative -= np.minimum(weights, 0.0).sum(axis=0)
            position = weights.argmax(axis=0)
            value = weights[position, np.arange(steps)]
            best = np.where(value > largest, start + position, best)
            largest = np.maximum(value, largest)
        return WeightSummary(squares, negative, best)


@dataclass(frozen=True)
class CompressedPosterior(Posterior):
    """A posterior known by its coefficients a (p,) and z (q,): w = (U a) ∘ (V z) / Σ."""

    rule: CompressedRule
    prior: FloatArray
    solution: FloatArray

    def weights(self) -> FloatArray:
        """Form the n weights."""
        rule = self.rule
        U, V = rule.states.rows[: rule.size], rule.observations.rows[: rule.size]
        weights: FloatArray = (U @ self.prior) * (V @ self.solution) / self.weight_sum
        return weights

    def expectation(self, function: Function) -> FloatArray | None:
        """Return the expectation of a function declared at fit."""
        return self.rule.declared.value(function, self._expectations())

    def mean(self) -> FloatArray | None:
        """Return the mean state, flattened."""
        return self.rule.declared.mean(self._expectations())

    def covariance(self) -> FloatArray | None:
        """Return the centred covariance, unless some columns are angles."""
        return self.rule.declared.covariance(self._expectations())

    def sum_of_squares(self) -> float | None:
        """Return Σ w², if its tensor was kept."""
        squares = self.rule.tensors.sum_of_squares(self.prior, self.solution)
        return None if squares is None else squares / self.weight_sum**2

    def summarise(self, posteriors: Sequence[CompressedPosterior]) -> WeightSummary:
        """Summarise the weights of several posteriors of the same rule together."""
        return self.rule.summarise(
            np.stack([posterior.prior for posterior in posteriors], axis=1),
            np.stack([posterior.solution for posterior in posteriors], axis=1),
            np.array([posterior.weight_sum for posterior in posteriors]),
        )

    def _expectations(self) -> FloatArray:
        sums: FloatArray = self.rule.tensors.expectations(self.prior, self.solution)
        return sums / self.weight_sum
