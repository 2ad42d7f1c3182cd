"""Which engine, by a count of the work one step takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kmcf.bayes_rule.base import BayesRule
from kmcf.bayes_rule.compressed import CompressedRule
from kmcf.bayes_rule.declared import DeclaredFunctions, Function
from kmcf.bayes_rule.exact import ExactRule
from kmcf.bayes_rule.factors import features_of_rank
from kmcf.bayes_rule.literal import LiteralRule
from kmcf.bayes_rule.lowrank import LowRankRule
from kmcf.bayes_rule.reduction import reduce_observations
from kmcf.kernels.base import ExampleKernel
from kmcf.objects import Objects

ENGINES = ("auto", "literal", "exact", "lowrank", "compressed")
LARGEST_TENSOR = 64_000_000
"""The compressed engine is chosen only if p q² / 2 stays below this (512 MB)."""
LARGEST_GRAM = 5000
"""The exact engine is chosen only up to so many examples (two 200 MB matrices)."""


@dataclass(frozen=True)
class RuleSettings:
    """What a rule needs to know beside the examples."""

    engine: str
    rule: str
    epsilon: float
    delta: float
    tolerance: tuple[float, float] | None
    """For states and observations; None follows the regularisers."""
    rank: tuple[int | None, int | None]
    n_particles: int
    may_compress: bool
    """False where the filter must be able to propagate all examples with their weights."""


class FittedRule(NamedTuple):
    """A rule, the engine that computes it and how well its factors reproduce the kernel matrices."""

    rule: BayesRule
    engine: str
    ranks: tuple[int, int]
    """(p, q); n where nothing was approximated."""
    trace_errors: tuple[float, float]
    """‖G − FFᵀ‖ in the trace norm, relative to the trace of G, for states and observations."""


def fit_rule(
    states: Objects,
    state_kernel: ExampleKernel,
    observation_kernel: ExampleKernel,
    settings: RuleSettings,
    *,
    angles: Sequence[int] = (),
    functions: Sequence[Function] = (),
) -> FittedRule:
    """Fit the Bayes' rule with the engine asked for, or with the one that "auto" finds cheapest."""
    n = state_kernel.size
    both = {"epsilon": settings.epsilon, "delta": settings.delta}
    if settings.engine in ("literal", "exact"):
        dense = {"literal": LiteralRule, "exact": ExactRule}[settings.engine]
        rule = dense(state_kernel, observation_kernel, rule=settings.rule, **both)
        return FittedRule(rule, settings.engine, (n, n), (0.0, 0.0))
    tolerances = tolerances_for(settings, state_kernel, observation_kernel)
    state_features = features_of_rank(state_kernel, tolerance=tolerances[0], rank=settings.rank[0])
    observation_features = features_of_rank(
        observation_kernel, tolerance=tolerances[1], rank=settings.rank[1], targets=state_features.rows
    )
    if settings.tolerance is None and settings.rule == "kbr" and settings.rank[1] is None:
        observation_features = reduce_observations(state_features, observation_features, **both)
    ranks = state_features.rank, observation_features.rank
    engine = cheapest(n, *ranks, settings) if settings.engine == "auto" else settings.engine
    if engine == "exact":
        exact = ExactRule(state_kernel, observation_kernel, rule=settings.rule, **both)
        return FittedRule(exact, engine, (n, n), (0.0, 0.0))
    fitted: BayesRule
    if engine == "lowrank":
        fitted = LowRankRule(state_features, observation_features, state_kernel, rule=settings.rule, **both)
    else:
        declared = DeclaredFunctions(states, angles, functions)
        values = declared.values(states)
        fitted = CompressedRule(
            state_features, observation_features, state_kernel, declared=declared, values=values, **both
        )
    traces = float(state_kernel.diagonal().sum()), float(observation_kernel.diagonal().sum())
    errors = state_features.trace_error, observation_features.trace_error
    return FittedRule(fitted, engine, ranks, (errors[0] / (traces[0] or 1.0), errors[1] / (traces[1] or 1.0)))


def tolerances_for(
    settings: RuleSettings, state_kernel: ExampleKernel, observation_kernel: ExampleKernel
) -> tuple[float, float]:
    """Return the tolerances for states and observations.

    Following the regularisers: directions of G_X that the factor misses have eigenvalues of at most n times the
    residual and drown in nε; likewise those of C in √δ (rule "kbr") or δ ("importance"). The factors were found by
    experiment (``docs/engines.md``): posterior means move by less than 1 % of the posterior standard deviation.
    """
    if settings.tolerance is not None:
        return settings.tolerance
    largest = [max(float(kernel.diagonal().max()), 1e-300) for kernel in (state_kernel, observation_kernel)]
    scale = settings.delta**0.5 if settings.rule == "kbr" else settings.delta
    return 0.5 * settings.epsilon / largest[0], 0.05 * scale / largest[1]


def cheapest(n: int, p: int, q: int, settings: RuleSettings) -> str:
    """Name the engine with the least work per step.

    Examples
    --------
    >>> settings = RuleSettings("auto", "kbr", 1e-3, 1e-4, (1e-8, 1e-8), (None, None), 1000, True)
    >>> cheapest(1000, 40, 40, settings), cheapest(150, 150, 150, settings)
    ('compressed', 'exact')
    """
    work = nanoseconds_per_step(n, p, q, settings.n_particles)
    allowed = ["lowrank"]
    if settings.rank == (None, None) and n <= LARGEST_GRAM:
        allowed.append("exact")
    if settings.rule == "kbr" and settings.may_compress and p * q * q / 2 <= LARGEST_TENSOR:
        allowed.append("compressed")
    return min(allowed, key=lambda engine: work[engine])


def nanoseconds_per_step(n: int, p: int, q: int, m: int) -> dict[str, float]:
    """Estimate the time of one step with n examples, p and q features and m particles on one core of a usual machine.

    3 ns per kernel value, 0.5 ns per number streamed through memory, 0.025 ns per operation of a matrix product.
    """
    kernel, streamed, product = 3.0, 0.5, 0.025
    solve = product * q**3 * 4.0 / 3.0
    return {
        "exact": kernel * n * (m + 1) + streamed * n * (n + 3 * q) + product * n * q * q + solve,
        "lowrank": kernel * (m * p + q) + streamed * n * (2 * p + 4 * q) + product * n * q * q + solve,
        "compressed": kernel * (m * p + q) + streamed * (p * q * q + p * p * q) / 2 + solve,
    }
