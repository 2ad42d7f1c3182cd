"""Fitting a rule, with the engine asked for or the one whose steps take the least work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kmcf.bayes_rule.base import BayesRule, Examples, Resampler
from kmcf.bayes_rule.compressed import CompressedRule
from kmcf.bayes_rule.declared import DeclaredFunctions, Function
from kmcf.bayes_rule.exact import ExactRule
from kmcf.bayes_rule.factors import KernelFeatures, features_of_rank
from kmcf.bayes_rule.literal import LiteralRule
from kmcf.bayes_rule.literal_lowrank import LiteralLowRankRule
from kmcf.bayes_rule.lowrank import LowRankRule
from kmcf.bayes_rule.particles import ParticleRule
from kmcf.bayes_rule.reduction import reduce_observations
from kmcf.kernels import ExampleKernel
from kmcf.support.alerts import HighRankWarning, warn_user

ENGINES = ("auto", "literal", "exact", "lowrank", "compressed")
LARGEST_TENSOR = 64_000_000
"""The compressed engine is chosen only if p q² / 2 stays below this (512 MB)."""
SLOW_MILLISECONDS = 30.0
NEGLIGIBLE_PRIOR = 1e-6
"""With tolerance="auto" the exact engine leaves out examples with less prior weight, relative to the largest."""
SAMPLED = 100
LARGEST_GRAM = 5000
"""The exact engine is chosen only up to this many examples (two 200 MB matrices)."""
MOST_PIVOTS, FEWEST_PIVOTS, LARGEST_FACTOR = 1000, 50, 200_000_000
"""Beyond that, the number of pivots is limited, so that a factor takes at most 1.6 GB."""


@dataclass(frozen=True)
class RuleSettings:
    """What a rule on examples needs to know besides the examples."""

    engine: str
    rule: str
    epsilon: float
    delta: float
    tolerance: tuple[float, float] | None
    """For states and observations; None follows the regularisers."""
    rank: tuple[int | float | None, int | float | None]
    n_particles: int
    resampler: Resampler
    always_resampler: Resampler | None
    """For the compressed engine, which must resample at every step; None if that engine cannot be used."""


@dataclass(frozen=True)
class ParticleSettings:
    """What the rule on particles needs to know besides the examples."""

    delta: float
    tolerance: float
    rank: int | float | None
    resampler: Resampler
    background: float = 0.0
    """φ."""
    sharpness: float = 1.0
    """The power of the state kernel."""


class FittedRule(NamedTuple):
    """A rule, the engine that computes it and how well its factors reproduce the kernel matrices."""

    rule: BayesRule
    engine: str
    ranks: tuple[int, int]
    """(p, q); n where nothing was approximated."""
    trace_errors: tuple[float, float]
    """‖G − FFᵀ‖ in the trace norm, relative to the trace of G, for states and observations."""


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
    states, observations = _features(examples, settings)
    ranks = states.rank, observations.rank
    negligible = NEGLIGIBLE_PRIOR if settings.tolerance is None else settings.tolerance[0]
    engine = settings.engine
    if engine == "auto":
        near = neighbours(examples.state_kernel, negligible) if n <= LARGEST_GRAM else n
        engine = cheapest(n, *ranks, settings, near)
        _warn_slow(nanoseconds_per_step(n, *ranks, settings.n_particles, near)[engine] / 1e6, ranks, settings)
    if engine == "exact":
        return FittedRule(ExactRule.fit(examples, negligible=negligible, **dense), engine, (n, n), (0.0, 0.0))
    fitted: BayesRule
    if engine == "lowrank":
        fitted = LowRankRule.fit(examples, states, observations, **dense)
    else:
        _check_tensor(*ranks)
        declared = DeclaredFunctions(examples.states, angles, functions)
        always = settings.always_resampler or settings.resampler
        fitted = CompressedRule.fit(examples, states, observations, declared=declared, resampler=always, **common)
    errors = _relative(states, examples.state_kernel), _relative(observations, examples.observation_kernel)
    return FittedRule(fitted, engine, ranks, errors)


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
    }
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


def _features(examples: Examples, settings: RuleSettings) -> tuple[KernelFeatures, KernelFeatures]:
    """Return the features of states and observations that the settings ask for and memory allows."""
    _, state_kernel, observation_kernel = examples
    tolerances = tolerances_for(settings, state_kernel, observation_kernel)
    most = most_pivots(state_kernel.size)
    states = features_of_rank(state_kernel, tolerance=tolerances[0], rank=settings.rank[0], most=most)
    observations = features_of_rank(
        observation_kernel, tolerance=tolerances[1], rank=settings.rank[1], targets=states.rows, most=most
    )
    limited = most < state_kernel.size
    capped = [
        limited and settings.rank[k] is None and found.rank == most for k, found in enumerate((states, observations))
    ]
    if any(capped):
        which = {(True, False): "states", (False, True): "observations"}.get(
            (capped[0], capped[1]), "states and observations"
        )
        warn_user(
            f"the kernel matrix of the {which} needs more than {most} features at this tolerance, which is too many "
            f"for {state_kernel.size} examples; it was approximated more coarsely (see trace_errors_). Wider or learnt "
            "kernels have lower rank; or set rank, or keep fewer examples with n_examples.",
            HighRankWarning,
        )
    if (settings.tolerance is None or capped[1]) and settings.rule == "kbr" and settings.rank[1] is None:
        observations = reduce_observations(states, observations, epsilon=settings.epsilon, delta=settings.delta)
    return states, observations


def most_pivots(n: int) -> int:
    """Return the largest number of pivots for n examples: all while exact solutions are feasible, then by memory.

    Examples
    --------
    >>> most_pivots(3000), most_pivots(100_000), most_pivots(1_000_000)
    (3000, 1000, 200)
    """
    if n <= LARGEST_GRAM:
        return n
    return min(MOST_PIVOTS, max(FEWEST_PIVOTS, LARGEST_FACTOR // n))


def _check_tensor(p: int, q: int) -> None:
    numbers = p * q * q // 2
    if numbers > 4 * LARGEST_TENSOR:
        raise ValueError(
            f"engine='compressed' would need {8 * numbers / 2**30:.0f} GiB for {p} state and {q} observation features; "
            "use tolerance='auto', a smaller rank or engine='auto'."
        )


def tolerances_for(
    settings: RuleSettings, state_kernel: ExampleKernel, observation_kernel: ExampleKernel
) -> tuple[float, float]:
    """Return the tolerances for states and observations.

    Where the user sets none, they follow the regularisers: directions of G_X that the factor misses have eigenvalues
    of at most n times the residual and drown in nε, and those of C in √δ (rule "kbr") or δ ("importance"). The factors
    0.5 and 0.05 are empirical (``docs/engines.md``): posterior means move by less than 1 % of the posterior standard
    deviation.
    """
    if settings.tolerance is not None:
        return settings.tolerance
    largest = [max(float(kernel.diagonal().max()), 1e-300) for kernel in (state_kernel, observation_kernel)]
    scale = settings.delta**0.5 if settings.rule == "kbr" else settings.delta
    return 0.5 * settings.epsilon / largest[0], 0.05 * scale / largest[1]


def neighbours(state_kernel: ExampleKernel, negligible: float) -> int:
    """Estimate how many examples a concentrated prior leaves: twice those near a typical example, for its spread."""
    n = state_kernel.size
    some = np.unique(np.linspace(0, n - 1, min(n, SAMPLED)).astype(np.intp))
    near = state_kernel.columns(some) > negligible * float(state_kernel.diagonal().max())
    return min(n, int(2.0 * np.median(near.sum(axis=0))))


def cheapest(n: int, p: int, q: int, settings: RuleSettings, near: int | None = None) -> str:
    """Return the name of the engine with the least work per step.

    Examples
    --------
    >>> from kmcf.herding.herding import Herd
    >>> herd = Herd(100)
    >>> settings = RuleSettings("auto", "kbr", 1e-3, 1e-4, (1e-8, 1e-8), (None, None), 1000, herd, herd)
    >>> cheapest(1000, 40, 40, settings), cheapest(150, 150, 150, settings)
    ('compressed', 'exact')
    """
    work = nanoseconds_per_step(n, p, q, settings.n_particles, n if near is None else near)
    allowed = ["lowrank"]
    if settings.rank == (None, None) and n <= LARGEST_GRAM:
        allowed.append("exact")
    if settings.rule == "kbr" and settings.always_resampler is not None and p * q * q / 2 <= LARGEST_TENSOR:
        allowed.append("compressed")
    return min(allowed, key=lambda engine: work[engine])


def nanoseconds_per_step(n: int, p: int, q: int, m: int, near: int) -> dict[str, float]:
    """Estimate the time of one step with n examples, p and q features and m particles on one ordinary core.

    The exact engine solves for the ``near`` examples that the prior does not exclude, if they are at most q / 2. The
    estimate counts 3 ns per kernel value, 0.5 ns per number streamed through memory and 0.025 ns per operation of a
    matrix product.
    """
    kernel, streamed, product = 3.0, 0.5, 0.025
    solve = product * q**3 * 4.0 / 3.0
    everywhere, local = product * n * q * q + solve, product * near * near * (2 * q + 5 * near)
    return {
        "exact": kernel * n * (m + 1) + streamed * n * (n + 3 * q) + (local if 2 * near <= q else everywhere),
        "lowrank": kernel * (m * p + q) + streamed * n * (2 * p + 4 * q) + product * n * q * q + solve,
        "compressed": kernel * (m * p + q) + streamed * (p * q * q + p * p * q) / 2 + solve,
    }
