"""Jumps to anywhere: the state is drawn afresh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmcf.numerics.arrays import Array, FloatArray, array_namespace
from kmcf.numerics.circles import wrapped_columns
from kmcf.numerics.random_numbers import Randomness, normal, split, uniform
from kmcf.transitions.base import Transition
from kmcf.transitions.pairs import Pairs
from kmcf.transitions.random_walk import log_steps
from kmcf.transitions.states import states_of

_BLOCK = 1 << 20  # differences formed at once


class Jump(Transition):
    """A jump to one of several states, all equally likely, plus normal noise. Controls and times are not used.

    As a rare part of a :class:`Mixture` it lets a lost filter recover. If no states were given, :meth:`fit` takes the
    recorded ones; if no scale was given, it uses Scott's rule, n^(−1/(d+4)) times the states' standard deviation.

    Parameters
    ----------
    states : array (n, d), optional
        Where jumps lead, for instance the example states.
    scale : float or array (d,), optional
        Standard deviation of the noise. None: zero until learnt.
    angles : sequence of int
        Columns that are angles in radians.

    Examples
    --------
    >>> jump = Jump([[1.0], [2.0]])
    >>> sorted(set(jump(np.zeros((50, 1)), None, np.random.default_rng(0)).ravel().tolist()))
    [1.0, 2.0]
    """

    name = "jump"
    memoryless = True

    def __init__(
        self, states: Any = None, scale: float | FloatArray | Sequence[float] | None = None, angles: Sequence[int] = ()
    ) -> None:
        self.states = states
        self.scale = scale
        self.angles = angles

    def __call__(self, states: Array, control: Any, rng: Randomness, elapsed: Any = None) -> Array:
        """Draw a place and noise for each state, regardless of where it was."""
        xp = array_namespace(states, rng)
        states = xp.asarray(states)
        places = self._places(states.shape[1])
        choice, blur = split(rng, 2)
        index = (uniform(choice, states.shape[:1]) * len(places)).astype(int)
        noise = self._scale(states.shape[1]) * normal(blur, states.shape)
        return wrapped_columns(xp.asarray(places)[index] + noise, self.angles)

    def log_density(self, next: Any, previous: Any = None, control: Any = None, elapsed: Any = None) -> FloatArray:
        """Return the log of the mean of the normal densities around the places."""
        after = states_of(next, "next")
        places = self._places(after.shape[1])
        scale = self._scale(after.shape[1])
        rows = max(1, _BLOCK // max(1, places.size))
        logs = []
        for i in range(0, len(after), rows):
            steps = (after[i : i + rows, None] - places).reshape(-1, after.shape[1])
            logs.append(np.logaddexp.reduce(log_steps(steps, scale, self.angles).reshape(-1, len(places)), axis=1))
        return np.asarray(np.concatenate(logs) - np.log(len(places)))

    def _learn(self, pairs: Pairs, trim: float) -> dict[str, Any]:
        learnt: dict[str, Any] = {} if self.states is not None else {"states": pairs.next.copy()}
        if self.scale is None:
            places = learnt.get("states", self.states)
            count, width = np.shape(states_of(places, "states"))
            learnt["scale"] = count ** (-1.0 / (width + 4)) * np.std(states_of(places, "states"), axis=0)
        return learnt

    def _places(self, width: int) -> FloatArray:
        if self._value("states") is None:
            raise ValueError("Jump has no states to jump to: give them, or call fit(sequences).")
        places = states_of(self._value("states"), "Jump's states")
        if places.shape[1] != width or len(places) == 0:
            raise ValueError(f"Jump leads to states of shape {places.shape}, but states have {width} columns.")
        return places

    def _scale(self, width: int) -> FloatArray:
        return np.broadcast_to(np.zeros(1) if self._value("scale") is None else self._noise("scale"), (width,))
