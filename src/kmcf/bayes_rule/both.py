"""A Bayes' rule with two supports: the examples, and the particles where the examples say too little.

Where the posterior on the examples rests on a handful of them (its effective sample size is below ``LEAST_ESS``), or
its weights cancel, the state is probably at the edge of what the examples cover or beyond it. The posterior on the
particles, which may be anywhere, is taken there instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from kmcf.bayes_rule.base import LEAST_WEIGHT_SUM, BayesRule, Posterior, Prior, Resampler, Sample
from kmcf.bayes_rule.particles import ParticleRule
from kmcf.numerics.objects import Objects

LEAST_ESS = 8.0
"""Chosen among 3, 8 and 15 by errors on the paper's models and the Bluetooth tracks, where 15 was worse."""


@dataclass(frozen=True, eq=False)
class EitherRule(BayesRule):
    """The rule on examples, and the rule on particles as a fallback."""

    examples: BayesRule
    particles: ParticleRule
    by_embedding: ClassVar[bool] = False  # type: ignore[misc]

    @property
    def resampler(self) -> Resampler:  # type: ignore[override]
        """That of the rule on examples; each posterior uses its own rule's."""
        return self.examples.resampler

    @property
    def size(self) -> int:
        """Number of examples, n."""
        return self.particles.size

    def correct(self, prior: Prior, observation: Objects) -> Posterior:
        """Return the posterior on the examples if enough of them carry it, otherwise that on the particles."""
        posterior = self.examples.correct(prior, observation)
        if not np.isfinite(posterior.weight_sum) or not posterior.resembled:
            return posterior  # a broken kernel, or an observation that neither can use
        if posterior.weight_sum > LEAST_WEIGHT_SUM and effective_size(posterior) >= LEAST_ESS:
            return posterior
        return self.particles.correct(truncated(prior), observation)

    def suggested(self, observation: Objects) -> Prior | None:
        """Return what the rule on examples makes of one observation alone."""
        return self.examples.suggested(observation)

    def state_coverage(self, prior: Prior) -> float:
        """Return that of the rule on examples, whose kernel is the one the user knows."""
        return self.examples.state_coverage(prior)

    def regularised(self, epsilon: float, delta: float) -> Self | None:
        """Return the same with other regularisers on the examples; the rule on particles keeps its own."""
        regularised = self.examples.regularised(epsilon, delta)
        return None if regularised is None else replace(self, examples=regularised)


def truncated(prior: Prior) -> Prior:
    """Return a prior without negative weights, which mean nothing to a particle.

    Examples
    --------
    >>> truncated(Sample(np.array([[0.0], [1.0]]), np.array([1.5, -0.5]))).weights
    array([1., 0.])
    """
    if not np.any(prior.weights < 0.0):
        return prior
    positive = np.maximum(prior.weights, 0.0)
    return Sample(prior.states, positive / positive.sum())


def effective_size(posterior: Posterior) -> float:
    """Return the effective sample size 1 / Σw² of normalised weights, without forming them where that is possible."""
    squares = posterior.sum_of_squares()
    return 1.0 / float(np.sum(posterior.weights() ** 2) if squares is None else squares)
