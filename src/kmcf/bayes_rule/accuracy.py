"""How many features a rule gets: as many as the user says, or as a step's cost and a probe of posteriors allow.

Without a tolerance from the user, features are as good as exact (1e-8) where a step is cheap with them. Elsewhere they
follow the regularisers, as far as left-out examples show that neither posterior means nor their errors suffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from kmcf.bayes_rule.base import Examples
from kmcf.bayes_rule.costs import LARGEST_GRAM, cheapest, fewest_features, nanoseconds_per_step, tolerances_for
from kmcf.bayes_rule.factors import KernelFeatures, features_of_rank
from kmcf.bayes_rule.fitted import RuleSettings
from kmcf.bayes_rule.probes import Change, Probes
from kmcf.bayes_rule.reduction import reduce_features
from kmcf.kernels import ExampleKernel, Learned
from kmcf.support.alerts import HighRankWarning, warn_user

TIGHT = 1e-8
CHEAP_NANOSECONDS, AFFORDABLE_NANOSECONDS = 0.5e6, 2e6
"""By default features are tight where the cheapest engine needs no more for a step than this, by the cost model; where
they are not, a step may take as much as the second number for the sake of means that hardly move."""
FINE_STATES, FINE_OBSERVATIONS = 0.01, 0.1
"""Features to compare with are finer than the regularisers ask for by these factors."""
MOST_PIVOTS, FEWEST_PIVOTS, LARGEST_FACTOR = 1000, 50, 200_000_000
"""For very many examples the number of pivots is limited, so that a factor takes at most 1.6 GB."""
FEWEST_FINE, LARGEST_FINE = 200, 50_000_000
"""With a tolerance that follows the regularisers it is limited further."""


class Features(NamedTuple):
    """Features for a rule, and how they were chosen."""

    states: KernelFeatures
    observations: KernelFeatures
    settings: RuleSettings
    """With the tolerance that was used; None where it followed the regularisers."""
    change: Change | None = None
    """What the probe measured, if there was one."""


def choose_features(examples: Examples, settings: RuleSettings, angles: Sequence[int] = ()) -> Features:
    """Return features of states and observations as accurate as the settings ask for and memory allows."""
    if settings.tolerance is not None:
        return _given(examples, settings, settings.tolerance, angles)
    if settings.rank != (None, None):
        tolerances = tolerances_for(settings, examples.state_kernel, examples.observation_kernel)
        return _given(examples, settings, tolerances, angles)
    return _probed(examples, settings, angles)


def tight_if_cheap(examples: Examples, settings: RuleSettings) -> Features | None:
    """Return tight features, or None if a step would be expensive with them; not all of them are found then."""
    n, tight = examples.size, replace(settings, tolerance=(TIGHT, TIGHT), tight_if_cheap=False)
    states = _tight(examples.state_kernel, _most_cheap(n, None, tight))
    if states is None:
        return None
    observations = _tight(examples.observation_kernel, _most_cheap(n, states.rank, tight))
    return None if observations is None else Features(states, observations, tight)


def _tight(kernel: ExampleKernel, most: int) -> KernelFeatures | None:
    """Return tight features, or None if they are more than some number; what is sure to be more is not tried."""
    if most < kernel.size and fewest_features(kernel) > most:
        return None
    features = KernelFeatures.fit(kernel, tolerance=TIGHT, most=most)
    return None if features.rank == most < kernel.size else features


def _most_cheap(n: int, p: int | None, settings: RuleSettings) -> int:
    """Return the largest number of features, of observations for p of the states or of both, that is cheap."""
    fewest, most = 1, n
    while fewest < most:
        q = (fewest + most + 1) // 2
        if _costs_at_most(CHEAP_NANOSECONDS, n, q if p is None else p, q, settings):
            fewest = q
        else:
            most = q - 1
    return fewest


def _costs_at_most(nanoseconds: float, n: int, p: int, q: int, settings: RuleSettings) -> bool:
    engine = cheapest(n, p, q, settings) if settings.engine == "auto" else settings.engine
    return nanoseconds_per_step(n, p, q, settings.n_particles, n)[engine] <= nanoseconds


def _given(
    examples: Examples, settings: RuleSettings, tolerances: tuple[float, float], angles: Sequence[int]
) -> Features:
    """Return features for tolerances or ranks that the user set."""
    _, state_kernel, observation_kernel = examples
    most = most_pivots(examples.size)
    states = features_of_rank(state_kernel, tolerance=tolerances[0], rank=settings.rank[0], most=most)
    observations = features_of_rank(
        observation_kernel, tolerance=tolerances[1], rank=settings.rank[1], targets=states.rows, most=most
    )
    capped = [
        most < examples.size and settings.rank[k] is None and found.rank == most
        for k, found in enumerate((states, observations))
    ]
    if (settings.tolerance is None or capped[1]) and settings.rank[1] is None:
        probes = _probes(examples, states, observations, settings, angles)
        affordable = partial(_costs_at_most, AFFORDABLE_NANOSECONDS, examples.size, settings=settings)
        reduced = reduce_features(states, observations, probes, tolerance=0.0, affordable=affordable)
        _warn_capped(capped, most, examples, reduced.observations.rank)
        return Features(states, reduced.observations, settings, reduced.change)
    _warn_capped(capped, most, examples, observations.rank)
    return Features(states, observations, settings)


def _probed(examples: Examples, settings: RuleSettings, angles: Sequence[int]) -> Features:
    """Return the fewest features with which posteriors of left-out examples hardly change."""
    _, state_kernel, observation_kernel = examples
    wanted = tolerances_for(settings, state_kernel, observation_kernel)
    most = fewer_pivots(examples.size)
    states, observations = (
        KernelFeatures.fit(kernel, tolerance=max(finer * tolerance, TIGHT), most=most)
        for kernel, tolerance, finer in zip(
            (state_kernel, observation_kernel), wanted, (FINE_STATES, FINE_OBSERVATIONS), strict=True
        )
    )
    capped = [
        found.rank == most < examples.size and found.needed(tolerance) == most
        for found, tolerance in zip((states, observations), wanted, strict=True)
    ]
    probes = _probes(examples, states, observations, settings, angles)
    affordable = partial(_costs_at_most, AFFORDABLE_NANOSECONDS, examples.size, settings=settings)
    reduced = reduce_features(states, observations, probes, tolerance=wanted[0], affordable=affordable)
    _warn_capped(capped, most, examples, reduced.observations.rank)
    return Features(reduced.states, reduced.observations, settings, reduced.change)


def _probes(
    examples: Examples,
    states: KernelFeatures,
    observations: KernelFeatures,
    settings: RuleSettings,
    angles: Sequence[int],
) -> Probes | None:
    return Probes.of(
        examples.states,
        states,
        observations,
        epsilon=settings.epsilon,
        delta=settings.delta,
        rule=settings.rule,
        angles=angles,
    )


def _warn_capped(capped: list[bool], most: int, examples: Examples, rank: int) -> None:
    """Say that memory allows for fewer features than the tolerance asks for, and what can be done.

    Where few of the observations' features were kept after all, nothing that matters lies beyond the cap.
    """
    states, observations = capped[0], capped[1] and rank > most // 2
    if not (states or observations):
        return
    which = " and ".join(name for name, too_many in (("states", states), ("observations", observations)) if too_many)
    learnt = isinstance(getattr(examples.observation_kernel, "kernel", None), Learned)
    wider = (
        "A wider kernel has a lower rank" if learnt or not observations else "Wider or learnt kernels have lower rank"
    )
    warn_user(
        f"the kernel matrix of the {which} needs more than {most} features at this tolerance, which is too many for "
        f"{examples.size} examples; it was approximated more coarsely (see trace_errors_). {wider}; or set rank, or "
        "keep fewer examples with n_examples.",
        HighRankWarning,
    )


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


def fewer_pivots(n: int) -> int:
    """Return the same where the tolerance follows the regularisers, which seldom takes many.

    Examples
    --------
    >>> fewer_pivots(800), fewer_pivots(3000), fewer_pivots(100_000), fewer_pivots(1_000_000)
    (800, 1000, 500, 200)
    """
    return min(n, MOST_PIVOTS, max(FEWEST_FINE, LARGEST_FINE // n))
