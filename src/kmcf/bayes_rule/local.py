"""Kernel Bayes' Rule among the examples near the prior: a step's cost does not depend on n or the size of the world.

A state kernel that vanishes with distance gives examples far from every particle no prior weight: m_π is negligible
there, and so is λ = (G_X + nεI)⁻¹ m_π, because G_X couples only neighbours. Algorithm 1 is therefore solved for the m
examples near the particles, which a spatial index finds, with kernel matrices m × m. n in nε stays the number of all
examples. The posterior lives on these m examples.

Where more examples are near than a step should solve for (a prior spread over the world, or very many examples), the
observation chooses: those with the largest m_π(X_i) k_Y(Y_i, y) are kept, and their λ is scaled to sum to one. Examples
that resemble neither the observation nor those that do, get next to no weight anyway. Particles all over the world that
lie further apart than the state kernel is wide do not represent a density at its resolution; in such a step they see it
widened to their spacing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from kmcf.bayes_rule.base import (
    UNKNOWN_EVIDENCE,
    DensePosterior,
    ExampleRule,
    Examples,
    Posterior,
    Prior,
    Resampler,
    coverage,
)
from kmcf.bayes_rule.base import mean_coverage as average
from kmcf.bayes_rule.evidence import Evidence
from kmcf.bayes_rule.exact import ExactRule
from kmcf.bayes_rule.gram import Formula
from kmcf.bayes_rule.local_evidence import sample_of, sampled_evidence, solved_evidence
from kmcf.bayes_rule.nearby import Nearby, spacing
from kmcf.herding.herding import Herding, herd, resampling_loss
from kmcf.kernels import ExampleKernel
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.linalg import cholesky, pivoted_factor
from kmcf.numerics.objects import Objects, take

MOST, MOST_IN_TIME = 2000, 600
"""A step solves for at most so many examples; with tolerance="auto", which is to be fast, for the second number."""
GATE = 2
"""Where there are more than this many times as many near, similarity to the observation alone makes the first cut."""


class Selection(NamedTuple):
    """The examples that a step solves for."""

    indices: IntArray
    mean: FloatArray
    """m_π at these examples."""
    similarity: FloatArray
    """k_Y with the observation."""
    everything: bool
    """Whether all examples near the prior are among them."""
    observation_coverage: float
    state_coverage: float
    near: Near | None = None
    """A sample of all examples near the prior, where the observation chose among them."""


class Near(NamedTuple):
    """A sample of the examples near the prior."""

    indices: IntArray
    mean: FloatArray
    """m_π at these examples."""
    similarity: FloatArray
    """k_Y with the observation."""
    total: int
    """How many are near."""


@dataclass(frozen=True)
class Accuracy:
    """How local a step is."""

    reach: float
    """Examples with a smaller m_π, relative to the largest, are left out before λ is solved for."""
    negligible: float
    """Those with a smaller absolute λ, relative to the largest, before the weights are."""
    observations: float
    """Relative residual at which the factor of the local G_Y stops."""
    most: int
    """Largest number of examples that a step solves for."""

    @classmethod
    def of(cls, tolerance: float | None, observations: float, most: int | None) -> Self:
        """Follow the tolerance for states; None is quick, and moves posterior means by about 1 % of their spread.

        λ reaches further than m_π: what is cut off at a share s of m_π has shares of λ of up to about s^(2/3).
        """
        if tolerance is None:
            return cls(1e-3, 1e-3, observations, most or MOST_IN_TIME)
        return cls(max(tolerance**1.5, 1e-14), tolerance, observations, most or MOST)


@dataclass(frozen=True, eq=False)
class LocalPosterior(DensePosterior):
    """A posterior on some of the examples."""

    indices: IntArray
    """Which examples carry the weights."""


@dataclass(frozen=True, eq=False)
class LocalRule(ExampleRule):
    """The local engine, for both rules."""

    examples: Examples
    resampler: Resampler
    nearby: Nearby
    epsilon: float
    delta: float
    formula: Formula
    accuracy: Accuracy
    largest: tuple[float, float]
    """Largest diagonal entries of G_X and G_Y."""

    @classmethod
    def fit(
        cls,
        examples: Examples,
        *,
        epsilon: float,
        delta: float,
        rule: str,
        resampler: Resampler,
        accuracy: Accuracy,
        nearby: Nearby | None = None,
    ) -> Self:
        """Build the spatial index.

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
        accuracy : Accuracy
            What may be left out.
        nearby : Nearby, optional
            The index, if it was built before.
        """
        nearby = Nearby.of(examples.state_kernel, accuracy.reach) if nearby is None else nearby
        if nearby is None:
            raise ValueError(
                f"engine='local' looks for the examples near the particles, but the state kernel "
                f"{examples.state_kernel.kernel!r} does not fall off with a distance. Use Gaussian, Laplace, Matern or "
                "Pose, on some of the columns or times another kernel if need be, or another engine."
            )
        formula = ExactRule.formulas[rule]
        return cls(examples, resampler, nearby, epsilon, delta, formula, accuracy, examples.largest)

    @property
    def size(self) -> int:
        """Number of examples, n."""
        return self.examples.size

    @property
    def kept(self) -> int:  # type: ignore[override]
        """A posterior has its own copy of the states that carry it."""
        return self.accuracy.most * (1 + self.nearby.tree.m)

    def regularised(self, epsilon: float, delta: float) -> Self:
        """Return the same rule with other regularisers."""
        return replace(self, epsilon=epsilon, delta=delta)

    def correct(self, prior: Prior, observation: Objects) -> Posterior:
        """Apply Algorithm 1 to the examples near the particles."""
        chosen = self._chosen(prior, observation)
        coefficients = self._prior(chosen)
        sizes = np.abs(coefficients)
        active = np.flatnonzero(sizes > self.accuracy.negligible * sizes.max(initial=0.0))
        indices, k_y = chosen.indices[active], chosen.similarity[active]
        weights, evidence = np.zeros(0), UNKNOWN_EVIDENCE
        if len(indices):
            gram = self.examples.observation_kernel.subset(indices).matrix()
            weights = self.formula(
                coefficients[active], pivoted_factor(gram, self.accuracy.observations), k_y, self.delta
            )
            evidence = self._evidence(chosen, (coefficients[active], k_y, gram), observation)
        return LocalPosterior(
            rule=self,
            support=take(self.examples.states, indices),
            weight_sum=float(weights.sum()),
            observation_coverage=chosen.observation_coverage,
            state_coverage=chosen.state_coverage,
            unnormalised=weights,
            indices=indices,
            evidence=evidence,
        )

    @cached_property
    def _some(self) -> ExampleKernel:
        """The observations of a few examples, which stand for all."""
        return self.examples.observation_kernel.subset(sample_of(self.size))

    def _evidence(
        self, chosen: Selection, solved: tuple[FloatArray, FloatArray, FloatArray], observation: Objects
    ) -> Evidence:
        """Say how well the prior predicted the observation."""
        spread = float(self._some.against(observation).mean())
        if chosen.near is None:
            return solved_evidence(*solved, spread)
        near, kernel = chosen.near, self.examples.observation_kernel
        gram = kernel.subset(near.indices).matrix()
        left = ~np.isin(near.indices, chosen.indices)
        rest = (near.total - len(chosen.indices)) / max(int(left.sum()), 1) * (near.mean * near.similarity)[left].sum()
        favoured = float(chosen.mean @ chosen.similarity + rest)
        return sampled_evidence(favoured, near.mean, near.total, gram, spread)

    def _chosen(self, prior: Prior, observation: Objects) -> Selection:
        """Find the examples near the particles; if they are too many, those among them that the observation favours."""
        states, most = self.examples.state_kernel, self.accuracy.most
        near = self.nearby.around(prior.states)
        k_y = self._similarities(near, observation)
        covered = coverage(float(k_y.max(initial=0.0)), self.largest[1])
        crowded, everywhere = len(near) > GATE * most, 2 * len(near) > self.size
        everyone = near, k_y
        if crowded:
            alike = _top(k_y, GATE * most)
            near, k_y = near[alike], k_y[alike]
        if not len(near):
            return Selection(near, np.zeros(0), k_y, True, covered, 0.0)
        similarities = states.subset(near).against(prior.states)
        state_coverage = average(similarities, prior.weights, self.largest[0])
        width = spacing(self.nearby.places(prior.states)) if crowded and everywhere else 1.0
        if width > 1.0:  # k^(1/s²) is a Gaussian kernel widened by s
            similarities = np.exp(states.subset(near).log_against(prior.states) / width**2)
        mean = similarities @ prior.weights  # Algorithm 3, line 13
        kept = np.flatnonzero(np.abs(mean) > self.accuracy.reach * np.abs(mean).max())
        if len(kept) > most:
            kept, crowded = kept[_top(np.abs(mean[kept]) * k_y[kept], most)], True
        sampled = self._sampled(*everyone, prior, width) if crowded else None
        return Selection(near[kept], mean[kept], k_y[kept], not crowded, covered, state_coverage, sampled)

    def _similarities(self, near: IntArray, observation: Objects) -> FloatArray:
        """Compare an observation with some examples; with all of them where picking these would cost more."""
        kernel = self.examples.observation_kernel
        if 2 * len(near) > self.size:
            return kernel.against(observation)[near, 0]
        return kernel.subset(near).against(observation)[:, 0]

    def _sampled(self, near: IntArray, k_y: FloatArray, prior: Prior, width: float) -> Near:
        """Take a sample of the examples near the prior."""
        places = sample_of(len(near))
        some = near[places]
        logs = self.examples.state_kernel.subset(some).log_against(prior.states)
        return Near(some, np.exp(logs / max(width, 1.0) ** 2) @ prior.weights, k_y[places], len(near))

    def _prior(self, chosen: Selection) -> FloatArray:
        """Return the diagonal of Λ (Algorithm 1, line 3)."""
        gram = self.examples.state_kernel.subset(chosen.indices).matrix()
        factor = cholesky(gram, shift=self.size * self.epsilon, name="G_X + n epsilon I", remedy="epsilon")
        coefficients = factor.solve(chosen.mean)
        total = float(coefficients.sum())
        return coefficients if chosen.everything or total <= 0.0 else coefficients / total

    def state_coverage(self, prior: Prior) -> float:
        """Average the particles' similarities to their closest example states."""
        near = self.nearby.around(prior.states)
        if not len(near):
            return 0.0
        similarities = self.examples.state_kernel.subset(near).against(prior.states)
        return average(similarities, prior.weights, self.largest[0])

    def herd(self, posterior: LocalPosterior, size: int) -> Herding:
        """Apply Algorithm 2 with the examples that carry the posterior as candidates."""
        weights, gram = posterior.weights(), self._gram(posterior)
        mean_values = gram @ weights
        return herd(mean_values, gram, min(size, self.size), float(weights @ mean_values))

    def resampling_loss(self, indices: IntArray, posterior: LocalPosterior) -> float:
        """Return ‖m̌ − m̂‖ from the kernel matrix."""
        return resampling_loss(indices, posterior.weights(), self._gram(posterior))

    def _gram(self, posterior: LocalPosterior) -> FloatArray:
        """Compute the kernel matrix again: beliefs that are kept would each hold one otherwise."""
        return self.examples.state_kernel.subset(posterior.indices).matrix()


def _top(values: FloatArray, count: int) -> IntArray:
    """Return the indices of the largest values, in their order."""
    return np.sort(np.argpartition(values, len(values) - count)[len(values) - count :])
