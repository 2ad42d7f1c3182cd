"""How states start and move: the user's functions, and checks of what they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from kmcf.filter.clock import Drive
from kmcf.numerics.arrays import all_finite
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.interrupts import honoured
from kmcf.numerics.objects import Objects, as_objects, is_numeric, take
from kmcf.transitions.elapsed import needs_elapsed, takes_elapsed
from kmcf.trust.hull import Hull

Transition = Callable[..., Any]
Initial = Callable[[int, np.random.Generator], Any]


@dataclass(frozen=True, eq=False)
class Motion:
    """Draws initial states and moves states on."""

    transition: Transition | None
    """``(states, control, rng) -> states``, perhaps with ``elapsed``; None only for filters that can do without."""
    initial: Initial | None
    """``(size, rng) -> states``; None: i.i.d. draws from the example states."""
    examples: Objects
    """The example states, which also show what a state looks like."""
    angles: Sequence[int]
    """State columns that are angles."""
    forgiving: bool = False
    """Whether a transition that fails beyond the examples, where only pairs made up are, moves the nearest instead."""

    @property
    def state_shape(self) -> tuple[int, ...] | None:
        """Shape of one state; None if states are objects."""
        return None if isinstance(self.examples, list) else tuple(self.examples.shape[1:])

    def draw(self, size: int, rng: np.random.Generator) -> Objects:
        """Draw from p_init."""
        if self.initial is None:
            drawn = take(self.examples, rng.integers(len(self.examples), size=size))
        else:
            with _Noted("initial(size, rng)"), honoured():
                drawn = self.initial(size, rng)
        if is_numeric(self.examples):
            drawn = as_objects(drawn, "what initial(size, rng) returned")
        return self._checked(drawn, size, "initial(size, rng)")

    @cached_property
    def told_time(self) -> bool:
        """Whether the transition can be told how much time passed."""
        return takes_elapsed(self.transition)

    @cached_property
    def _needs_time(self) -> bool:
        return needs_elapsed(self.transition)

    def move(self, states: Objects, drive: Drive, rng: np.random.Generator, time: int) -> Objects:
        """Draw from the transition; it gets a copy, so that it may work in place."""
        try:
            return self._moved(states, drive, rng, time)
        except Exception:
            known = self._among_examples(states) if self.forgiving else None
            if known is None:
                raise
        return self._moved(known, drive, rng, time)

    @cached_property
    def hull(self) -> Hull | None:
        """Where the examples end; None where states are not numbers."""
        return Hull.of(self.examples, self.angles)

    def _among_examples(self, states: Objects) -> Objects | None:
        """Return states with the nearest example in place of each that is beyond them; None if none is."""
        outside = None if self.hull is None else self.hull.outside(states)
        if outside is None or not outside.any():
            return None
        known, (rows, examples) = states.copy(), (np.reshape(part, (len(part), -1)) for part in (states, self.examples))
        known[outside] = self.examples[cdist(rows[outside], examples).argmin(axis=1)]
        return known

    def _moved(self, states: Objects, drive: Drive, rng: np.random.Generator, time: int) -> Objects:
        assert self.transition is not None
        given, control = states.copy(), drive.control
        timed = {} if drive.elapsed is None or not self.told_time else {"elapsed": drive.elapsed}
        if not timed and self._needs_time:
            raise ValueError(f"your transition needs elapsed, but at step {time} no times were given: pass times=...")
        hint = " (no controls were given: pass controls=... if it needs them)" if control is None else ""
        with _Noted(f"transition(states, control, rng) at step {time}{hint}"), honoured():
            moved = self.transition(given, control, rng, **timed)
        return self._checked(moved, len(states), f"transition(states, control, rng) at step {time}")

    def _checked(self, states: Any, size: int, source: str) -> Objects:
        if not hasattr(states, "__len__"):
            raise TypeError(f"{source} returned {states!r}; it must return the {size} states.")
        if isinstance(self.examples, list):
            if len(states) != size:
                raise ValueError(f"{source} returned {len(states)} states, not {size}.")
            return list(states)
        if np.iscomplexobj(states):
            raise TypeError(f"{source} returned complex numbers; states are real.")
        try:
            numbers = np.array(states, dtype=np.float64)  # a copy: the user's function may reuse its array
        except (TypeError, ValueError):
            raise TypeError(f"{source} returned {type(states).__name__}, not an array of states.") from None
        expected = (size, *self.examples.shape[1:])
        if numbers.shape != expected:
            raise ValueError(f"{source} returned an array of shape {numbers.shape}; it must have shape {expected}.")
        if not all_finite(numbers):
            bad = int((~np.isfinite(numbers.reshape(size, -1))).any(axis=1).sum())
            raise ValueError(f"{source} returned NaN or infinity for {bad} of {size} states.")
        if len(self.angles):
            numbers = wrapped_columns(numbers, self.angles)
        numbers.flags.writeable = False
        return numbers


@dataclass(frozen=True)
class _Noted:
    """Notes on any exception which of the user's functions raised it."""

    source: str

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, Exception):
            error.add_note(f"raised by your {self.source}")


@dataclass(frozen=True, eq=False)
class OneMove:
    """Moves states once, without a control.

    Examples
    --------
    >>> OneMove(lambda states, control, rng: states + 1.0, ())(np.zeros((2, 1)), np.random.default_rng(0)).ravel()
    array([1., 1.])
    """

    transition: Transition
    angles: Sequence[int]
    """State columns that are angles."""
    examples: Objects | None = None
    """The example states, where a transition that fails beyond them is forgiven."""

    def __call__(self, states: Objects, rng: np.random.Generator) -> Objects:
        """Return states after a move of one unit of time."""
        drive = Drive(elapsed=1.0) if needs_elapsed(self.transition) else Drive()
        examples, forgiving = (states, False) if self.examples is None else (self.examples, True)
        return Motion(self.transition, None, examples, self.angles, forgiving).move(states, drive, rng, time=2)
