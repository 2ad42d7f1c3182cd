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
    errors: float
    """How many standard errors behind it is too far."""


def rival(trials: Sequence[Trial], place: int) -> Rival | None:
    """Return the trial in a given place (1 is the best); while there are fewer, the best, with a wider margin."""
    best = ranked(trials)
    if not best:
        return None
    if len(best) < place:
        return Rival(best[0].blocks, FAR_BEHIND)
    return Rival(best[place - 1].blocks, BEHIND)


def is_hopeless(blocks: Sequence[float], rival: Rival | None) -> bool:
    """Return whether a trial is so far behind a rival on the same steps that it can be stopped.

    Both saw the same steps with the same random numbers, so the differences of their losses, block by block, are
    paired: the trial is hopeless when their mean exceeds so many of its standard errors. This depends on neither
    the scale nor the sign of the metric.

    Parameters
    ----------
    blocks : sequence of float
        Average losses of the blocks so far.
    rival : Rival, optional
        The rival, complete.

    Examples
    --------
    >>> rival = Rival((1.0, 2.0, 1.0, 2.0, 1.0, 2.0), 2.0)
    >>> is_hopeless([3.0, 3.9, 3.1, 4.0, 3.0], rival), is_hopeless([3.0, 0.0, 3.0, 0.0, 3.0], rival)
    (True, False)
    """
    if rival is None or len(blocks) < FEWEST_BLOCKS or len(blocks) >= len(rival.blocks):
        return False
    differences = np.asarray(blocks) - np.asarray(rival.blocks[: len(blocks)])
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    return bool(differences.mean() > rival.errors * error and differences.mean() > 0)
