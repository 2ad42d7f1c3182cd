"""The beliefs that a run keeps: in a pickle they are columns, and each is made again when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from kmcf.embedding.lazy_weights import LazyWeights
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.step_report import StepReport
from kmcf.support.packing import Rows, State, pack


class KeptBeliefs(Sequence[Belief]):
    """Beliefs in order.

    Parameters
    ----------
    beliefs : sequence of Belief, or Rows
        Those of a run, or what a pickle held of them.

    Examples
    --------
    >>> import pickle
    >>> import numpy as np
    >>> kept = KeptBeliefs([Belief(np.zeros((2, 1)), np.array([0.5, 0.5]), time=t) for t in (1, 2, 3)])
    >>> again = pickle.loads(pickle.dumps(kept))
    >>> again[-1].time, again[-1] is again[2], len(again[:2])
    (3, True, 2)
    """

    def __init__(self, beliefs: Sequence[Belief] | Rows) -> None:
        self._rows = beliefs if isinstance(beliefs, Rows) else None
        self._made: list[Belief | None] = [None] * beliefs.size if isinstance(beliefs, Rows) else list(beliefs)

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, index: int) -> Belief: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Belief, ...]: ...
    def __getitem__(self, index: int | slice) -> Belief | tuple[Belief, ...]:
        if isinstance(index, slice):
            return tuple(self[k] for k in range(*index.indices(len(self))))
        found = self._made[index]
        if found is None:
            assert self._rows is not None
            found = self._made[index] = self._rows.at(index)
        return found

    def packed(self, state: State) -> Rows:
        """Return the beliefs as columns."""
        return pack(list(self), state)

    def __reduce__(self) -> tuple[Any, ...]:
        return KeptBeliefs, (self.packed(complete),)


def complete(thing: Any) -> Mapping[str, Any] | None:
    """Return what a pickle keeps of a belief and what is in it: its weights rather than what could form them."""
    if isinstance(thing, Belief) and type(thing).__reduce__ is object.__reduce__:
        return thing.__getstate__()
    return parts_of(thing)


def parts_of(thing: Any) -> Mapping[str, Any] | None:
    """Return what reports and unformed weights are made of; None for anything else."""
    return vars(thing) if isinstance(thing, StepReport | LazyWeights) else None


class LentBeliefs(Mapping[int, Belief]):
    """Some of the beliefs that are kept elsewhere, by numbers of their own."""

    def __init__(self, kept: KeptBeliefs, places: Mapping[int, int]) -> None:
        self._kept = kept
        self._places = dict(places)

    def __getitem__(self, number: int) -> Belief:
        return self._kept[self._places[number]]

    def __iter__(self) -> Iterator[int]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
