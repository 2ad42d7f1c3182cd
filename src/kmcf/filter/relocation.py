"""Finding oneself again: where observations contradict the prediction, the state is looked for among all examples.

Each observation says how much better a prior spread over all examples predicts it than the filter did, a log Bayes
factor (:mod:`kmcf.bayes_rule.contrast`). Their running sum, kept from falling below zero (Page's test for a change), is
the filter's doubt. Where it exceeds a limit, the observation is used once more, with a prediction a fifth of which
are draws from the example states that explain it, as in sensor resetting (Lenser and Veloso, 2000). The paper's
Algorithm 3 does nothing of this kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kmcf.bayes_rule import BayesRule, Posterior, Prior, Sample
from kmcf.kernels.placed import PlacingKernel
from kmcf.numerics.objects import Objects, evenly_spaced, take
from kmcf.trust.rehearsal import Mover, random_walk

MOST = 2.0
"""One observation adds no more than this to the doubt: it takes two of them to contradict a prediction."""
LIMIT = 3.9
"""Doubt beyond this makes the filter look for the state among all examples. On the paper's models with 200 examples,
one or two steps in a thousand then do so in vain, too few to matter; with 2.5 it was up to eight, and errors on model
2b grew by 1.5 %."""
COVERED = 0.25
"""Examples can contradict a prediction only where they cover it; this much of the usual coverage is enough. Beyond
them, and in gaps between them, an observation may be like any other."""
LINGERING = 0.5
"""Where examples do not cover a prediction, nothing calms a doubt that half reaches the limit; it grows by this."""
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
        rule: BayesRule,
        observation: Objects,
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
        rule : BayesRule
            The rule.
        observation : collection of length 1
            The observation.
        rng : Generator
            The step's random numbers; used only if the prior is widened.
        """
        doubt = self.doubt(doubt, posterior)
        if doubt <= self.limit:
            return Reconsidered(prior, posterior, {"doubt": doubt})
        wide = self.widened(prior, rule.suggested(observation), rng)
        found = rule.correct(wide, observation)
        if not found.usable:
            return Reconsidered(prior, posterior, {"doubt": doubt})
        return Reconsidered(wide, found, {"relocated": True, "evidence": posterior.evidence})

    def doubt(self, before: float, posterior: Posterior) -> float:
        """Return the doubt after one more observation; one that the examples say nothing about changes nothing.

        A doubt that half reaches the limit began where examples are. Where there are none, the rule's guess of how
        probable observations are neither excuses nor calms it.
        """
        contrast = posterior.contrast
        if np.isnan(contrast) or not posterior.resembled:
            return before
        added = min(-contrast, self.most)
        if self._uncovered(posterior.state_coverage):
            return before if before <= 0.5 * self.limit else before + max(added, LINGERING)
        return max(0.0, before + added)

    def _uncovered(self, coverage: float) -> bool:
        # What is usual is at most one, and costs a move of the user's transition: it is asked for where it matters.
        return coverage < COVERED and coverage < COVERED * self._usual_coverage

    @cached_property
    def _usual_coverage(self) -> float:
        return self.coverage()

    def widened(self, prior: Prior, suggested: Prior | None, rng: np.random.Generator) -> Sample:
        """Return equally weighted states, a share of them drawn from the examples and the others from a prior.

        Parameters
        ----------
        prior : Prior
            The prediction.
        suggested : Prior, optional
            The examples, weighted by the observation. None: all alike.
        rng : Generator
            Random numbers.

        Examples
        --------
        >>> anywhere = Relocation(np.arange(10.0)[:, None], 4, share=0.5)
        >>> here = Sample(np.full((3, 1), -1.0), np.ones(3) / 3)
        >>> states, weights = anywhere.widened(here, None, np.random.default_rng(0))
        >>> states[:2].ravel(), bool((states[2:] >= 0.0).all()), weights
        (array([-1., -1.]), True, array([0.25, 0.25, 0.25, 0.25]))
        """
        anywhere = round(self.share * self.size)
        likely = np.maximum(prior.weights, 0.0)  # signed weights cannot be drawn from
        kept = take(prior.states, rng.choice(len(likely), size=self.size - anywhere, p=likely / likely.sum()))
        if suggested is None:
            drawn = take(self.states, rng.integers(len(self.states), size=anywhere))
        else:
            drawn = take(suggested.states, rng.choice(len(suggested.weights), size=anywhere, p=suggested.weights))
        states = [*kept, *drawn] if isinstance(drawn, list) else np.concatenate([kept, drawn])
        return Sample(states, np.full(self.size, 1.0 / self.size))


def obstacle(flt: Any) -> str:
    """Say why a fitted filter cannot look for the state elsewhere, or need not; nothing where it can.

    Parameters
    ----------
    flt : RuleFilter
        The filter.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> obstacle(SimpleNamespace(relocate=None, sensors_=None, engine_="local"))
    'the local engine sees only the examples near the prediction'
    """
    if getattr(flt, "_precision", None) is not None:
        return "compiled code does not"
    parts = [flt] if flt.sensors_ is None else flt.sensors_.values()
    for part in parts:
        if part.engine_ in OBSTACLES:
            return OBSTACLES[part.engine_]
        if flt.relocate is None and isinstance(part.observation_kernel, PlacingKernel):
            return f"{type(part.observation_kernel).__name__} looks for other poses itself"
    return ""


def in_words(flt: Any) -> str:
    """Say in one line whether a fitted filter looks for the state elsewhere."""
    if flt.relocating_:
        return "where observations contradict the prediction, it looks for the state among all examples"
    why = "relocate=False" if flt.relocate is False else obstacle(flt)
    return f"it does not look for the state elsewhere where observations contradict the prediction: {why}"


OBSTACLES = {
    "literal": "the literal engine is the paper's algorithm, which trusts its prediction",
    "local": "the local engine sees only the examples near the prediction",
}
"""Why some engines do not look elsewhere."""


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
    some = take(states, evenly_spaced(len(states), MOVED))
    rng = np.random.default_rng(0)
    try:
        moved = move(some, rng)
    except Exception:  # whatever the user's function raises without a control
        walk = random_walk(states, angles)
        moved = some if walk is None else walk(some, rng)
    return rule.state_coverage(Sample(moved, np.full(len(some), 1.0 / len(some))))
