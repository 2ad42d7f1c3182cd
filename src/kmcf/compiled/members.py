"""The runs of a batch's sequences, and their beliefs, made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, overload

import numpy as np

from kmcf.filter.results.belief import Belief
from kmcf.filter.results.run import FilterRun
from kmcf.numerics.arrays import FloatArray


class Columns(Protocol):
    """What the runs of a batch are made from."""

    angles: tuple[int, ...]
    lengths: Any

    def of_sequence(self, name: str, b: int) -> Any:
        """Return one column for one sequence."""
        ...

    def beliefs(self, b: int) -> Iterator[Belief]:
        """Yield the beliefs of one sequence."""
        ...

    def belief(self, b: int, t: int) -> Belief:
        """Return one belief."""
        ...


class Members(Sequence[FilterRun]):
    """The runs of a batch's sequences, made when asked for."""

    def __init__(self, summaries: Columns, *, keep: bool) -> None:
        self._summaries = summaries
        self._keep = keep

    def __len__(self) -> int:
        return len(self._summaries.lengths)

    @overload
    def __getitem__(self, index: int) -> FilterRun: ...
    @overload
    def __getitem__(self, index: slice) -> list[FilterRun]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"sequence {index} of a batch of {len(self)}.")
        return self._run(int(index) % len(self))

    def _run(self, b: int) -> FilterRun:
        beliefs = Beliefs(self._summaries, b) if self._keep else None
        return FilterRun(SequenceSummaries(self._summaries, b), angles=self._summaries.angles, beliefs=beliefs)


class SequenceSummaries:
    """The summary columns of one sequence of a batch."""

    def __init__(self, batch: Columns, b: int) -> None:
        self._batch = batch
        self._b = b

    @property
    def batch(self) -> Columns:
        """The summaries of the whole batch."""
        return self._batch

    def column(self, name: str) -> Any:
        """Return a column, (T, ...)."""
        return self._batch.of_sequence(name, self._b)


class Beliefs(Sequence[Belief]):
    """The beliefs of one sequence, made when asked for."""

    def __init__(self, batch: Columns, b: int) -> None:
        self._batch = batch
        self._b = b

    def __len__(self) -> int:
        return int(self._batch.lengths[self._b])

    @overload
    def __getitem__(self, index: int) -> Belief: ...
    @overload
    def __getitem__(self, index: slice) -> list[Belief]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(self)[index]
        if not -len(self) <= index < len(self):
            raise IndexError(f"step {index} of a run with {len(self)} steps (they count from 0).")
        return self._batch.belief(self._b, int(index) % len(self))

    def __iter__(self) -> Iterator[Belief]:
        return self._batch.beliefs(self._b)

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)


def stacked(parts: Sequence[Any]) -> FloatArray:
    """Stack the sequences' columns, with NaN after the end of the shorter ones.

    Examples
    --------
    >>> stacked([np.array([1.0, 2.0]), np.array([3.0])])
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    whole = np.full((len(parts), max(len(part) for part in parts), *parts[0].shape[1:]), np.nan)
    for b, part in enumerate(parts):
        whole[b, : len(part)] = part
    return whole
