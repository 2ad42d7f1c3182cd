"""Names of the state's coordinates, from data frames to runs and files; the order of the observation's columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def names_of(states: Any) -> tuple[str, ...]:
    """Return the names of the columns of a data frame (or the name of a series); nothing for anything else.

    Examples
    --------
    >>> names_of([[1.0, 2.0]])
    ()
    """
    columns = getattr(states, "columns", None)
    if columns is None:
        name = getattr(states, "name", None) if hasattr(states, "iloc") else None
        return (name,) if isinstance(name, str) else ()
    return tuple(columns) if all(isinstance(name, str) for name in columns) else ()


def checked_names(names: Sequence[str], states: Any) -> tuple[str, ...]:
    """Check that there is a name for every coordinate.

    Examples
    --------
    >>> checked_names(["x", "y"], np.zeros((3, 2)))
    ('x', 'y')
    """
    width = int(np.prod(np.shape(states)[1:]))
    if isinstance(names, str) or len(names) != width:
        raise ValueError(f"names = {names!r}; the states have {width} coordinates, each of which needs a name.")
    return tuple(str(name) for name in names)


def restored_names(stored: Any, states: Any) -> tuple[str, ...]:
    """Return names from a file, which anyone may have written: nothing, if they do not fit."""
    fits = isinstance(stored, list | tuple) and len(stored) == int(np.prod(np.shape(states)[1:]))
    return tuple(stored) if fits and all(isinstance(name, str) for name in stored) else ()


def check_order(names: Sequence[str], given: Any) -> None:
    """Refuse a data frame, or a row of one, that has the columns of the examples in another order.

    Columns are read by position, so that the answer would be wrong without a word. Other names are the user's own
    business.

    Parameters
    ----------
    names : sequence of str
        The columns of the example observations; nothing where they came without names.
    given : object
        New observations: a table, a row of one, or anything else, which has no names.

    Examples
    --------
    >>> check_order(("a", "b"), [[1.0, 2.0]])
    """
    labels = getattr(given, "columns", None) if hasattr(given, "columns") else getattr(given, "index", None)
    if not names or labels is None or callable(labels) or len(labels) != len(names):
        return
    found = list(labels)
    if found != list(names) and set(found) == set(names):
        first = next(j for j, (one, other) in enumerate(zip(found, names, strict=True)) if one != other)
        raise ValueError(
            f"column {first + 1} of the observations is {found[first]!r}, but that of the examples was "
            f"{names[first]!r}, and columns are read by position: bring them into the examples' order."
        )
