"""Finding oneself again: where observations contradict the prediction, the state is looked for among all examples.

Each observation says how much better a prior spread over all examples predicts it than the filter did, a log Bayes
factor (:mod:`kmcf.bayes_rule.contrast`). Their running sum, kept from falling below zero (Page's test for a change), is
the filter's doubt. Where it exceeds a limit, the observation is used once more, with a prediction a fifth of which
are draws from the example states. The paper's Algorithm 3 does nothing of this kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kmcf.bayes_rule import BayesRule, Posterior, Prior, Sample
from kmcf.numerics.objects import Objects, take
from kmcf.trust.rehearsal import Mover, random_walk

MOST = 2.0
"""One observation adds no more than this to the doubt: it takes two of them to contradict a prediction."""
LIMIT = 2.5
"""Doubt beyond this makes the filter look for the state among all examples."""
COVERED = 0.25
"""Examples can contradict a prediction only where they cover it; this much of the usual coverage is enough."""
MOVED = 200
"""The usual coverage is that of so many example states, moved once."""
SHARE = 0.2
"""So much of the prediction is then drawn from the examples."""


class Reconsidered(NamedTuple):
    """A prior and a posterior, perhaps after a look elsewhere."""

    prior: Prior
    posterior: Posterior
    told: dict[str, Any]
    """What the step reports besides."""


@dataclass(frozen=True, eq=False)
class Relocation:
    """When to look for the state elsewhere, and where."""

    states: Objects
    """The example states."""
    size: int
    """Number of particles."""
    coverage: Callable[[], float] = lambda: 1.0
    """Returns how well the examples usually cover a prediction; asked once, when it first matters."""
    most: float = MOST
    limit: float = LIMIT
    share: float = SHARE

    def reconsider(
        self,
        doubt: float,
        prior: Prior,
        posterior: Posterior,
        correct: Callable[[Prior], Posterior],
        rng: np.random.Generator,
    ) -> Reconsidered:
        """Return what was given, or what follows from a widened prior if observations contradict this one.

        Parameters
        ----------
        doubt : float
            That of the step before.
        prior : Prior
            The prediction.
        posterior : Posterior
            What the rule made of it.
        correct : callable
            Returns what the rule makes of another one.
        rng : Generator
            The step's random numbers; used only if the prior is widened.
        """
        doubt = self.doubt(doubt, posterior)
        if doubt <= self.limit:
            return Reconsidered(prior, posterior, {"doubt": doubt})
        wide = self.widened(prior, rng)
        return Reconsidered(wide, correct(wide), {"relocated": True, "evidence": posterior.evidence})

    def doubt(self, before: float, posterior: Posterior) -> float:
        """Return the doubt after one more observation; one that the examples say nothing about changes nothing."""
        contrast = posterior.contrast
        if np.isnan(contrast) or not posterior.resembled:
            return before
        if contrast < 0.0 and posterior.state_coverage < COVERED * self._usual_coverage:
            return before
        return max(0.0, before + min(-contrast, self.most))

    @cached_property
    def _usual_coverage(self) -> float:
        return self.coverage()

    def widened(self, prior: Prior, rng: np.random.Generator) -> Sample:
        """Return equally weighted states, a share of them drawn from the examples and the others from a prior.

        Examples
        --------
        >>> anywhere = Relocation(np.arange(10.0)[:, None], 4, share=0.5)
        >>> states, weights = anywhere.widened(Sample(np.full((3, 1), -1.0), np.ones(3) / 3), np.random.default_rng(0))
        >>> states[:2].ravel(), bool((states[2:] >= 0.0).all()), weights
        (array([-1., -1.]), True, array([0.25, 0.25, 0.25, 0.25]))
        """
        anywhere = round(self.share * self.size)
        likely = np.maximum(prior.weights, 0.0)  # signed weights cannot be drawn from
        kept = take(prior.states, rng.choice(len(likely), size=self.size - anywhere, p=likely / likely.sum()))
        drawn = take(self.states, rng.integers(len(self.states), size=anywhere))
        states = [*kept, *drawn] if isinstance(drawn, list) else np.concatenate([kept, drawn])
        return Sample(states, np.full(self.size, 1.0 / self.size))


def usual_coverage(rule: BayesRule, states: Objects, move: Mover, angles: Sequence[int]) -> float:
    """Return how well examples cover some of their states, moved once, or by a random walk where that takes a control.

    Parameters
    ----------
    rule : BayesRule
        Which knows what covering means.
    states : array or list
        The example states.
    move : callable
        Moves states once, without a control.
    angles : sequence of int
        State columns that are angles.
    """
    some = take(states, np.unique(np.linspace(0, len(states) - 1, MOVED).astype(np.intp)))
    rng = np.random.default_rng(0)
    try:
        moved = move(some, rng)
    except Exception:  # whatever the user's function raises without a control
        walk = random_walk(states, angles)
        moved = some if walk is None else walk(some, rng)
    return rule.state_coverage(Sample(moved, np.full(len(some), 1.0 / len(some))))
