"""Reading recorded sequences as pairs of successive states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from kmcf.numerics.arrays import BoolArray, FloatArray


class Pairs(NamedTuple):
    """Moves: n states, the states that followed, what drove the move, and how long it took."""

    previous: FloatArray
    next: FloatArray
    controls: FloatArray | None
    elapsed: FloatArray | None = None
    """Time from each state to the next, (n,); None if it is not known."""

    def chosen(self, kept: BoolArray) -> Pairs:
        """Return some of the moves."""
        driven = None if self.controls is None else self.controls[kept]
        elapsed = None if self.elapsed is None else self.elapsed[kept]
        return Pairs(self.previous[kept], self.next[kept], driven, elapsed)

    def needed_controls(self, owner: str) -> FloatArray:
        """Return the controls; an error if there are none."""
        if self.controls is None:
            raise ValueError(f"{owner} learns from states and controls: call fit(sequences, controls).")
        return self.controls


def read_pairs(sequences: Any, controls: Any = None, times: Any = None) -> Pairs:
    """Collect the moves of one or several sequences; moves with anything unknown (NaN) are left out.

    Examples
    --------
    >>> read_pairs([[1.0, 2.0, 4.0], [7.0, 8.0]]).next.ravel().tolist()
    [2.0, 4.0, 8.0]
    >>> read_pairs([[1.0, 2.0, 4.0]], times=[[0.0, 0.5, 2.0]]).elapsed.tolist()
    [0.5, 1.5]
    """
    parts = list(_moves(sequences, controls, times))
    widths = {part.previous.shape[1] for part in parts}
    if len(widths) > 1:
        raise ValueError(f"the sequences have states of different widths: {sorted(widths)}.")
    for name in ("controls", "elapsed"):
        if len({getattr(part, name) is None for part in parts}) > 1:
            what = "controls" if name == "controls" else "times"
            raise ValueError(f"some of the sequences have {what} and others have none.")
    if sum(len(part.previous) for part in parts) == 0:
        raise ValueError("there are no two successive known states to learn from.")
    driven = [part.controls for part in parts if part.controls is not None]
    elapsed = [part.elapsed for part in parts if part.elapsed is not None]
    return Pairs(
        np.concatenate([part.previous for part in parts]),
        np.concatenate([part.next for part in parts]),
        np.concatenate(driven) if driven else None,
        np.concatenate(elapsed) if elapsed else None,
    )


def _moves(sequences: Any, controls: Any, times: Any) -> Iterator[Pairs]:
    alone = hasattr(sequences, "states") or hasattr(sequences, "__array__")  # of NumPy or JAX, or a data frame
    several = [sequences] if alone else list(sequences)
    driven = _beside(several, controls, alone, "controls", "controls")
    clocks = _beside(several, times, alone, "time", "times")
    for number, (sequence, control, clock) in enumerate(zip(several, driven, clocks, strict=True)):
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
        elapsed = None if clock is None else _elapsed(clock, len(states), number)
        if elapsed is not None:
            moves = moves & np.isfinite(elapsed)
        yield Pairs(states[:-1], states[1:], None if given is None else given[1:], elapsed).chosen(moves)


def _beside(several: list[Any], given: Any, alone: bool, attribute: str, name: str) -> list[Any]:
    """Return what was given beside each sequence; if nothing was, what recordings bring themselves."""
    if given is None:
        return [getattr(sequence, attribute, None) for sequence in several]
    beside = [given] if alone else list(given)
    if len(beside) != len(several):
        raise ValueError(f"{len(several)} sequences but {len(beside)} sequences of {name}.")
    return beside


def _elapsed(times: Any, length: int, number: int) -> FloatArray:
    """Return the times from step to step; NaN where one of the two is unknown."""
    clock = np.asarray(times, dtype=np.float64)
    if clock.shape != (length,):
        raise ValueError(f"sequence {number} has {length} states but times of shape {clock.shape}.")
    elapsed = np.diff(clock)
    back = np.flatnonzero(elapsed <= 0)
    if len(back):
        late, early = clock[back[0]], clock[back[0] + 1]
        raise ValueError(f"sequence {number}: time {early:g} does not come after {late:g}; times must increase.")
    return elapsed


def _known(rows: FloatArray) -> BoolArray:
    return np.asarray(np.isfinite(rows.reshape(len(rows), -1)).all(axis=1))
