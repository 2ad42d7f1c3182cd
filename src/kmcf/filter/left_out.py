"""Steps that a filter did not learn from: its own examples left out in turn, or sequences it has never seen."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from kmcf.filter.clock import read_times
from kmcf.filter.results.belief import Belief
from kmcf.numerics.arrays import BoolArray, FloatArray, IntArray
from kmcf.numerics.objects import Objects, plain, take
from kmcf.support.alerts import FewExamplesWarning, HighRankWarning, RejectedStepWarning
from kmcf.support.estimators import clone

FEWEST_EXAMPLES = 20
FOLDS, MANY_FOLDS = 5, 10
FEW_STEPS = 200
"""A sequence of so few examples is cut into more pieces: a filter that learnt from four fifths of them is noticeably
worse than one that learnt from all, which made intervals too wide; and fits are cheap."""
GROUP_FOLDS = 10
"""Sequences are left out in at most so many parts: one by one where there are no more."""
WHOLE_GROUPS = 3
"""With so many groups or more, whole ones are left out; otherwise pieces of them."""
MOST_STEPS = 5000
ONE_FIT = 0.1
"""If no larger share of the examples is left out, all of it is left out at once, and one fit is enough."""


class RehearsedStep(NamedTuple):
    """One step at a left-out example."""

    example: int
    """Which example."""
    sequence: int
    """Number of the sequence that was filtered."""
    predicted: Belief
    """What was believed before the observation."""
    belief: Belief
    """What was believed after it."""
    smoothed: Belief | None = None
    """What was believed after the whole sequence; None where nobody asked, and at its last step."""


@dataclass(frozen=True)
class Examples:
    """Examples in order of time."""

    states: Objects
    observations: Any
    controls: Any
    groups: IntArray
    taught: BoolArray
    """Which a filter learns from; they have a state and an observation."""
    shown: BoolArray
    """At which the filter that is tried out is shown the observation."""
    times: FloatArray | None = None
    """When they were made, in the user's units."""
    precomputed: bool = False
    """Whether observations are kernel values."""

    def __len__(self) -> int:
        return len(self.states)

    def control(self, index: int) -> Any:
        """Return what drove the move to an example."""
        return None if self.controls is None else self.controls[index]

    def time(self, index: int) -> float | None:
        """Return when an example was made."""
        return None if self.times is None else float(self.times[index])

    def training(self, indices: IntArray) -> tuple[Objects, Any]:
        """Return some examples to fit a filter on."""
        observations = take(self.observations, indices)
        return take(self.states, indices), observations[:, indices] if self.precomputed else observations

    def moves(self, indices: IntArray) -> dict[str, Any]:
        """Return the moves between examples that follow each other, as filters that learn the transition take them."""
        before, after = consecutive(self.groups, indices)
        controls = () if self.controls is None else (take(self.controls, after),)
        return {"transitions": (take(self.states, before), take(self.states, after), *controls)}


def rehearse(
    flt: Any, examples: Examples, prepared: Callable[[Any, Any], tuple[Any, Any]], *, smooth: bool = False
) -> Iterator[RehearsedStep]:
    """Yield steps of copies of a filter at examples that each copy was not fitted on.

    Parameters
    ----------
    flt : SequentialFilter
        Fitted; its settings and its seed are those of the copies.
    examples : Examples
        Those that it was fitted on, perhaps with steps between them that have no state or no observation.
    prepared : callable
        Turns training examples into arrays of the kind that the filter was fitted on.
    smooth : bool
        Smooth the sequences, too.
    """
    learns_moves = "transitions" in inspect.signature(flt.fit).parameters
    number = 0
    for left_out in left_out_parts(examples.groups):
        kept = np.setdiff1d(np.flatnonzero(examples.taught), np.concatenate(left_out.excluded))
        copy = clone(flt).set_params(random_state=flt.seed_)
        further = examples.moves(kept) if learns_moves else {}
        with quiet():
            copy.fit(*prepared(*examples.training(kept)), **further)
        for sequence in left_out.sequences:
            rows = kept if examples.precomputed else None
            yield from along(copy, examples, sequence, number, rows, smooth=smooth)
            number += 1


def along(
    flt: Any, examples: Examples, sequence: IntArray, number: int, rows: IntArray | None, *, smooth: bool = False
) -> Iterator[RehearsedStep]:
    """Yield the steps of a filter along some examples; ``rows`` picks the kernel values that it knows."""
    steps = _filtered(flt, examples, sequence, number, rows)
    if not smooth:
        yield from steps
        return
    known = list(steps)
    controls = None if examples.controls is None else [examples.control(int(index)) for index in sequence]
    smoothed = flt.smoothed_beliefs([step.belief for step in known], controls)
    for step, later in zip(known, smoothed, strict=True):
        yield step._replace(smoothed=later if later.final else None)


def _filtered(
    flt: Any, examples: Examples, sequence: IntArray, number: int, rows: IntArray | None
) -> Iterator[RehearsedStep]:
    belief = flt.start(number)
    for index in map(int, sequence):
        y = examples.observations[index] if examples.shown[index] else None
        control, time = examples.control(index), examples.time(index)
        with quiet():
            predicted = flt.step(belief, None, control, time)
            belief = flt.step(belief, y if rows is None or y is None else y[rows], control, time)
        yield RehearsedStep(index, number, predicted, belief)


class LeftOut(NamedTuple):
    """What one copy of the filter does not learn from."""

    sequences: list[IntArray]
    """Examples to filter, in order of time."""
    excluded: list[IntArray]
    """Examples that are kept from it."""


def left_out_parts(groups: IntArray, most: int = MOST_STEPS) -> list[LeftOut]:
    """Divide examples: of three or more sequences whole ones are left out, of fewer one piece after another.

    Up to ten sequences are left out one by one. Pieces are fifths; of at most 200 examples, tenths.

    At most ``most`` steps are filtered. Where these are few among all, they are left out together.

    Parameters
    ----------
    groups : array (n,) of int
        Number of the sequence that each example belongs to.
    most : int
        How many steps are filtered in all.

    Examples
    --------
    >>> [[len(s) for s in part.sequences] for part in left_out_parts(np.zeros(500, dtype=int))]
    [[100], [100], [100], [100], [100]]
    >>> len(left_out_parts(np.zeros(100, dtype=int)))
    10
    >>> [[len(s) for s in part.sequences] for part in left_out_parts(np.zeros(100_000, dtype=int))]
    [[1000, 1000, 1000, 1000, 1000]]
    """
    parts = sequences_of(groups)
    share = min(1.0, most / len(groups))
    if len(parts) >= WHOLE_GROUPS:
        dealt_out = dealt(parts, min(len(parts), GROUP_FOLDS))
        return [LeftOut([_cut(part, share, 0.0) for part in fold], fold) for fold in dealt_out]
    folds = MANY_FOLDS if len(groups) <= FEW_STEPS else FOLDS
    pieces = [[_cut(piece, share, 0.5) for piece in np.array_split(part, folds)] for part in parts]
    sequences = [[pieces[g][k] for g in range(len(parts)) if len(pieces[g][k])] for k in range(folds)]
    if share <= ONE_FIT:
        sequences = [[sequence for fold in sequences for sequence in fold]]
    return [LeftOut(fold, fold) for fold in sequences if fold]


def _cut(part: IntArray, share: float, where: float) -> IntArray:
    """Return a piece of consecutive examples, from the beginning (0) or the middle (½)."""
    length = max(1, round(share * len(part))) if len(part) else 0
    first = round(where * (len(part) - length))
    return part[first : first + length]


def sequences_of(groups: IntArray) -> list[IntArray]:
    """Return the examples of each group.

    Examples
    --------
    >>> sequences_of(np.array([0, 0, 1]))
    [array([0, 1]), array([2])]
    """
    return [np.flatnonzero(groups == group) for group in range(int(groups.max(initial=0)) + 1)]


def dealt(parts: list[IntArray], count: int) -> list[list[IntArray]]:
    """Deal sequences to folds, the longest first, each to the fold with the fewest steps so far."""
    if count > len(parts):
        raise ValueError(f"folds = {count}, but there are only {len(parts)} groups to leave out.")
    chosen: list[list[int]] = [[] for _ in range(count)]
    for number in sorted(range(len(parts)), key=lambda k: -len(parts[k])):
        lightest = min(range(count), key=lambda fold: sum(len(parts[k]) for k in chosen[fold]))
        chosen[lightest].append(number)
    return [[parts[k] for k in sorted(fold)] for fold in chosen]


def consecutive(groups: IntArray, indices: IntArray) -> tuple[IntArray, IntArray]:
    """Return the first and second indices of pairs of examples that follow each other.

    Moves never lead from one sequence to another, or across examples that are left out.

    Examples
    --------
    >>> consecutive(np.array([0, 0, 0, 1, 1]), np.array([0, 1, 3, 4]))
    (array([0, 3]), array([1, 4]))
    """
    known = np.isin(np.arange(len(groups)), indices)
    pairs = []
    for members in sequences_of(groups):
        both = known[members[:-1]] & known[members[1:]]
        pairs.append((members[:-1][both], members[1:][both]))
    return np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs])


def read_groups(groups: Any, n: int) -> IntArray:
    """Return the groups as numbers, in order of their first example.

    Examples
    --------
    >>> read_groups(["b", "b", "a"], 3)
    array([0, 0, 1])
    """
    if groups is None:
        return np.zeros(n, dtype=np.intp)
    labels = list(plain(groups)) if hasattr(groups, "__len__") and not isinstance(groups, str) else None
    if labels is None or len(labels) != n:
        found = "a single value" if labels is None else f"{len(labels)} of them"
        raise ValueError(f"groups must hold one label per example, {n} in all, but got {found}.")
    for number, label in enumerate(labels):
        if isinstance(label, Real) and np.isnan(float(label)):
            raise ValueError(f"groups must hold one label per example, but that of example {number} is {label}.")
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.intp)


def read_group_times(times: Any, groups: IntArray) -> FloatArray | None:
    """Read one time per example, increasing within each group.

    Examples
    --------
    >>> read_group_times([1, 2, 1], np.array([0, 0, 1]))
    array([1., 2., 1.])
    """
    if times is None:
        return None
    if np.shape(times) != groups.shape:
        raise ValueError(f"times must be {len(groups)} numbers, one per example, but have shape {np.shape(times)}.")
    given, read = np.asarray(times), np.empty(len(groups))
    for members in sequences_of(groups):
        read[members] = read_times(given[members], len(members))
    return read


def read_marks(name: str, given: Any, n: int) -> BoolArray:
    """Return one truth value per example, all True if nothing was given."""
    if given is None:
        return np.ones(n, dtype=bool)
    marks = np.asarray(given)
    if marks.shape != (n,) or marks.dtype != np.bool_:
        raise ValueError(
            f"{name} must hold True or False for each of {n} examples, but is an array of shape {marks.shape} and type "
            f"{marks.dtype}."
        )
    return marks


class quiet(warnings.catch_warnings):  # noqa: N801 - a context manager, named like a function
    """Leave out the warnings about single steps, which say nothing new here."""

    def __enter__(self) -> None:
        """Ignore them."""
        super().__enter__()
        for expected in (RejectedStepWarning, HighRankWarning, FewExamplesWarning):
            warnings.simplefilter("ignore", expected)
