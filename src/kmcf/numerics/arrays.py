"""Which array library the numbers live in, and the names types go by.

The numerical core asks :func:`array_namespace` for the library of its inputs and then uses only functions
that NumPy and JAX share. Everything else in the package is plain NumPy.
"""

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = Any
"""An array of any library (NumPy or JAX): no static type covers both."""

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


def is_jax(array: Any) -> bool:
    """Return whether something is a JAX array, without importing JAX.

    Examples
    --------
    >>> is_jax(np.zeros(3))
    False
    """
    return getattr(array_namespace(array), "__name__", "") == "jax.numpy"


def all_finite(numbers: FloatArray) -> bool:
    """Return whether no entry is NaN or infinite: where they are, so is the sum of squares, which is found faster.

    Examples
    --------
    >>> all_finite(np.array([1.0, 1e200])), all_finite(np.array([[1.0, np.nan]]))
    (True, False)
    """
    return math.isfinite(np.vdot(numbers, numbers)) or bool(np.isfinite(numbers).all())  # squares may overflow


def positive_or_one(scales: FloatArray) -> FloatArray:
    """Return what to divide by: one in place of scales that are zero, of columns that do not vary, say.

    Examples
    --------
    >>> positive_or_one(np.array([0.5, 0.0]))
    array([0.5, 1. ])
    """
    return np.where(scales > 0.0, scales, 1.0)


def has_gaps(numbers: Array) -> bool:
    """Return whether some entry is NaN.

    Examples
    --------
    >>> has_gaps(np.array([1.0, np.inf])), has_gaps(np.array([1.0, np.nan])), has_gaps(np.array([1, 2]))
    (False, True, False)
    """
    return numbers.dtype.kind == "f" and math.isnan(np.vdot(numbers, numbers))  # squares cannot cancel


def log_sum_exp(logs: FloatArray) -> FloatArray:
    """Return the logarithm of the sum over the first axis of exp; −∞ where all logarithms are −∞.

    SciPy's function of that name treats the largest summand apart, which takes several times as long.

    Examples
    --------
    >>> log_sum_exp(np.array([[0.0, -np.inf], [0.0, -np.inf]])).round(4)
    array([0.6931,   -inf])
    """
    largest = np.maximum(logs.max(axis=0), np.finfo(np.float64).min)
    with np.errstate(divide="ignore"):  # a sum of zero stays zero
        return np.asarray(largest + np.log(np.exp(logs - largest).sum(axis=0)))


def is_dask(collection: Any) -> bool:
    """Return whether something is a Dask array or dataframe, without importing Dask.

    Examples
    --------
    >>> is_dask(np.zeros(3))
    False
    """
    return hasattr(collection, "__dask_graph__") and hasattr(collection, "to_delayed")


def array_namespace(*arrays: Array) -> Any:
    """Return the library (``numpy``, ``jax.numpy``) the arrays belong to; NumPy unless one says otherwise.

    Examples
    --------
    >>> array_namespace(np.zeros(3)).__name__
    'numpy'
    """
    for array in arrays:
        if not isinstance(array, np.ndarray | np.generic) and hasattr(array, "__array_namespace__"):
            return array.__array_namespace__()
    return np
