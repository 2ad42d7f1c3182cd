"""What a trial is: settings, how it ended, and how good it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

BLOCKS = 20
"""The held-out steps are divided into this many blocks, whose average losses are kept for pruning."""
FEWEST_BLOCKS = 5
BEHIND, FAR_BEHIND = 2.0, 6.0
"""Standard errors behind a rival at which a trial is stopped; the second until there are enough rivals."""
ROUNDING = 1e-9
"""Sums of losses that differ by less, as a part of them, may be equal."""
ENDS = ("complete", "pruned", "failed")
"""How a trial may end."""


class Proposal(NamedTuple):
    """Settings to try."""

    variant: str
    """Which variant of the filter."""
    settings: dict[str, Any]
    """Names, as for ``set_params``, and values."""


@dataclass(frozen=True)
class Trial:
    """A trial that has ended.

    Attributes
    ----------
    number : int
        0 for the untuned defaults.
    proposal : Proposal
        What was tried.
    status : {"complete", "pruned", "failed"}
        How it ended.
    value : float
        The validation error; NaN unless complete.
    blocks : tuple of float
        Average losses of the blocks of steps that were reached.
    seconds : float
        How long it took.
    error : str
        Why it failed.

    Examples
    --------
    >>> Trial(0, Proposal("default", {"delta": 1e-4}), "complete", 0.65).proposal.settings
    {'delta': 0.0001}
    """

    number: int
    proposal: Proposal
    status: str
    value: float = math.nan
    blocks: tuple[float, ...] = field(default=(), repr=False)
    seconds: float = 0.0
    error: str = ""


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """Return the complete trials, best first; equal values in order of their numbers."""
    complete = [trial for trial in trials if trial.status == "complete"]
    return sorted(complete, key=lambda trial: (trial.value, trial.number))


class Rival(NamedTuple):
    """What a trial must not fall far behind."""

    blocks: tuple[float, ...]
    """Average losses of another trial's blocks."""
    errors: float | None
    """How many standard errors behind it is too far; None: only when it cannot be reached any more."""


@dataclass(frozen=True)
class Pruning:
    """Which trials are stopped early.

    Parameters
    ----------
    place : int
        Those behind the trial in this place (1 is the best).
    certain : bool
        Only those that cannot reach it any more, because no loss is negative. Otherwise those that are clearly behind.
    """

    place: int
    certain: bool = False

    def rival(self, trials: Sequence[Trial]) -> Rival | None:
        """Return the trial in the place; while there are fewer, the best, at a wider margin, or none, to be certain."""
        best = ranked(trials)
        if len(best) >= self.place:
            return Rival(best[self.place - 1].blocks, None if self.certain else BEHIND)
        return Rival(best[0].blocks, FAR_BEHIND) if best and not self.certain else None


def is_hopeless(blocks: Sequence[float], rival: Rival | None, sizes: Sequence[int]) -> bool:
    """Return whether a trial is so far behind a rival on the same steps that it can be stopped.

    Both saw the same steps with the same random numbers, so the differences of their losses, block by block, are
    paired: the trial is hopeless when their mean exceeds so many of its standard errors. This depends on neither
    the scale nor the sign of the metric. If that must be certain, its losses so far add up to more than all of the
    rival's (and more than rounding).

    Parameters
    ----------
    blocks : sequence of float
        Average losses of the blocks so far.
    rival : Rival, optional
        The rival, complete.
    sizes : sequence of int
        How many steps each block of a complete trial has.

    Examples
    --------
    >>> rival, sizes = Rival((1.0, 2.0, 1.0, 2.0, 1.0, 2.0), 2.0), [10] * 6
    >>> is_hopeless([3.0, 3.9, 3.1, 4.0, 3.0], rival, sizes), is_hopeless([3.0, 0.0, 3.0, 0.0, 3.0], rival, sizes)
    (True, False)
    >>> certain = rival._replace(errors=None)
    >>> is_hopeless([3.0, 3.0, 3.0], certain, sizes), is_hopeless([3.0, 3.0, 3.1], certain, sizes)
    (False, True)
    """
    if rival is None or len(blocks) >= len(rival.blocks):
        return False
    if rival.errors is None:
        spent = np.dot(blocks, sizes[: len(blocks)])
        return bool(spent > (1.0 + ROUNDING) * np.dot(rival.blocks, sizes))
    if len(blocks) < FEWEST_BLOCKS:
        return False
    differences = np.asarray(blocks) - np.asarray(rival.blocks[: len(blocks)])
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    return bool(differences.mean() > rival.errors * error and differences.mean() > 0)
