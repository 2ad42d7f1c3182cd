"""Examples with missing numbers: which columns and which examples serve an observation.

An observation with some columns missing is compared with the examples that have all the others. Where these are too
few, fewer than ten or a tenth of those that have any of the columns, the column that the examples lack most often is
left out, until there are enough.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kmcf.filter.fitting.silence import Filling, learn_filling
from kmcf.filter.inputs import Accepts, ObservationReader, check_numbers
from kmcf.kernels import Kernel
from kmcf.numerics.arrays import Array, BoolArray, IntArray
from kmcf.numerics.growing import Growing
from kmcf.numerics.objects import Objects, is_numeric, take
from kmcf.support.alerts import FewExamplesWarning, warn_user

FEWEST = 10
SHARE = 0.1
"""At least so many examples, and this share of those that have any of the columns, serve an observation."""


class Read(NamedTuple):
    """Examples as they were read."""

    states: Objects
    observations: Objects
    filling: Filling | None = None
    """What is done to observations first."""
    numbers: IntArray | None = None
    """Which of the examples given these are; None: all."""


def read_with_gaps(read: tuple[Objects, Objects], accepts: Accepts, floor: Any, angles: Sequence[int]) -> Read:
    """Fill in what silence stands for; leave out examples without any number, and columns that hardly any has.

    Parameters
    ----------
    read : pair
        States and observations.
    accepts : Accepts
        Whether the filter can do with some of the columns, or its kernel with NaN.
    floor : None, number, "auto" or a sequence of these
        As the user gave it.
    angles : sequence of int
        State columns that are angles.
    """
    states, observations = read
    if floor is None and not (accepts.columns and is_numeric(observations) and np.isnan(observations).any()):
        return Read(states, observations)
    filling, given = None, np.arange(len(states))
    if accepts.columns and is_numeric(observations):
        states, observations, given = _some_number(states, observations, given)
        ignored = ~known_columns(observations)
        if ignored.all():
            raise ValueError("no column of the observations holds numbers of two examples: there is nothing to learn.")
        filling = learn_filling(floor, states, observations, angles, ignored)
    else:
        filling = learn_filling(floor, states, observations, angles)
    if filling is not None:
        observations = filling(rows_of(observations)).reshape(observations.shape)
    if accepts.columns:
        states, observations, given = _some_number(states, observations, given)
        return Read(states, observations, filling, given)
    check_numbers(observations, "observations", accepts)
    return Read(states, observations, filling)


def read_more(read: tuple[Objects, Objects], reader: ObservationReader) -> tuple[Objects, Objects]:
    """Fill in what silence stands for in further examples; leave out those without any number."""
    states, observations = read
    if not is_numeric(observations) or (reader.filling is None and not np.isnan(observations).any()):
        return read
    observations = reader.filled(observations)
    if not reader.accepts.columns:
        check_numbers(observations, "observations", reader.accepts)
        return states, observations
    states, observations, _ = _some_number(states, observations, np.arange(len(states)))
    if not len(states):
        raise ValueError("none of the new examples has a number in a column that the filter knows.")
    return states, observations


def _some_number(states: Objects, observations: Objects, numbers: IntArray) -> tuple[Objects, Objects, IntArray]:
    """Leave out the examples that have no number; return their numbers, too."""
    some = np.flatnonzero(~np.isnan(rows_of(observations)).all(axis=1))
    if len(some) == len(observations):
        return states, observations, numbers
    return take(states, some), take(observations, some), numbers[some]


class Served(NamedTuple):
    """What serves observations of one pattern."""

    columns: IntArray
    """The columns that are compared."""
    rows: IntArray
    """The examples that have all of them."""
    left_out: int
    """How many columns that were observed are not compared, for lack of examples."""


def rows_of(observations: Objects) -> Array:
    """Return numeric observations as rows of numbers, (n, d)."""
    return observations.reshape(len(observations), math.prod(observations.shape[1:]))


def serving(observations: Objects, pattern: BoolArray) -> Served:
    """Choose columns and examples for observations in which the columns of ``pattern`` are known.

    Parameters
    ----------
    observations : array (n, ...)
        The examples.
    pattern : array (d,) of bool
        Which columns are known, at least one; at least one example has each.

    Examples
    --------
    >>> nan = np.nan
    >>> serving(np.array([[1.0, 5.0], [2.0, nan], [3.0, 7.0]]), np.array([False, True]))
    Served(columns=array([1]), rows=array([0, 2]), left_out=0)
    """
    columns = np.flatnonzero(pattern)
    absent = np.isnan(rows_of(observations)[:, columns])
    lacking = absent.sum(axis=1)
    some = int((lacking < len(columns)).sum())
    enough = max(min(FEWEST, some), int(np.ceil(SHARE * some)))
    by_column = absent.sum(axis=0)
    kept = np.ones(len(columns), dtype=bool)
    while int((lacking == 0).sum()) < enough and kept.sum() > 1:
        worst = int(np.argmax(np.where(kept, by_column, -1)))
        kept[worst] = False
        lacking = lacking - absent[:, worst]
    return Served(columns[kept], np.flatnonzero(lacking == 0), int((~kept).sum()))


def few_examples(served: Served, who: str) -> None:
    """Warn where columns were left out for lack of examples."""
    if served.left_out:
        warn_user(
            f"{who} {len(served.columns) + served.left_out} columns, but too few examples have numbers in all of them: "
            f"{served.left_out} were left out, and {len(served.rows)} examples have the others. If silence means "
            "something, set floor=.",
            FewExamplesWarning,
        )


def known_columns(observations: Objects) -> BoolArray:
    """Say which columns at least two examples have, so that something can be compared."""
    return np.asarray((~np.isnan(rows_of(observations))).sum(axis=0) >= 2)


@dataclass(frozen=True)
class Incomplete:
    """Examples of which some numbers are missing."""

    states: Growing
    observations: Growing
    served: Served
    """What serves observations without gaps: the examples of the filter's own rule."""

    @classmethod
    def complete_so_far(cls, states: Growing, observations: Growing) -> Incomplete:
        """Take examples that lack nothing, before others are added that do."""
        every = np.arange(rows_of(observations.objects).shape[1]), np.arange(len(states.objects))
        return cls(states, observations, Served(*every, left_out=0))

    @property
    def all_serve(self) -> bool:
        """Whether the filter's own rule uses all examples: what is missing are whole columns."""
        return len(self.served.rows) == len(self.states.objects)

    def complete(self) -> tuple[Objects, Objects]:
        """Return the examples of the filter's own rule."""
        return selected(self.states.objects, self.observations.objects, self.served)

    def extended(self, states: Objects, observations: Objects) -> tuple[Incomplete, tuple[Objects, Objects]]:
        """Return the same with further examples, and those of them that the filter's own rule can use."""
        absent = np.isnan(rows_of(observations)[:, self.served.columns]).any(axis=1)
        new = self.served._replace(rows=np.flatnonzero(~absent))
        rows = np.concatenate([self.served.rows, len(self.states.objects) + new.rows])
        grown = replace(
            self,
            states=self.states.append(states),
            observations=self.observations.append(observations),
            served=self.served._replace(rows=rows),
        )
        return grown, selected(states, observations, new)


def separated(
    states: Objects, observations: Objects, accepts: Accepts, learnt_from: int | None = None
) -> tuple[Incomplete | None, tuple[Objects, Objects]]:
    """Return all examples, if some lack numbers (None otherwise), and those that the filter's own rule can use.

    Parameters
    ----------
    states, observations : arrays or lists
        The examples; none lacks all numbers.
    accepts : Accepts
        Whether the filter can do with some of the columns; where its kernel can handle NaN, nothing is missing.
    learnt_from : int, optional
        The first examples, by which columns are chosen. None: all.
    """
    only_some = accepts.columns and not accepts.missing and is_numeric(observations)
    if not only_some or not np.isnan(observations).any():
        return None, (states, observations)
    first = observations[:learnt_from]
    served = serving(first, known_columns(first))
    rows = np.flatnonzero(~np.isnan(rows_of(observations)[:, served.columns]).any(axis=1))
    found = Incomplete(Growing(states), Growing(observations), served._replace(rows=rows))
    return found, found.complete()


def accepted(kernel: Kernel | None) -> Accepts:
    """Say what a filter accepts, given its kernel on observations (None: chosen from the examples)."""
    return Accepts.of(kernel)._replace(columns=kernel is None or kernel.restrictable)


def on_columns(kernel: Kernel | None, columns: IntArray) -> Kernel | None:
    """Return a kernel, or None, for observations of which only some columns are known."""
    if kernel is None:
        return None
    restricted = kernel.restricted(columns)
    if restricted is None:
        raise ValueError(
            "an observation has none of the columns that its kernel compares; pass None to skip such observations."
        )
    return restricted


def restored_reader(stored: Mapping[str, Any], kernel: Kernel | None) -> ObservationReader:
    """Restore the reader of a filter from what a file kept, and from its kernel."""
    filling = stored.get("filling_")
    read = ObservationReader.of(None, stored["observations_"], accepted(kernel))
    names = tuple(str(name) for name in stored.get("columns_", ()))
    filled = None if filling is None else Filling(*filling)
    return replace(read, flat=bool(stored["flat_"]), filling=filled, names=names)


def selected(states: Objects, observations: Objects, served: Served) -> tuple[Objects, Any]:
    """Return the examples and columns that serve a pattern; the states themselves where they are all."""
    every = len(served.rows) == len(states)
    chosen = np.ascontiguousarray(rows_of(observations)[np.ix_(served.rows, served.columns)])
    chosen.flags.writeable = False
    return states if every else take(states, served.rows), chosen
