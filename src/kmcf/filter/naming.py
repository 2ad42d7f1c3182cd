"""Names of the state's coordinates, from data frames to runs and files."""

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
