"""Where a posterior lives, on the examples, the particles or both: settings that are words, turned into a rule.

Each of them knows its defaults, what a tuner may change, and how to fit its Bayes' rule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from kmcf.bayes_rule import (
    EitherRule,
    Examples,
    FittedRule,
    ParticleRule,
    ParticleSettings,
    RuleSettings,
    fit_particle_rule,
    fit_rule,
)
from kmcf.bayes_rule.base import Resampler
from kmcf.bayes_rule.cache import from_cache, particles_from_cache
from kmcf.bayes_rule.defaults import PARTICLE_DELTA, default_delta
from kmcf.filter.settings import pair_of
from kmcf.filter.tunable import background_space, delta_space, epsilon_space
from kmcf.herding.herding import Herd, HerdByBound
from kmcf.herding.resampling import Draw, DrawTruncated, KeepAll
from kmcf.kernels.defaults import PARTICLE_STATE_MULTIPLIER, STATE_MULTIPLIER
from kmcf.numerics.objects import evenly_spaced, take
from kmcf.support.search_space import Parameter

USUAL_THRESHOLD = 2.0
"""engine="auto" takes the compressed engine, which always resamples, only up to this threshold."""
BY_BOUND = "bound"
"""The resampling threshold that leaves it to Theorem 1 whether to resample."""
MOVED = 500
"""The variance of the transition is estimated from so many example states."""
Move = Callable[[Any, np.random.Generator], Any]
EXACT_ENOUGH = 1e-8
"""Tolerance of the rule on particles for tolerance="auto", and where an engine or a rank but no tolerance is given."""


@dataclass(frozen=True)
class Support(ABC):
    """The settings that both share, as the user gave them."""

    resampling: str
    resample_threshold: Any
    tolerance: Any
    rank: Any
    state_multiplier: ClassVar[float]
    """Bandwidth of the default kernel on states, as a multiple of their median distance."""

    @abstractmethod
    def default_delta(self, plain: bool, mean_diagonal: float) -> float:
        """Return the default δ, given whether the observation kernel is the plain default, and its mean diagonal."""

    @abstractmethod
    def search_space(self, epsilon: float | None, delta: float | None, *, plain: bool) -> dict[str, Parameter]:
        """Return the regularisers that a tuner may change, around the values given."""

    def for_few(self) -> Self:
        """Return the settings by which a rule that is used for few steps only is fitted fastest."""
        return self

    @abstractmethod
    def fit(
        self,
        examples: Examples,
        epsilon: float,
        delta: float,
        n_particles: int,
        cache: dict[str, Any] | None = None,
    ) -> FittedRule:
        """Fit the Bayes' rule, or restore it from what a file kept of it."""


@dataclass(frozen=True)
class OnExamples(Support):
    """The paper's filter: weights on the example states."""

    rule: str
    engine: str
    n_resample: int
    angles: Sequence[int] = ()
    functions: Sequence[Callable[[Any], Any]] = ()
    move: Move | None = None
    """Moves states once, without control; asked for where resampling follows Theorem 1's bound."""
    state_multiplier: ClassVar[float] = STATE_MULTIPLIER

    def for_few(self) -> Self:
        """Return the settings without the compressed engine, whose sums take long to add up."""
        return replace(self, engine="lowrank") if self.engine in ("auto", "compressed") else self

    def default_delta(self, plain: bool, mean_diagonal: float) -> float:
        """Return the default of the rule."""
        return default_delta(self.rule, plain=plain, mean_diagonal=mean_diagonal)

    def search_space(self, epsilon: float | None, delta: float | None, *, plain: bool) -> dict[str, Parameter]:
        """Return ε and δ."""
        return epsilon_space(epsilon) | delta_space(delta, self.default_delta(plain, 1.0), self.rule)

    def fit(
        self,
        examples: Examples,
        epsilon: float,
        delta: float,
        n_particles: int,
        cache: dict[str, Any] | None = None,
    ) -> FittedRule:
        """Fit the rule with the engine asked for."""
        by_bound = self.resample_threshold == BY_BOUND
        may_compress = not by_bound and self.resampling != "none" and self.resample_threshold <= USUAL_THRESHOLD
        settings = RuleSettings(
            engine=self.engine,
            rule=self.rule,
            epsilon=epsilon,
            delta=delta,
            tolerance=self._tolerance(),
            rank=pair_of(self.rank),
            tight_if_cheap=self._by_cost,
            n_particles=n_particles,
            resampler=self._by_bound(examples) if by_bound else self._resampler(self.resample_threshold),
            always_resampler=self._resampler(0.0) if may_compress or self.engine == "compressed" else None,
        )
        extent: dict[str, Any] = {"angles": self.angles, "functions": self.functions}
        known = None if cache is None else from_cache(cache, examples, settings, **extent)
        return fit_rule(examples, settings, **extent) if known is None else known

    @property
    def _by_cost(self) -> bool:
        """Whether the engine and its accuracy are left to the filter."""
        return self.tolerance is None and self.rank is None and self.engine not in ("literal", "exact", "local")

    def _tolerance(self) -> tuple[float, float] | None:
        if self.tolerance == "auto" or self._by_cost:
            return None
        return pair_of(EXACT_ENOUGH if self.tolerance is None else self.tolerance)

    def _by_bound(self, examples: Examples) -> Resampler:
        assert self.move is not None
        try:
            return HerdByBound(self.n_resample, move_variance(self.move, examples))
        except Exception as error:
            error.add_note(
                "resample_threshold='bound' needs to know how far the transition spreads, and moved the example states "
                "without a control to find out; give a number instead if it cannot do without."
            )
            raise

    def _resampler(self, threshold: float) -> Resampler:
        schemes: dict[str, Resampler] = {
            "herding": Herd(self.n_resample, threshold),
            "multinomial": DrawTruncated(threshold),
            "none": KeepAll(),
        }
        return schemes[self.resampling]


@dataclass(frozen=True)
class OnParticles(Support):
    """Weights on the particles: likelihoods learnt from the examples around them."""

    background: float = 0.0
    """φ."""
    sharpness: float = 1.0
    """The power of the state kernel."""
    state_multiplier: ClassVar[float] = PARTICLE_STATE_MULTIPLIER

    def default_delta(self, _plain: bool, mean_diagonal: float) -> float:
        """Return the default of the rule on particles."""
        return PARTICLE_DELTA * mean_diagonal

    def search_space(self, _epsilon: float | None, delta: float | None, *, plain: bool) -> dict[str, Parameter]:
        """Return δ, and φ if it is positive."""
        untuned = self.default_delta(plain, 1.0)
        return delta_space(delta, untuned, "importance") | background_space(self.background)

    def fit(
        self,
        examples: Examples,
        _epsilon: float,
        delta: float,
        _n_particles: int,
        cache: dict[str, Any] | None = None,
    ) -> FittedRule:
        """Fit the rule on particles."""
        settings = ParticleSettings(
            delta=delta,
            tolerance=EXACT_ENOUGH if self.tolerance in (None, "auto") else pair_of(self.tolerance)[1],
            rank=pair_of(self.rank)[1],
            resampler=KeepAll() if self.resampling == "none" else Draw("systematic", self.resample_threshold),
            background=float(self.background),
            sharpness=float(self.sharpness),
        )
        known = None if cache is None else particles_from_cache(cache, examples, settings)
        return fit_particle_rule(examples, settings) if known is None else known


@dataclass(frozen=True)
class OnBoth(OnExamples):
    """The paper's posterior on the examples, and the one on the particles where few examples carry the former."""

    def fit(
        self,
        examples: Examples,
        epsilon: float,
        delta: float,
        n_particles: int,
        cache: dict[str, Any] | None = None,
    ) -> FittedRule:
        """Fit both rules; that on the particles has its own default δ, and the same kernel on states, narrowed."""
        main = super().fit(examples, epsilon, delta, n_particles, cache)
        fallback = OnParticles(
            "systematic",
            USUAL_THRESHOLD,
            self.tolerance,
            self.rank,
            sharpness=(STATE_MULTIPLIER / PARTICLE_STATE_MULTIPLIER) ** 2,
        )
        own_delta = fallback.default_delta(False, float(examples.observation_kernel.diagonal().mean()))
        known = None if cache is None else cache.get("particles")
        beside = fallback.fit(examples, epsilon, own_delta, n_particles, known).rule
        assert isinstance(beside, ParticleRule)
        return main._replace(rule=EitherRule(main.rule, beside))


def move_variance(move: Move, examples: Examples) -> float:
    """Estimate the transition's variance in the RKHS, E[k(x', x') − k(x', x̃')], by two moves from example states.

    Examples
    --------
    >>> from kmcf.kernels import Gaussian
    >>> on_states = Gaussian(1.0).on_examples(np.zeros((4, 1)))
    >>> move_variance(lambda states, rng: states, Examples(np.zeros((4, 1)), on_states, on_states))
    0.0
    """
    some = evenly_spaced(examples.size, MOVED)
    starts = take(examples.states, some)
    rng = np.random.default_rng(0)
    first, second = move(starts, rng), move(starts, rng)
    kernel = examples.state_kernel.kernel
    values = kernel(first, second)
    return float(np.mean(kernel.diagonal(first) - np.diagonal(values)))
