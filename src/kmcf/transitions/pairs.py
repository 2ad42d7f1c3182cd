"""Reading recorded sequences as pairs of successive states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from kmcf.numerics.arrays import BoolArray, FloatArray


class Pairs(NamedTuple):
    """Moves: n states, the states that followed, and what drove the move."""

    previous: FloatArray
    next: FloatArray
    controls: FloatArray | None

    def chosen(self, kept: BoolArray) -> Pairs:
        """Return some of the moves."""
        return Pairs(self.previous[kept], self.next[kept], None if self.controls is None else self.controls[kept])

    def needed_controls(self, owner: str) -> FloatArray:
        """Return the controls; an error if there are none."""
        if self.controls is None:
            raise ValueError(f"{owner} learns from states and controls: call fit(sequences, controls).")
        return self.controls


def read_pairs(sequences: Any, controls: Any = None) -> Pairs:
    """Collect the moves of one or several sequences; moves with anything unknown (NaN) are left out.

    Examples
    --------
    >>> read_pairs([[1.0, 2.0, 4.0], [7.0, 8.0]]).next.ravel().tolist()
    [2.0, 4.0, 8.0]
    """
    parts = list(_moves(sequences, controls))
    widths = {part.previous.shape[1] for part in parts}
    if len(widths) > 1:
        raise ValueError(f"the sequences have states of different widths: {sorted(widths)}.")
    with_control = {part.controls is not None for part in parts}
    if len(with_control) > 1:
        raise ValueError("some of the sequences have controls and others have none.")
    if sum(len(part.previous) for part in parts) == 0:
        raise ValueError("there are no two successive known states to learn from.")
    driven = [part.controls for part in parts if part.controls is not None]
    return Pairs(
        np.concatenate([part.previous for part in parts]),
        np.concatenate([part.next for part in parts]),
        np.concatenate(driven) if driven else None,
    )


def _moves(sequences: Any, controls: Any) -> Iterator[Pairs]:
    alone = isinstance(sequences, np.ndarray) or hasattr(sequences, "states")
    several = [sequences] if alone else list(sequences)
    if controls is None:
        driven = [getattr(sequence, "controls", None) for sequence in several]
    else:
        driven = [controls] if alone else list(controls)
    if len(driven) != len(several):
        raise ValueError(f"{len(several)} sequences but {len(driven)} sequences of controls.")
    for number, (sequence, control) in enumerate(zip(several, driven, strict=True)):
        states = np.asarray(getattr(sequence, "states", sequence), dtype=np.float64)
        states = states[:, None] if states.ndim == 1 else states
        if states.ndim != 2 or len(states) == 0:
            raise ValueError(f"sequence {number} has the shape {states.shape}; states over time are (T, d).")
        given = None if control is None else np.asarray(control, dtype=np.float64)
        if given is not None and len(given) != len(states):
            raise ValueError(f"sequence {number} has {len(states)} states but {len(given)} controls.")
        moves = _known(states)[:-1] & _known(states)[1:]
        if given is not None:
            moves = moves & _known(given)[1:]
        yield Pairs(states[:-1], states[1:], None if given is None else given[1:]).chosen(moves)


def _known(rows: FloatArray) -> BoolArray:
    return np.asarray(np.isfinite(rows.reshape(len(rows), -1)).all(axis=1))
