"""How well a filter predicts recorded observations: one score per step, with the same random numbers throughout."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.support.alerts import RejectedStepWarning, UnusedTimesWarning

OBJECTIVES = {"score": "prediction_score", "evidence": "log_evidence"}
"""What can be maximised, and the column of a run that holds it."""


@dataclass(frozen=True)
class Objective:
    """The scores of predictions along sequences.

    A filter's random numbers depend on its seed, the stream and the step, never on the transition, so that two
    transitions are compared with common random numbers.
    """

    flt: Any
    sequences: Sequence[Any]
    controls: Sequence[Any] | None
    times: Sequence[Any] | None
    column: str
    repeats: int
    """How many times each sequence is filtered, with other random numbers; scores are averaged."""

    def __call__(self, transition: Any) -> FloatArray:
        """Return the scores of all steps but the first of each sequence, which makes no transition; NaN: missing."""
        twin = self.flt.with_transition(transition)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RejectedStepWarning)
            warnings.simplefilter("ignore", UnusedTimesWarning)
            runs = twin.filter_many(
                self._repeated(self.sequences),
                None if self.controls is None else self._repeated(self.controls),
                times=None if self.times is None else self._repeated(self.times),
                keep_beliefs=False,
            )
        scores = [np.asarray(getattr(run, self.column), dtype=np.float64)[1:] for run in runs]
        count = len(self.sequences)
        return np.mean([np.concatenate(scores[k * count : (k + 1) * count]) for k in range(self.repeats)], axis=0)

    def _repeated(self, given: Sequence[Any]) -> list[Any]:
        return list(given) * self.repeats  # repetition k of sequence b is stream k B + b


def objective_of(flt: Any, sequences: Any, controls: Any, times: Any, *, objective: str, repeats: int) -> Objective:
    """Read what predictions are compared with.

    Parameters
    ----------
    flt : filter
        Fitted.
    sequences : array, or list of sequences
        One sequence, or several as for ``filter_many``.
    controls, times : the same, optional
        What drove the moves, and when.
    objective : {"score", "evidence"}
        The kernel score, or the log evidence.
    repeats : int
        How many times each sequence is filtered.
    """
    if objective not in OBJECTIVES:
        raise ValueError(f"objective={objective!r}; it can be {' or '.join(map(repr, OBJECTIVES))}.")
    if not isinstance(repeats, int | np.integer) or repeats < 1:
        raise ValueError(f"repeats={repeats!r}; every sequence must be filtered at least once.")
    several = isinstance(sequences, list | tuple)
    read = [None if given is None else list(given) if several else [given] for given in (sequences, controls, times)]
    if not read[0]:
        raise ValueError("there is no sequence of observations to learn from.")
    return Objective(flt, read[0], read[1], read[2], OBJECTIVES[objective], int(repeats))
