"""What fitting a rule takes besides the examples, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kmcf.bayes_rule.base import BayesRule, Resampler


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
    tight_if_cheap: bool = False
    """With tolerance None: whether features are tight where a step is cheap with them."""


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


class Decision(NamedTuple):
    """Why an engine and its ranks were chosen."""

    nanoseconds: dict[str, float]
    """What a step of each engine would cost, by the cost model."""
    tolerance: tuple[float, float] | None
    """The tolerance of the features; None where it followed the regularisers."""
    by_cost: bool = False
    """Whether the tolerance was chosen by what a step costs; otherwise the user set it."""
    change: float | None = None
    """How far posterior means moved in the probe, in units of their sd; None without a probe."""
    error: float | None = None
    """By how much the error on left-out examples grew, as a share."""


class FittedRule(NamedTuple):
    """A rule, the engine that computes it and how well its factors reproduce the kernel matrices."""

    rule: BayesRule
    engine: str
    ranks: tuple[int, int]
    """(p, q); n where nothing was approximated."""
    trace_errors: tuple[float, float]
    """‖G − FFᵀ‖ in the trace norm, relative to the trace of G, for states and observations."""
    why: Decision | None = None
    """How the engine and the ranks were chosen; None where nothing was."""
