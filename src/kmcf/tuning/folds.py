"""Which examples to train on and which sequences to filter with the result.

A held-out part is always filtered as a sequence of its own, from the initial belief: the true states before it are not
known to the filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kmcf.filter.left_out import dealt, sequences_of
from kmcf.numerics.arrays import IntArray
from kmcf.tuning.examples import TuningExamples

FEWEST = 2
"""The fewest examples that a filter needs."""
INDEPENDENT_FOLDS = 5
MOST_GROUP_FOLDS = 5


@dataclass(frozen=True)
class Fold:
    """Examples to train on, and sequences to filter.

    Attributes
    ----------
    training : array of int
        Indices of the examples to fit on.
    sequences : tuple of arrays of int
        Indices of the held-out steps, one array per sequence, in order of time.
    rest : array of int
        Indices of all steps that are not held out, whether they are examples to fit on or not.
    """

    training: IntArray
    sequences: tuple[IntArray, ...]
    rest: IntArray

    @property
    def steps(self) -> int:
        """Number of held-out steps."""
        return sum(len(sequence) for sequence in self.sequences)


def make_folds(
    examples: TuningExamples, *, sequential: bool, folds: int | None, seed: int, held_out: Sequence[int] = ()
) -> tuple[Fold, ...]:
    """Divide the examples.

    One sequence is cut into two halves (Section 4.3) or ``folds`` pieces. Of several sequences whole ones are left out,
    in at most five folds. Examples without order are dealt out at random, to five folds, whole groups if there are any.

    Parameters
    ----------
    examples : TuningExamples
        What to divide.
    sequential : bool
        Whether the examples of a group follow each other in time.
    folds : int, optional
        Number of folds. None: as above.
    seed : int
        Seed of the random dealing.
    held_out : sequence of int
        Numbers of the groups to leave out, a fold each; the others are only trained on. Empty: as above.
    """
    n = len(examples)
    parts = sequences_of(examples.groups)
    if held_out:
        left_out = [[parts[group]] for group in held_out]
    elif len(parts) > 1:
        left_out = dealt(parts, min(len(parts), MOST_GROUP_FOLDS) if folds is None else folds)
    else:
        count = (2 if sequential else INDEPENDENT_FOLDS) if folds is None else folds
        count = max(2, min(count, n // FEWEST)) if folds is None else count
        order = np.arange(n) if sequential else np.random.default_rng(seed).permutation(n)
        left_out = [[np.sort(part)] for part in np.array_split(order, count)]
    if not sequential:
        left_out = [[np.array([i]) for part in fold for i in part] for fold in left_out]
    made = []
    for fold in left_out:
        rest = np.setdiff1d(np.arange(n), np.concatenate(fold) if fold else np.arange(0))
        made.append(Fold(examples.learnable(rest), tuple(fold), rest))
    _check(made, n)
    return tuple(made)


def _check(folds: list[Fold], n: int) -> None:
    smallest = min(len(fold.training) for fold in folds)
    if smallest < FEWEST or min(fold.steps for fold in folds) < 1:
        raise ValueError(
            f"{n} examples are too few for {len(folds)} folds: every fold must leave at least {FEWEST} observed "
            f"examples to train on, but one leaves {smallest}. Tuning needs more examples."
        )
