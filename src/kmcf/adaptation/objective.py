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
            scores = self._scores(twin) if hasattr(twin.backend_, "predicted") else self._compiled_scores(twin)
        return self.averaged(scores)

    def averaged(self, scores: Sequence[FloatArray]) -> FloatArray:
        """Return the scores of all sequences, one after the other, as means over repetitions."""
        count = len(self.sequences)
        return np.mean([np.concatenate(scores[k * count : (k + 1) * count]) for k in range(self.repeats)], axis=0)

    def of_run(self, run: Any) -> FloatArray:
        """Return the scores of a run's steps but the first."""
        return np.asarray(getattr(run, self.column), dtype=np.float64)[1:]

    def repeated(self) -> tuple[list[Any], list[Any] | None, list[Any] | None]:
        """Return the sequences, controls and times of all repetitions."""
        controls, times = (None if given is None else self._repeated(given) for given in (self.controls, self.times))
        return self._repeated(self.sequences), controls, times

    def _scores(self, flt: Any) -> list[FloatArray]:
        """Step along the sequences; a run would sum up beliefs that nobody looks at."""
        blank = [None] * len(self.sequences)
        parts = zip(self.sequences, self.controls or blank, self.times or blank, strict=True)
        scores = []
        for stream, (sequence, controls, times) in enumerate(self._repeated(list(parts))):
            belief, found = flt.start(stream), []
            for t, y in enumerate(sequence):
                control, time = (None if given is None else given[t] for given in (controls, times))
                belief = flt.step(belief, y, control, time)
                found.append(getattr(belief.report, self.column))
            scores.append(np.array(found[1:], dtype=np.float64))
        return scores

    def _compiled_scores(self, flt: Any) -> list[FloatArray]:
        """Let compiled code run over all sequences at once."""
        sequences, controls, times = self.repeated()
        runs = flt.filter_many(sequences, controls, times=times, keep_beliefs=False)
        return [self.of_run(run) for run in runs]

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
    backend = flt.backend_
    if hasattr(backend, "predicted"):
        read[0] = [backend.reader.sequence(one) for one in read[0]]
        for name, given in (("controls", read[1]), ("times", read[2])):
            _check_lengths(name, given, read[0])
    return Objective(flt, read[0], read[1], read[2], OBJECTIVES[objective], int(repeats))


def _check_lengths(name: str, given: Any, sequences: Sequence[Any]) -> None:
    if given is None:
        return
    if len(given) != len(sequences):
        raise ValueError(f"{len(given)} sequences of {name} for {len(sequences)} sequences of observations.")
    for one, sequence in zip(given, sequences, strict=True):
        if one is not None and len(one) != len(sequence):
            raise ValueError(f"{len(one)} {name} for a sequence of {len(sequence)} observations.")
