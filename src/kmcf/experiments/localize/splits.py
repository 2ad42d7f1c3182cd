"""Ways to divide recordings into folds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.datasets import Recording, examples, thinned
from kmcf.experiments.localize.problem import Data, Fold

MOST_QUICK_STEPS = 150


def leave_one_out(
    data: Data, repetition: int = 0, *, every: int = 1, longest: int | None = None, most_folds: int | None = None
) -> list[Fold]:
    """Test on each recording in turn, with examples from all others.

    Parameters
    ----------
    data : Data
        At least two recordings.
    repetition : int
        Not used: there is nothing random about it.
    every : int
        Keep every k-th step of the training recordings as an example.
    longest : int, optional
        Cut test recordings to so many steps.
    most_folds : int, optional
        Make no more folds than this.
    """
    del repetition
    recordings = list(data.recordings)
    if len(recordings) < 2:
        raise ValueError(f"there is {len(recordings)} recording; to test on one and learn from others takes two.")
    folds = []
    for test in recordings[:most_folds]:
        training = [recording for recording in recordings if recording is not test]
        states, observations = examples(sparse(training, every))
        folds.append(Fold(test.name, training, states, observations, test[:longest]))
    return folds


def sparse(recordings: Sequence[Recording], every: int) -> list[Recording]:
    """Keep every k-th step of each recording."""
    return [thinned(recording, every) for recording in recordings]


def spread(count: int, wanted: int) -> list[int]:
    """Choose so many of the numbers 0, …, count − 1, evenly.

    Examples
    --------
    >>> spread(9, 3)
    [0, 4, 8]
    """
    return [int(number) for number in np.unique(np.linspace(0, count - 1, min(wanted, count)).round())]
