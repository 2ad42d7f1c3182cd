"""Many objects of a few kinds as columns: pickled as some arrays, and made again one by one, when they are asked for.

Pickling thousands of small objects takes longer than computing them. Here objects that have the same attributes, of the
same types, are taken apart: what is the same for all of them is kept once, numbers and arrays of one shape are stacked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

State = Callable[[Any], Mapping[str, Any] | None]
"""Returns what an object is made of, by name; None for objects that are not taken apart."""


class Column(Protocol):
    """One attribute of many objects."""

    def at(self, row: int) -> Any:
        """Return that of one of them."""


@dataclass(frozen=True)
class Same:
    """What all have in common."""

    value: Any

    def at(self, _row: int) -> Any:
        """Return it."""
        return self.value


@dataclass(frozen=True)
class Listed:
    """Anything else."""

    values: Sequence[Any]

    def at(self, row: int) -> Any:
        """Return one of them."""
        return self.values[row]


@dataclass(frozen=True)
class Numbers:
    """Numbers of one type: Python's, or NumPy's."""

    values: Any
    python: bool

    def at(self, row: int) -> Any:
        """Return one of them, of the same type as before."""
        return self.values[row].item() if self.python else self.values[row]


@dataclass(frozen=True)
class Stacked:
    """Arrays of one shape."""

    values: Any
    writeable: bool

    def at(self, row: int) -> Any:
        """Return a copy of one of them, so that it does not hold on to the others."""
        array = self.values[row].copy()
        array.flags.writeable = self.writeable
        return array


class Like(NamedTuple):
    """Objects with the same attributes, of the same types."""

    kind: type
    names: tuple[str, ...]
    """Of the attributes; named tuples do without."""
    columns: tuple[Column, ...]

    def at(self, row: int) -> Any:
        """Make one of them."""
        values = [column.at(row) for column in self.columns]
        if issubclass(self.kind, tuple):
            return tuple.__new__(self.kind, values)
        made: Any = object.__new__(self.kind)
        made.__dict__.update(zip(self.names, values, strict=True))
        return made


class Rows(NamedTuple):
    """Objects of several kinds, in order."""

    groups: tuple[Column, ...]
    places: tuple[tuple[int, int], ...]
    """Of each object: its group, and its row there."""

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self.places)

    def at(self, row: int) -> Any:
        """Make one of them."""
        group, place = self.places[row]
        return self.groups[group].at(place)


def pack(objects: Sequence[Any], state: State) -> Rows:
    """Take objects apart.

    Parameters
    ----------
    objects : sequence
        Whose state, set as attributes of a new object (or as the entries of a named tuple), makes them again.
    state : callable
        Says what they are made of; asked again about what is found in there.

    Examples
    --------
    >>> class Point:
    ...     def __init__(self, name, x):
    ...         self.name, self.x = name, x
    >>> packed = pack([Point("a", 1.0), Point("a", 2.0)], lambda thing: getattr(thing, "__dict__", None))
    >>> packed.groups[0].columns
    (Same(value='a'), Numbers(values=array([1., 2.]), python=True))
    >>> packed.at(1).x
    2.0
    """
    parts = [state(one) for one in objects]
    numbers: dict[Any, int] = {}
    groups: list[list[int]] = []
    places: list[tuple[int, int]] = []
    before: tuple[object, ...] = ()
    number = 0
    for row, (one, part) in enumerate(zip(objects, parts, strict=True)):
        signature = (None,) if part is None else (type(one), *part, *map(type, part.values()))
        if signature != before:  # mostly they are equal, which is found faster than a hash
            before, number = signature, numbers.setdefault(signature, len(numbers))
            if number == len(groups):
                groups.append([])
        places.append((number, len(groups[number])))
        groups[number].append(row)
    columns = (_group([objects[k] for k in rows], [parts[k] for k in rows], state) for rows in groups)
    return Rows(tuple(columns), tuple(places))


def _group(objects: Sequence[Any], parts: Sequence[Mapping[str, Any] | None], state: State) -> Column:
    if parts[0] is None:
        return Listed(objects)
    names = tuple(parts[0])
    columns = zip(*(part.values() for part in parts if part is not None), strict=True)
    return Like(type(objects[0]), names, tuple(_column(values, state) for values in columns))


def _column(values: Sequence[Any], state: State) -> Column:
    """Pack values of one type."""
    first = values[0]
    if all(value is first for value in values):
        return Same(first)
    if isinstance(first, float | int | np.generic):
        numbers = np.array(values)
        return Numbers(numbers, not isinstance(first, np.generic)) if numbers.dtype.kind in "biuf" else Listed(values)
    if isinstance(first, np.ndarray):
        return _arrays(values)
    if hasattr(first, "_fields"):
        return _named(values, state)
    return Listed(values) if state(first) is None else pack(values, state)


def _named(values: Sequence[Any], state: State) -> Column:
    """Pack named tuples of one type."""
    columns = list(zip(*values, strict=True))
    if any(len(set(map(type, column))) > 1 for column in columns):
        return Listed(values)
    return Like(type(values[0]), (), tuple(_column(column, state) for column in columns))


def _arrays(values: Sequence[Any]) -> Column:
    shape, dtype = values[0].shape, values[0].dtype
    alike = all(one.shape == shape and one.dtype == dtype and one.flags.c_contiguous for one in values)
    if not alike or dtype.hasobject:
        return Listed(values)
    return Stacked(np.stack(values), all(one.flags.writeable for one in values))
