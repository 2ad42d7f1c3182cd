"""Cross validation on a user's own recordings: whole sequences, or blocks of one, are left out and followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kmcf.baselines.registry import check_names, rivals
from kmcf.datasets.recording import Recording, hold_out
from kmcf.filter.results.run import FilterRun
from kmcf.filter.results.scores import Scores, score_runs
from kmcf.filter.sequential import SequentialFilter
from kmcf.numerics.interrupts import was_interrupted
from kmcf.support.extras import progress_bar
from kmcf.transitions.pairs import read_pairs

MOST_FOLDS, BLOCKS = 10, 5
"""With more sequences than this some are left out together; one sequence is divided into so many blocks."""
OURS = "this filter"


class Fold(NamedTuple):
    """What a filter learns from, and what it is tried on."""

    training: list[Recording]
    test: list[Recording]


@dataclass(frozen=True)
class CrossValidation:
    """Recordings that were left out, and how filters followed them that had not seen them.

    Attributes
    ----------
    recordings : list of Recording
        What was left out, in order of the folds.
    runs : list of FilterRun
        One per recording, of the filter.
    rivals : dict
        The same for every method that it is compared with.
    folds : int
        How many filters of each kind were fitted.

    Examples
    --------
    >>> CrossValidation([], [], {}, 5).folds
    5
    """

    recordings: list[Recording]
    runs: list[FilterRun]
    rivals: dict[str, list[FilterRun]]
    folds: int

    @property
    def scores(self) -> dict[str, Scores]:
        """Scores over everything that was left out, by method; the filter itself comes first."""
        truths = [recording.positions for recording in self.recordings]
        return {name: score_runs(runs, truths) for name, runs in {OURS: self.runs, **self.rivals}.items()}


def cross_validate(
    recordings: Sequence[Recording],
    fitted: Callable[[list[Recording]], SequentialFilter],
    *,
    compare: Sequence[str] = (),
    folds: int | None = None,
    timed: bool = False,
    progress: bool = False,
) -> CrossValidation:
    """Follow recordings with filters that were fitted to the others.

    Parameters
    ----------
    recordings : sequence of Recording
        Those of one name are left out together. If all have the same name, blocks of successive steps are.
    fitted : callable
        Given the recordings of a fold, returns a filter that was fitted to them, transition and all.
    compare : sequence of str
        Baselines that get the same examples and transition; see :func:`kmcf.baselines.rivals`.
    folds : int, optional
        How many. None: one per sequence, ten at most; five blocks, if there is one sequence.
    timed : bool
        Whether the filters are told the times of the recordings.
    progress : bool
        Show a bar.

    Examples
    --------
    >>> import kmcf
    >>> rng = np.random.default_rng(0)
    >>> walks = [3.0 * np.sin(0.3 * np.arange(40.0)[:, None] + k) for k in range(3)]
    >>> walks = [Recording(f"walk {k}", np.arange(40.0), x, x + rng.normal(size=(40, 1))) for k, x in enumerate(walks)]
    >>> def fitted(recordings):
    ...     walk = kmcf.transitions.GaussianRandomWalk().fit(recordings)
    ...     return kmcf.KernelMonteCarloFilter(walk, random_state=0).fit(*kmcf.datasets.examples(recordings))
    >>> result = cross_validate(walks, fitted, compare=["nearest"])
    >>> result.folds, list(result.scores)
    (3, ['this filter', 'nearest'])
    """
    check_names(compare)
    divided = divide(recordings, folds)
    ours: list[FilterRun] = []
    theirs: dict[str, list[FilterRun]] = {name: [] for name in compare}
    done = 0
    try:
        with progress_bar(len(divided), "cross validation", show=progress, unit="fold") as tick:
            for fold in divided:
                flt = fitted(fold.training)
                ours += _filtered(flt, fold.test, timed=timed)
                for name in compare:
                    rival = rivals(flt, [name], _moves(fold.training) if name == "kbr" else None)[name]
                    theirs[name] += _filtered(rival, fold.test, timed=timed)
                done += 1
                tick()
    except BaseException as error:
        if was_interrupted(error):
            error.add_note(
                f"{done} of {len(divided)} folds were finished; none is kept, so fewer folds or methods take less time."
            )
        raise
    return CrossValidation([one for fold in divided for one in fold.test], ours, theirs, len(divided))


def divide(recordings: Sequence[Recording], folds: int | None = None) -> list[Fold]:
    """Divide recordings into folds: by name or, if they have one name only, into blocks of successive steps.

    Examples
    --------
    >>> walk = Recording("walk", np.arange(10.0), np.zeros((10, 1)), np.zeros((10, 1)))
    >>> [len(fold.test[0]) for fold in divide([walk], 5)]
    [2, 2, 2, 2, 2]
    """
    names = list(dict.fromkeys(recording.name for recording in recordings))
    if folds is not None and folds < 2:
        raise ValueError(f"folds = {folds!r}; at least two are needed, so that something is left to learn from.")
    if len(names) < 2:
        return _blocks(recordings, BLOCKS if folds is None else folds)
    groups = min(len(names), MOST_FOLDS if folds is None else folds)
    of = {name: number % groups for number, name in enumerate(names)}
    return [
        Fold(
            [recording for recording in recordings if of[recording.name] != group],
            [recording for recording in recordings if of[recording.name] == group],
        )
        for group in range(groups)
    ]


def _blocks(recordings: Sequence[Recording], folds: int) -> list[Fold]:
    """Leave out blocks of successive steps, counted over all parts of a sequence."""
    total = sum(len(recording) for recording in recordings)
    if total < 2 * folds:
        raise ValueError(f"{total} rows cannot be divided into {folds} blocks of at least two rows.")
    bounds = np.linspace(0, total, folds + 1).astype(int)
    found = []
    for number, (first, last) in enumerate(pairwise(bounds), start=1):
        training: list[Recording] = []
        test: list[Recording] = []
        start = 0
        for recording in recordings:
            low, high = max(first - start, 0), min(last - start, len(recording))
            if low < high:
                before_after, block = hold_out(recording, int(low), int(high))
                training += before_after
                test.append(replace(block, name=f"{block.name}, block {number}"))
            else:
                training.append(recording)
            start += len(recording)
        found.append(Fold(training, test))
    return found


def _filtered(flt: SequentialFilter, test: Sequence[Recording], *, timed: bool) -> list[FilterRun]:
    times = [recording.time for recording in test] if timed else None
    observations, controls = [one.observations for one in test], [one.controls for one in test]
    return flt.filter_many(observations, controls, times=times)  # beliefs are kept where they fit into memory


def _moves(training: Sequence[Recording]) -> Any:
    pairs = read_pairs(list(training))
    moves = pairs.previous, pairs.next
    return moves if pairs.controls is None else (*moves, pairs.controls)
