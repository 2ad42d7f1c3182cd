"""Collections of sets: each object is a set of elements, each element a row of numbers, possibly with an identity."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.objects import Objects, plain

_PAIRS = 1_000_000  # pairs of elements from which a bandwidth is learnt


@dataclass(frozen=True)
class ElementSets:
    """n sets with N elements in all, stored end to end.

    Attributes
    ----------
    rows : array (N, d)
        The elements' numbers, set by set.
    codes : array (N,)
        Position of each element's identity in ``keys``.
    keys : tuple
        The identities.
    sizes : array (n,)
        How many elements each set has.
    """

    rows: FloatArray
    codes: IntArray
    keys: tuple[Hashable, ...]
    sizes: IntArray

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, indices: IntArray) -> ElementSets:
        ends = np.cumsum(self.sizes)
        parts = [np.arange(ends[i] - self.sizes[i], ends[i]) for i in indices]
        chosen = np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)
        return ElementSets(self.rows[chosen], self.codes[chosen], self.keys, self.sizes[indices])

    @cached_property
    def owners(self) -> IntArray:
        """The set each element belongs to, (N,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def groups(self) -> dict[Hashable, IntArray]:
        """For each identity that occurs, its elements in the order of the sets."""
        order = np.argsort(self.codes, kind="stable")
        codes, starts = np.unique(self.codes[order], return_index=True)
        parts = np.split(order, starts[1:]) if len(codes) else []
        return {self.keys[code]: part for code, part in zip(codes, parts, strict=True)}

    def with_rows(self, rows: FloatArray) -> ElementSets:
        """Return the same sets with other numbers."""
        return ElementSets(rows, self.codes, self.keys, self.sizes)


def read_sets(objects: Objects, identity: int | None, columns: int | None, kernel: str) -> ElementSets:
    """Read a collection of sets.

    Parameters
    ----------
    objects : list or array (n, m, d)
        The sets; each an array or list with one row per element, possibly empty.
    identity : int or None
        Which column identifies the elements; it may hold any hashable values.
    columns : int or None
        How many columns the rows must have; None: as many as the first element has.
    kernel : str
        Name of the kernel, for error messages.

    Examples
    --------
    >>> sets = read_sets([[("post", 1.0)], []], 0, None, "a kernel")
    >>> sets.keys, sets.rows, sets.sizes
    (('post',), array([[1.]]), array([1, 0]))
    """
    read = [_read_set(one, number, identity, kernel) for number, one in enumerate(objects)]
    filled = [rows for rows, _ in read if len(rows)]
    width = columns - (identity is not None) if columns is not None else filled[0].shape[1] if filled else 0
    for number, (rows, _) in enumerate(read):
        if len(rows) and rows.shape[1] != width:
            extra = int(identity is not None)
            raise ValueError(
                f"the elements of object {number} have {rows.shape[1] + extra} columns, but {kernel} expects "
                f"{width + extra}: all elements must have the same number."
            )
        if not np.all(np.isfinite(rows)):
            raise ValueError(f"an element of object {number} is NaN or infinite; leave such elements out of the set.")
    keys: dict[Hashable, int] = {}
    codes = [keys.setdefault(name, len(keys)) for _, names in read for name in names]
    return ElementSets(
        rows=np.concatenate(filled) if filled else np.empty((0, width)),
        codes=np.asarray(codes, dtype=np.intp),
        keys=tuple(keys),
        sizes=np.asarray([len(rows) for rows, _ in read], dtype=np.intp),
    )


def _read_set(one: Any, number: int, identity: int | None, kernel: str) -> tuple[FloatArray, list[Hashable]]:
    """Return the numbers and identities of the elements of one set."""
    one = plain(one)
    if isinstance(one, str | bytes | dict) or not hasattr(one, "__len__") or getattr(one, "ndim", 1) == 0:
        raise TypeError(
            f"{kernel} compares sets, but object {number} is {one!r}; each set must be an array or a list with one row "
            "per element (empty where there is none)."
        )
    if len(one) == 0:
        return np.empty((0, 0)), []
    try:
        if identity is None:
            rows = np.asarray(one, dtype=np.float64)
            rows = rows[:, None] if rows.ndim == 1 else rows
            names: list[Hashable] = [0] * len(rows)
        else:
            names = [_plain(row[identity]) for row in one]
            kept = [[value for i, value in enumerate(row) if i != identity % len(row)] for row in one]
            rows = np.asarray(kept, dtype=np.float64)
        hash(tuple(names))
    except (TypeError, ValueError, IndexError) as error:
        raise type(error)(
            f"{kernel} cannot read object {number}: each element must be a row of numbers"
            + (f", with its identity in column {identity}" if identity is not None else "")
            + f" ({error})."
        ) from error
    if rows.ndim != 2:
        raise ValueError(f"object {number} of {kernel} has {rows.ndim} axes; a set has one row per element.")
    return rows, names


def _plain(name: Any) -> Hashable:
    if isinstance(name, float | np.floating) and not np.isfinite(name):
        raise ValueError(f"an identity is {name}")
    return name.item() if isinstance(name, np.generic) else name


def merge_duplicates(sets: ElementSets, angles: IntArray) -> ElementSets:
    """Average the elements of a set that share an identity; columns of angles are averaged on the circle."""
    pairs = np.stack([sets.owners, sets.codes], axis=1)
    unique, position = np.unique(pairs, axis=0, return_inverse=True)
    if len(unique) == len(pairs):
        return sets
    counts = np.bincount(position)

    def means(values: FloatArray) -> FloatArray:
        totals = np.zeros((len(unique), values.shape[1]))
        np.add.at(totals, position, values)
        return totals / counts[:, None]

    rows = means(sets.rows)
    turned = sets.rows[:, angles]
    rows[:, angles] = np.arctan2(means(np.sin(turned)), means(np.cos(turned)))
    sizes = np.bincount(unique[:, 0], minlength=len(sets))
    return ElementSets(rows, unique[:, 1], sets.keys, sizes)


def squared_differences(sets: ElementSets, angles: IntArray) -> FloatArray:
    """Return the squared differences, per column, of pairs of elements with the same identity, (pairs, d).

    Angles are compared by the chord between them. Large groups are represented by some of their *sorted* elements,
    drawn with a fixed seed, so that the result does not depend on the order of the sets.
    """
    most = max(2, int(np.sqrt(2 * _PAIRS / max(1, len(sets.groups)))))
    rng = np.random.default_rng(0)
    collected = [np.empty((0, sets.rows.shape[1]))]
    for group in sorted(sets.groups.values(), key=lambda part: tuple(np.sort(sets.rows[part], axis=0).ravel())):
        rows = sets.rows[group]
        rows = rows[np.lexsort(rows.T[::-1])]
        if len(rows) > most:
            rows = rows[np.sort(rng.choice(len(rows), most, replace=False))]
        first, second = np.triu_indices(len(rows), k=1)
        differences = rows[first] - rows[second]
        differences[:, angles] = 2.0 * np.sin(0.5 * differences[:, angles])
        collected.append(differences**2)
    return np.concatenate(collected)
