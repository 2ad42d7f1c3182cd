"""Kernel Bayes' Rule at a cost per step that does not depend on the number of examples.

The low-rank rule is linear in the prior's coefficients a and in z with coefficients that are sums over examples
(:mod:`kmcf.bayes_rule.tensors`), so those sums are all a step needs. The n weights are formed only on request.
Rule "kbr" only: the importance-weighted rule clips λ = U a at zero, which is not linear in a.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from kmcf.bayes_rule.base import (
    ExampleRule,
    Examples,
    Posterior,
    Prior,
    Resampler,
    Sample,
    coverage,
    mean_coverage,
)
from kmcf.bayes_rule.candidates import Candidates, features_loss
from kmcf.bayes_rule.contrast import Contrast
from kmcf.bayes_rule.core import CompressedCore, Correction, correct, evidence_of, herd_features
from kmcf.bayes_rule.declared import DeclaredFunctions, Function
from kmcf.bayes_rule.factors import KernelFeatures, prior_factor
from kmcf.bayes_rule.host_algebra import HostAlgebra
from kmcf.bayes_rule.tensors import Tensors, keeps_squares
from kmcf.embedding.lazy_weights import WeightSummary, summarise_columns
from kmcf.herding.herding import Herding
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.growing import Growing
from kmcf.numerics.linalg import solve_lower_transposed
from kmcf.numerics.objects import Objects, take

ROWS_AT_ONCE = 8192
QUICKLY_FORMED = 500_000
"""Weights that take so many multiplications are formed where Σ w² is asked for and its tensor was not kept."""


@dataclass(frozen=True, eq=False)
class CompressedRule(ExampleRule):
    """The compressed engine."""

    examples: Growing
    """The example states."""
    resampler: Resampler
    states: KernelFeatures
    """U."""
    observations: KernelFeatures
    """V."""
    declared: DeclaredFunctions
    """Functions whose expectations need no weights."""
    tensors: Tensors
    candidates: Candidates
    """The example states that herding chooses from."""
    epsilon: float
    delta: float
    outside: float = 0.0

    @classmethod
    def fit(
        cls,
        examples: Examples,
        states: KernelFeatures,
        observations: KernelFeatures,
        *,
        declared: DeclaredFunctions,
        epsilon: float,
        delta: float,
        resampler: Resampler,
    ) -> Self:
        """Add up the tensors.

        Parameters
        ----------
        examples : Examples
            The example states, and the state kernel for the herding candidates.
        states, observations : KernelFeatures
            U and V.
        declared : DeclaredFunctions
            Functions whose expectations should not need the weights.
        epsilon, delta : float
            Regularisers.
        resampler : callable
            How posteriors are resampled.
        """
        squares = keeps_squares(examples.size, states.rank, observations.rank)
        return cls(
            examples=Growing(examples.states),
            resampler=resampler,
            states=states,
            observations=observations,
            declared=declared,
            tensors=Tensors.of(states.rows, observations.rows, declared.values(examples.states), squares=squares),
            candidates=Candidates(states, examples.state_kernel),
            epsilon=epsilon,
            delta=delta,
        )

    def __post_init__(self) -> None:
        _ = self.core  # a matrix that cannot be factorised is an error now, not in the first step

    @property
    def size(self) -> int:
        """Number of examples, n."""
        return self.tensors.n

    @property
    def share(self) -> float:
        """Share of the examples that are in memory; the sums may run over more."""
        return min(len(self.examples.objects), self.size) / self.size

    def summing(self, tensors: Tensors) -> Self:
        """Return the rule with sums over more examples, of which those in memory are a random part."""
        return replace(self, tensors=tensors)

    @cached_property
    def core(self) -> CompressedCore:
        """All numbers that a step needs."""
        return CompressedCore(
            states=self.states.map,
            observations=self.observations.map,
            prior_lower=prior_factor(self.tensors.state_gram, self.size, self.epsilon).lower,
            delta=self.delta,
            tensors=self.tensors,
            candidate_features=self.candidates.features,
            candidate_gram=self.candidates.gram,
            mean_row=self.observations.mean_row,
        )

    def regularised(self, epsilon: float, delta: float) -> Self:
        """Return the same rule with other regularisers; only UᵀU + nεI is factorised again."""
        return replace(self, epsilon=epsilon, delta=delta)

    def extended(self, states: Objects, observations: Objects) -> Self:
        """Return the rule with further examples and the same pivots; this one does not change.

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
        return replace(
            self,
            examples=self.examples.append(states),
            states=new_states,
            observations=new_observations,
            tensors=self.tensors + added,
            outside=max(new_states.outside, new_observations.outside),
        )

    def correct(self, prior: Prior, observation: Objects) -> Posterior:
        """Apply the low-rank rule, without forming anything of length n."""
        core = self.core
        with_pivots = self.states.pivot_kernel.against(prior.states)
        similarities = self.observations.pivot_kernel.against(observation)[:, 0]
        correction = correct(core, with_pivots @ prior.weights, similarities, HostAlgebra)
        return CompressedPosterior(
            rule=self,
            support=self.examples.objects,
            weight_sum=float(correction.weight_sum),
            observation_coverage=coverage(float(similarities.max(initial=0.0)), core.observations.largest),
            state_coverage=mean_coverage(with_pivots, prior.weights, core.states.largest),
            prior=correction.prior,
            solution=correction.solution,
            evidence=evidence_of(core, correction),
            contrast=self._contrast(correction),
        )

    @cached_property
    def _sharp(self) -> Contrast | None:
        """From the tensors, so that it costs the same for any number of examples: Λ = I / n is λ = U a with this a."""
        spread = HostAlgebra.solve_factorised(self.core.prior_lower, self.states.mean_row)
        return Contrast.of(self.tensors.correction_matrix(spread), self.core.mean_row)

    def _contrast(self, correction: Correction) -> float:
        if self._sharp is None:
            return np.nan
        return self._sharp(correction.prior @ self.tensors.total, correction.features)

    def suggested(self, observation: Objects) -> Prior | None:
        """Weigh the example states that are in memory by one observation alone."""
        if self._sharp is None:
            return None
        weights = self._sharp.likely(self.observations.rows[: self.size], self.observations.of_one(observation)[0])
        return None if weights is None else Sample(self.examples.objects, weights)

    def state_coverage(self, prior: Prior) -> float:
        """Average the particles' similarities to the closest pivots."""
        return self.states.coverage(prior.states, prior.weights)

    def herd(self, posterior: CompressedPosterior, size: int) -> Herding:
        """Apply Algorithm 4 with the candidates."""
        picks, loss = herd_features(self.core, self.mean_features(posterior), min(size, self.size), HostAlgebra)
        return Herding(self.candidates.indices[picks], float(loss))

    def resampling_loss(self, indices: IntArray, posterior: CompressedPosterior) -> float:
        """Return ‖m̌ − m̂‖ in the feature space."""
        return features_loss(self.states.rows[indices], self.mean_features(posterior))

    def mean_features(self, posterior: CompressedPosterior) -> FloatArray:
        """Return Uᵀw / Σw."""
        return self.tensors.mean_features(posterior.prior, posterior.solution) / posterior.weight_sum

    def summarise(self, prior: FloatArray, solution: FloatArray, weight_sum: FloatArray) -> WeightSummary:
        """Form the weights of T posteriors block by block; keep only what summaries need.

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
        held = min(self.size, len(self.examples.objects))
        for start in range(0, held, ROWS_AT_ONCE):
            rows = slice(start, min(start + ROWS_AT_ONCE, held))
            weights = (self.states.rows[rows] @ prior) * (self.observations.rows[rows] @ solution) / weight_sum
            block = summarise_columns(weights)
            squares += block.sum_of_squares
            negative += block.negative_mass
            value = weights[block.largest, np.arange(steps)]
            best = np.where(value > largest, start + block.largest, best)
            largest = np.maximum(value, largest)
        return WeightSummary(squares / self.share, negative / self.share, best)


@dataclass(frozen=True, eq=False)
class CompressedPosterior(Posterior):
    """A posterior known by its coefficients a (p,) and z (q,): w = (U a) ∘ (V z) / Σ."""

    prior: FloatArray
    solution: FloatArray

    def weights(self) -> FloatArray:
        """Form the n weights; of a part of the examples, if only these are in memory."""
        rule = self.rule
        U, V = rule.states.rows[: rule.size], rule.observations.rows[: rule.size]
        weights = (U @ self.prior) * (V @ self.solution)
        return weights / (self.weight_sum if rule.share == 1.0 else weights.sum())

    def embedded(self) -> Prior:
        """Return signed weights on the pivots: Σ_i w_i φ(X_i) = μ is the kernel mean Σ_j (L⁻ᵀμ)_j k(·, pivot_j)."""
        features, mean = self.rule.states, self.rule.mean_features(self)
        mapped = features.map.directions
        weights = solve_lower_transposed(features.map.lower, mean) if mapped is None else mapped.T @ mean
        return Sample(take(self.support, features.pivots), weights)

    def expectation(self, function: Function) -> FloatArray | None:
        """Return the expectation of a function declared at fit."""
        return self.rule.declared.value(function, self._expectations)

    def mean(self) -> FloatArray | None:
        """Return the mean state, flattened."""
        return self.rule.declared.mean(self._expectations)

    def covariance(self) -> FloatArray | None:
        """Return the centred covariance, unless some columns are angles."""
        return self.rule.declared.covariance(self._expectations)

    def sum_of_squares(self) -> float | None:
        """Return Σ w², if its tensor was kept or the weights are quickly formed."""
        squares = self.rule.tensors.sum_of_squares(self.prior, self.solution)
        if squares is not None:
            return squares / self.weight_sum**2
        if self.rule.size * (len(self.prior) + len(self.solution)) > QUICKLY_FORMED:
            return None
        weights = self.weights()
        return float(weights @ weights)

    def summarise(self, others: Sequence[Self]) -> WeightSummary:
        """Summarise the weights of several posteriors of the same rule together."""
        return self.rule.summarise(
            np.stack([posterior.prior for posterior in others], axis=1),
            np.stack([posterior.solution for posterior in others], axis=1),
            np.array([posterior.weight_sum for posterior in others]),
        )

    @cached_property
    def _expectations(self) -> FloatArray:
        return self.rule.tensors.expectations(self.prior, self.solution) / self.weight_sum
