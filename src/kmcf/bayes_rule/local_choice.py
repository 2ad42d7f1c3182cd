"""Fitting the local engine, if it was asked for or is sure to be the cheapest."""

from __future__ import annotations

from kmcf.bayes_rule.base import Examples
from kmcf.bayes_rule.costs import (
    LARGEST_GRAM,
    cheapest,
    fewest_features,
    local_nanoseconds,
    nanoseconds_per_step,
    tolerances_for,
)
from kmcf.bayes_rule.fitted import FittedRule, RuleSettings
from kmcf.bayes_rule.local import Accuracy, LocalRule
from kmcf.bayes_rule.nearby import Nearby
from kmcf.support.alerts import HighRankWarning, warn_user

FEWEST_LOCAL = 2000
"""The local engine is chosen only from this many examples on."""


def fit_local(examples: Examples, settings: RuleSettings) -> FittedRule | None:
    """Fit the local engine; with engine="auto", only where it is sure to be the cheapest, otherwise None."""
    n, asked = examples.size, settings.engine != "auto"
    if not asked and (n < FEWEST_LOCAL or settings.rank != (None, None)):
        return None
    tolerance = None if settings.tolerance is None else settings.tolerance[0]
    observed = tolerances_for(settings, examples.state_kernel, examples.observation_kernel)[1]
    most = settings.rank[0]
    accuracy = Accuracy.of(tolerance, observed, None if most is None else int(most))
    nearby = Nearby.of(examples.state_kernel, accuracy.reach)
    near = n if nearby is None else min(n, 3 * nearby.typical() // 2)  # some more for the spread of the particles
    if not asked and not _local_is_cheapest(examples, settings, near, accuracy.most):
        return None
    rule = LocalRule.fit(
        examples,
        epsilon=settings.epsilon,
        delta=settings.delta,
        rule=settings.rule,
        resampler=settings.always_resampler or settings.resampler,
        accuracy=accuracy,
        nearby=nearby,
    )
    if near > accuracy.most:
        warn_user(
            f"about {near} examples lie near a typical state, more than the {accuracy.most} that a step of the local "
            "engine solves for: those that resemble the observation most are taken. A narrower state kernel leaves "
            "fewer, tolerance='auto' asks for fewer, and rank allows more.",
            HighRankWarning,
        )
    return FittedRule(rule, "local", (n, n), (0.0, 0.0))


def _local_is_cheapest(examples: Examples, settings: RuleSettings, near: int, most: int) -> bool:
    """Compare the local engine with what the others would take at the lowest ranks that they could have."""
    n = examples.size
    if near > min(most, n // 2):
        return False
    ranks = fewest_features(examples.state_kernel), fewest_features(examples.observation_kernel)
    work = nanoseconds_per_step(n, *ranks, settings.n_particles, near if n <= LARGEST_GRAM else n)
    return local_nanoseconds(near, settings.n_particles) < work[cheapest(n, *ranks, settings, near)]
