"""Collections of objects: a numeric array with one row per object, or a list of arbitrary objects.

States and observations may be either; with these functions the rest of the package need not care which.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from kmcf.numerics.arrays import Array, IntArray

Objects: TypeAlias = Any
"""An array whose first axis counts the objects, or a list of objects."""


NUMBERS = frozenset("biuf")
"""NumPy's kinds of real numbers."""


def is_numeric(objects: Objects) -> bool:
    """Return whether a collection is a numeric array (rather than a list of objects)."""
    return getattr(getattr(objects, "dtype", None), "kind", "") in NUMBERS and hasattr(objects, "shape")


def evenly_spaced(count: int, most: int) -> IntArray:
    """Return at most so many positions in a collection, evenly spread over it, the first and the last among them.

    Examples
    --------
    >>> evenly_spaced(9, 3), evenly_spaced(2, 5)
    (array([0, 4, 8]), array([0, 1]))
    """
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.intp))


def as_objects(objects: Any, name: str, *, structured: bool = False) -> Objects:
    """Read a collection: numbers become a float64 array with at least two axes, anything else a list.

    For kernels on non-vectorial data an array of numbers keeps its type (bytes of images stay bytes).

    Parameters
    ----------
    objects : array-like or sequence
        Numbers, equal-shaped arrays, or arbitrary objects.
    name : str
        What the collection is called in error messages.
    structured : bool
        True for kernels on non-vectorial data: a list then stays a list even if its elements are numeric.

    Examples
    --------
    >>> as_objects([1, 2, 3], "states").shape
    (3, 1)
    >>> as_objects(["left", "right"], "observations")
    ['left', 'right']
    """
    if isinstance(objects, str | bytes | dict | set) or not hasattr(objects, "__len__"):
        raise TypeError(f"{name} must be an array or a list with one entry per example, not {type(objects).__name__}.")
    objects = plain(objects)
    if structured and not is_numeric(objects):
        return list(objects)
    array = objects if structured else _as_numbers(objects)
    if array is None:
        return list(objects)
    if array.ndim == 0:
        raise TypeError(f"{name} must be an array or a list with one entry per example, not a single number.")
    return array[:, None] if array.ndim == 1 else array


def plain(objects: Any) -> Any:
    """Return tables as arrays, and masked arrays with NaN where they are masked; anything else as it is.

    Examples
    --------
    >>> plain(np.ma.masked_array([1.0, 2.0], mask=[False, True]))
    array([ 1., nan])
    """
    if isinstance(objects, np.ma.MaskedArray):
        return np.ma.filled(objects.astype(np.float64), np.nan)
    if not hasattr(objects, "to_numpy"):
        return objects
    array = objects.to_numpy()
    if array.dtype.kind == "O" and array.ndim == 2 and array.shape[1] > 1:
        _check_columns(objects)
    return array


def _check_columns(frame: Any) -> None:
    """Refuse a table of which some columns are numbers and others are words: the latter are there by mistake."""
    kinds = [getattr(kind, "kind", "O") for kind in getattr(frame, "dtypes", ())]
    numbers = [kind in "biuf" for kind in kinds]
    if any(numbers) and not all(numbers):
        words = [str(name) for name, number in zip(frame.columns, numbers, strict=True) if not number]
        listed = ", ".join(repr(name) for name in words[:3]) + (", ..." if len(words) > 3 else "")
        raise TypeError(f"the table's columns {listed} hold no numbers; pass the columns that do: table[['x', 'y']].")


def _as_numbers(objects: Any) -> Array | None:
    """Return a float64 array, or None where the objects are not (equal-shaped arrays of) numbers."""
    if is_numeric(objects) and not isinstance(objects, np.ndarray) and hasattr(objects, "__array_namespace__"):
        return objects  # another library's array stays where it is
    try:
        array = np.asarray(objects)
    except ValueError:  # ragged
        return None
    if array.dtype.kind == "c":
        raise TypeError("complex numbers are not supported; pass real and imaginary parts as columns.")
    if array.dtype.kind == "O":
        return _object_array_as_numbers(array)
    return array.astype(np.float64) if array.dtype.kind in "biuf" else None


def _object_array_as_numbers(array: Any) -> Array | None:
    """Read a table of Python numbers (for instance a mixed DataFrame) as floats, if that is what it is."""
    if not all(isinstance(value, int | float | np.number) for value in array.flat):
        return None
    return array.astype(np.float64)


def take(objects: Objects, indices: IntArray) -> Objects:
    """Return the objects at the given indices (tuples of collections are indexed part by part)."""
    if isinstance(objects, tuple):
        return tuple(take(part, indices) for part in objects)
    if isinstance(objects, list):
        return [objects[int(i)] for i in indices]
    return objects[indices]


def describe(objects: Objects) -> str:
    """Describe a collection for an error message: its shape, or its length and element type."""
    if hasattr(objects, "shape"):
        return f"an array of shape {tuple(objects.shape)}"
    if isinstance(objects, Sequence) and not isinstance(objects, str):
        kinds = sorted({type(item).__name__ for item in objects[:100]})
        return f"a list of {len(objects)} objects ({', '.join(kinds)})"
    return type(objects).__name__
