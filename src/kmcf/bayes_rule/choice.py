"""Fitting a rule, with the engine asked for or the one whose steps take the least work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmcf.bayes_rule.accuracy import choose_features, most_pivots, tight_if_cheap
from kmcf.bayes_rule.base import BayesRule, Examples
from kmcf.bayes_rule.compressed import CompressedRule
from kmcf.bayes_rule.costs import (
    LARGEST_GRAM,
    LARGEST_TENSOR,
    cheapest,
    nanoseconds_per_step,
    neighbours,
)
from kmcf.bayes_rule.declared import DeclaredFunctions, Function
from kmcf.bayes_rule.exact import ExactRule
from kmcf.bayes_rule.factors import KernelFeatures, features_of_rank
from kmcf.bayes_rule.fitted import Decision, FittedRule, ParticleSettings, RuleSettings
from kmcf.bayes_rule.literal import LiteralRule
from kmcf.bayes_rule.literal_lowrank import LiteralLowRankRule
from kmcf.bayes_rule.local_choice import fit_local
from kmcf.bayes_rule.lowrank import LowRankRule
from kmcf.bayes_rule.particles import ParticleRule
from kmcf.bayes_rule.placed_particles import PlacedParticleRule
from kmcf.kernels import ExampleKernel
from kmcf.kernels.placed import PlacingKernel, refuse_combined
from kmcf.support.alerts import HighRankWarning, warn_user

ENGINES = ("auto", "literal", "exact", "lowrank", "compressed", "local")
SLOW_MILLISECONDS = 30.0
NEGLIGIBLE_PRIOR = 1e-6
"""With tolerance="auto" the exact engine leaves out examples with less prior weight, relative to the largest."""


def fit_rule(
    examples: Examples, settings: RuleSettings, *, angles: Sequence[int] = (), functions: Sequence[Function] = ()
) -> FittedRule:
    """Fit the Bayes' rule with the engine asked for, or with the cheapest one ("auto").

    Parameters
    ----------
    examples : Examples
        The example states, and both kernels on the examples.
    settings : RuleSettings
        The engine, the rule, its regularisers and accuracy.
    angles : sequence of int
        State columns that are angles.
    functions : sequence of callables
        Functions whose expectations the compressed engine should compute without forming the weights.
    """
    n = examples.size
    _check_diagonals(examples)
    common: dict[str, Any] = {"epsilon": settings.epsilon, "delta": settings.delta}
    dense = {**common, "rule": settings.rule, "resampler": settings.resampler}
    if settings.engine == "literal" and settings.rank != (None, None):
        printed = LiteralLowRankRule.of_rank(examples, settings.rank, **dense)
        return FittedRule(printed, "literal", printed.ranks, printed.trace_errors())
    if settings.engine == "literal":
        return FittedRule(LiteralRule.fit(examples, **dense), "literal", (n, n), (0.0, 0.0))
    if settings.engine == "exact":
        return FittedRule(ExactRule.fit(examples, **dense), "exact", (n, n), (0.0, 0.0))
    known = tight_if_cheap(examples, settings) if settings.tight_if_cheap else None
    local = fit_local(examples, settings) if known is None and settings.engine in ("auto", "local") else None
    if local is not None:
        return local
    states, observations, used, change = known or choose_features(examples, settings, angles)
    ranks = states.rank, observations.rank
    negligible = NEGLIGIBLE_PRIOR if used.tolerance is None else used.tolerance[0]
    near = neighbours(examples.state_kernel, negligible) if n <= LARGEST_GRAM else n
    work = nanoseconds_per_step(n, *ranks, settings.n_particles, near)
    engine = cheapest(n, *ranks, settings, near) if settings.engine == "auto" else settings.engine
    if settings.engine == "auto":
        _warn_slow(work[engine] / 1e6, ranks, used)
    why = Decision(work, used.tolerance, settings.tight_if_cheap, *(change or (None, None)))
    if engine == "exact":
        exact = ExactRule.fit(examples, negligible=negligible, **dense)
        return FittedRule(exact, engine, (n, n), (0.0, 0.0), why)
    fitted: BayesRule
    if engine == "lowrank":
        fitted = LowRankRule.fit(examples, states, observations, **dense)
    else:
        _check_tensor(*ranks)
        declared = DeclaredFunctions(examples.states, angles, functions)
        always = settings.always_resampler or settings.resampler
        fitted = CompressedRule.fit(examples, states, observations, declared=declared, resampler=always, **common)
    errors = _relative(states, examples.state_kernel), _relative(observations, examples.observation_kernel)
    return FittedRule(fitted, engine, ranks, errors, why)


def _relative(features: KernelFeatures, kernel: ExampleKernel) -> float:
    """Return the trace-norm error of some features relative to the trace of the kernel matrix."""
    return features.trace_error / (float(kernel.diagonal().sum()) or 1.0)


def _warn_slow(milliseconds: float, ranks: tuple[int, int], settings: RuleSettings) -> None:
    if settings.tolerance is not None and milliseconds > SLOW_MILLISECONDS:
        warn_user(
            f"at this tolerance the kernel matrices have ranks {ranks}, and a step will take about "
            f"{milliseconds:.0f} ms; tolerance='auto' is far faster and changes posterior means by about 1 % of the "
            "posterior's spread.",
            HighRankWarning,
        )


def fit_particle_rule(examples: Examples, settings: ParticleSettings) -> FittedRule:
    """Fit the rule whose posterior lives on the particles; with a finite δ it uses low-rank observation features.

    Parameters
    ----------
    examples : Examples
        The example states, and both kernels on the examples.
    settings : ParticleSettings
        The regulariser, the accuracy of the features, the background.
    """
    _check_diagonals(examples)
    n = examples.size
    common: dict[str, Any] = {
        "delta": settings.delta,
        "resampler": settings.resampler,
        "background": settings.background,
        "sharpness": settings.sharpness,
        "states": examples.states,
    }
    placing = examples.observation_kernel.kernel
    if isinstance(placing, PlacingKernel):
        placed = placing.placed(np.asarray(examples.states), examples.observation_kernel.prepared)
        own = PlacedParticleRule(examples.state_kernel, examples.observation_kernel, placed=placed, **common)
        return FittedRule(own, "exact", (n, n), (0.0, 0.0))
    refuse_combined(placing)
    if np.isinf(settings.delta):
        plain = ParticleRule(examples.state_kernel, examples.observation_kernel, **common)
        return FittedRule(plain, "exact", (n, n), (0.0, 0.0))
    features = features_of_rank(
        examples.observation_kernel, tolerance=settings.tolerance, rank=settings.rank, most=most_pivots(n)
    )
    error = _relative(features, examples.observation_kernel)
    rule = ParticleRule(examples.state_kernel, features, **common)
    return FittedRule(rule, "lowrank", (n, features.rank), (0.0, error))


def _check_diagonals(examples: Examples) -> None:
    for name, kernel in (("state", examples.state_kernel), ("observation", examples.observation_kernel)):
        diagonal = kernel.diagonal()
        if not np.isfinite(diagonal).all():
            raise ValueError(f"the {name} kernel returned NaN or infinity for some examples with themselves.")
        if diagonal.min() < 0 or diagonal.max() <= 0:
            raise ValueError(
                f"the {name} kernel is not positive definite: it gives examples a similarity of {diagonal.min():.3g} "
                f"to {diagonal.max():.3g} with themselves. A kernel is a similarity, largest for equal objects, not a "
                "distance."
            )


def _check_tensor(p: int, q: int) -> None:
    numbers = p * q * q // 2
    if numbers > 4 * LARGEST_TENSOR:
        raise ValueError(
            f"engine='compressed' would need {8 * numbers / 2**30:.0f} GiB for {p} state and {q} observation features; "
            "use tolerance='auto', a smaller rank or engine='auto'."
        )
