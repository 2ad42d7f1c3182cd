"""Walks over left-out examples: what a run of an unchanged sensor looks like to a filter that does not know it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from kmcf.adaptation.change_signals import Signals
from kmcf.filter.clock import Drive
from kmcf.filter.motion import Motion
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects, take
from kmcf.trust.rehearsal import random_walk

FOLDS = 3
"""A third of the examples is left out in turn."""


class Data(NamedTuple):
    """A sequence of observations, and what drove the moves."""

    observations: Any
    controls: Any
    times: Any

    def signals(self, signals: Signals, stream: int) -> FloatArray:
        """Return running signals along it."""
        return signals.along(*self, stream)


def walked(
    flt: Any, data: Sequence[Data], count: int, tick: Callable[[], object] = lambda: None
) -> Iterator[FloatArray]:
    """Yield the largest running signals of walks over left-out examples, as long and driven as the data."""
    states, observations = flt.learnt_.examples
    blocks = np.array_split(np.arange(len(states)), 4 * FOLDS)  # neighbours in a recording are alike
    for fold in range(FOLDS):
        left_out = np.concatenate(blocks[fold::FOLDS])
        kept = np.setdiff1d(np.arange(len(states)), left_out)
        other = clone(flt).set_params(random_state=flt.seed_).fit(take(states, kept), take(observations, kept))
        signals = Signals.of(other)
        rng = np.random.default_rng(np.random.SeedSequence(flt.seed_, spawn_key=(1, 0, fold)))
        for walk in range(fold, count, FOLDS):
            parts = []
            for part in data:
                length = len(part.observations)
                seen = take(observations, walk_over(flt, states, left_out, length, part[1:], rng))
                gone = [flt.reader_.one(y) is None for y in part.observations]
                silent = [None if missing else one for one, missing in zip(seen, gone, strict=True)]
                parts.append(part._replace(observations=silent).signals(signals, walk))
            yield largest(parts)
            tick()


def largest(tables: Sequence[FloatArray]) -> FloatArray:
    """Return the largest value of each running signal along sequences; NaN where it is never known.

    Examples
    --------
    >>> largest([np.array([[1.0, np.nan]]), np.array([[3.0, np.nan], [2.0, np.nan]])])
    array([ 3., nan])
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(np.nanmax(np.concatenate(tables), axis=0))


def walk_over(
    flt: Any, states: Objects, places: IntArray, length: int, drives: tuple[Any, Any], rng: np.random.Generator
) -> IntArray:
    """Walk over some examples: each next one is that nearest to a draw from the transition.

    Parameters
    ----------
    flt : filter
        Whose transition, start and kernel on states are used.
    states : array or list
        All example states.
    places : array of int
        Over which of them to walk.
    length : int
        How many steps.
    drives : pair
        Controls and times of the steps, or None.
    rng : Generator
        Random numbers.
    """
    kernel = flt.state_kernel_.on_examples(take(states, places))
    motion = Motion(flt.transition, flt.initial, states, flt.angles)
    controls, times = drives
    stand_in = random_walk(states, flt.angles)
    path = np.empty(length, dtype=np.intp)
    path[0] = (
        rng.integers(len(places)) if flt.initial is None else kernel.log_against(_drawn(motion, rng))[:, 0].argmax()
    )
    for t in range(1, length):
        here = take(states, places[path[t - 1 : t]])
        elapsed = None if times is None else float(times[t]) - float(times[t - 1])
        drive = Drive(control=None if controls is None else controls[t], elapsed=elapsed)
        try:
            moved = motion.move(here, drive, rng, t + 1)
        except Exception:  # whatever the user's function raises on one state and a NumPy generator
            if stand_in is None:
                raise
            moved = stand_in(here, rng)
        path[t] = kernel.log_against(moved)[:, 0].argmax()
    return places[path]


def _drawn(motion: Motion, rng: np.random.Generator) -> Objects:
    try:
        return motion.draw(1, rng)
    except Exception:  # an initial draw that takes a JAX key
        return take(motion.examples, rng.integers(len(motion.examples), size=1))
