"""What a missing number means: that nothing is known, or that a sensor heard nothing.

A receiver out of reach gives no number, and that says something about the state. Such columns have a *floor*: NaN
stands for this value, at or below the smallest one heard, in examples and in use. ``"auto"`` decides by column: the
examples are cut into two halves, and whether a number is missing in one is predicted from the nearest states of the
other. Where that predicts better than the share of missing numbers alone does (by two standard errors of the Brier
score), silence depends on the state and gets a floor, a tenth of the column's range below its smallest number.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from kmcf.numerics.arrays import BoolArray, FloatArray, positive_or_one
from kmcf.numerics.circles import on_circles
from kmcf.numerics.objects import Objects, is_numeric

AUTO = "auto"
NEIGHBOURS = 10
"""How many of the nearest states predict whether a number is missing."""
STANDARD_ERRORS = 2.0
"""By how much their prediction must be better than that from the share alone."""
MARGIN = 0.1
"""How far below the smallest number a learnt floor is, as a share of the column's range."""


class Filling(NamedTuple):
    """What is done to observations before anything else looks at them."""

    floor: FloatArray
    """What NaN stands for, per column of the flattened observation; NaN where it means that nothing is known."""
    ignored: BoolArray
    """Columns that the examples do not know."""

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return observations (..., d) with silence filled in; those without any number that counts are all NaN.

        Examples
        --------
        >>> nan = np.nan
        >>> filling = Filling(np.array([nan, -100.0, nan]), np.array([False, False, True]))
        >>> filling(np.array([[1.0, nan, 2.0], [nan, nan, 2.0]]))
        array([[   1., -100.,   nan],
               [  nan,   nan,   nan]])
        """
        known = np.where(self.ignored, np.nan, values)
        absent = np.isnan(known)
        silent = absent & ~absent.all(axis=-1, keepdims=True) & ~self.ignored
        return np.where(silent, self.floor, known)


def check_floor(floor: Any) -> None:
    """Check that a floor is None, a finite number, "auto", or a sequence of these.

    Examples
    --------
    >>> check_floor([-100.0, None, "auto"])
    """
    parts = floor if isinstance(floor, list | tuple | np.ndarray) else [floor]
    for part in parts:
        number = isinstance(part, Real) and not isinstance(part, bool) and not np.isinf(float(part))
        if not (part is None or number or (isinstance(part, str) and part == AUTO)):
            raise ValueError(
                f"floor = {floor!r}; it must be a number, 'auto' or None, or a sequence of these with one entry per "
                "column of the observations."
            )


def learn_filling(
    floor: Any, states: Objects, observations: Objects, angles: Sequence[int] = (), ignored: BoolArray | None = None
) -> Filling | None:
    """Return what to do with missing numbers, given the setting and the examples; None if nothing.

    Parameters
    ----------
    floor : None, number, "auto" or a sequence of these
        As the user gave it.
    states, observations : arrays
        The examples, with NaN where numbers are missing.
    angles : sequence of int
        State columns that are angles.
    ignored : array of bool, optional
        Columns that count as unknown. None: none.

    Examples
    --------
    >>> learn_filling([None, -100.0], np.zeros((2, 1)), np.array([[1.0, np.nan], [2.0, -60.0]])).floor
    array([  nan, -100.])
    """
    check_floor(floor)
    if floor is None and (ignored is None or not ignored.any()):
        return None
    if not is_numeric(observations):
        raise ValueError("floor is for observations that are vectors of numbers.")
    rows = np.asarray(observations, dtype=np.float64).reshape(len(observations), -1)
    wanted = _per_column(floor, rows.shape[1])
    numbers = np.array([np.nan if part is None or part == AUTO else float(part) for part in wanted])
    unknown = np.zeros(rows.shape[1], dtype=bool) if ignored is None else ignored
    heard = np.isfinite(rows).any(axis=0) & ~unknown
    numbers[~heard] = np.nan
    _check_below(numbers, rows, heard)
    automatic = np.array([isinstance(part, str) for part in wanted]) & heard
    if automatic.any():
        numbers[automatic] = _learnt_floors(states, rows[:, automatic], angles)
    return Filling(numbers, unknown)


def _per_column(floor: Any, columns: int) -> list[Any]:
    if not isinstance(floor, list | tuple | np.ndarray):
        return [floor] * columns
    if len(floor) != columns:
        raise ValueError(f"floor has {len(floor)} entries, but the observations have {columns} columns.")
    return list(floor)


def _check_below(numbers: FloatArray, rows: FloatArray, heard: BoolArray) -> None:
    lowest = np.full(len(numbers), np.inf)
    lowest[heard] = np.nanmin(rows[:, heard], axis=0)
    above = np.flatnonzero(numbers > lowest)
    if len(above):
        first = above[0]
        raise ValueError(
            f"the floor of column {first} is {numbers[first]:g}, but examples hold numbers down to {lowest[first]:g} "
            "there: silence lies at or below the smallest number heard."
        )


def _learnt_floors(states: Objects, rows: FloatArray, angles: Sequence[int]) -> FloatArray:
    """Return a floor for every column whose missing numbers depend on the state; NaN for the others."""
    if not is_numeric(states):
        raise ValueError(
            "floor='auto' predicts silence from states that are vectors of numbers; give a number instead."
        )
    meant = silence_depends_on_state(np.asarray(states, dtype=np.float64), np.isnan(rows), angles)
    lowest, highest = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    return np.where(meant, lowest - MARGIN * (highest - lowest), np.nan)


def silence_depends_on_state(states: FloatArray, missing: BoolArray, angles: Sequence[int] = ()) -> BoolArray:
    """Say for every column whether the state predicts which numbers are missing, from one half to the other.

    Parameters
    ----------
    states : array (n, ...)
        The example states.
    missing : array (n, d) of bool
        Which numbers are missing.
    angles : sequence of int
        State columns that are angles.

    Examples
    --------
    >>> states = np.random.default_rng(0).uniform(size=(100, 1))
    >>> by_place = states > 0.5
    >>> by_chance = np.random.default_rng(1).uniform(size=(100, 1)) > 0.5
    >>> silence_depends_on_state(states, np.hstack([by_place, by_chance]))
    array([ True, False])
    """
    from sklearn.neighbors import NearestNeighbors

    features = on_circles(states.reshape(len(states), -1), angles)
    spread = features.std(axis=0)
    features = features / positive_or_one(spread)
    first, second = np.array_split(np.arange(len(states)), 2)
    gains = []
    for known, held_out in ((first, second), (second, first)):
        if not len(known):
            continue
        nearest = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(known))).fit(features[known])
        indices = nearest.kneighbors(features[held_out], return_distance=False)
        truth = missing[held_out].astype(np.float64)
        by_state = missing[known][indices].mean(axis=1)
        by_share = missing[known].mean(axis=0)
        gains.append((by_share - truth) ** 2 - (by_state - truth) ** 2)
    gain = np.concatenate(gains)
    return np.asarray(gain.mean(axis=0) > STANDARD_ERRORS * gain.std(axis=0) / np.sqrt(len(gain)))
