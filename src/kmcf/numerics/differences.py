"""Squared differences of all pairs of numbers, in one pass: compiled where Numba is loaded, bit for bit the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache

import numpy as np

from kmcf.numerics.arrays import FloatArray
from kmcf.numerics.interrupts import honoured

Loop = Callable[[FloatArray, FloatArray, float, FloatArray], None]


def scaled_squares(a: FloatArray, b: FloatArray, factor: float = 1.0) -> FloatArray:
    """Return factor · (a_i − b_j)² for all pairs, (n, m).

    NumPy passes over the matrix once per operation, which takes several times as long. Numba is not loaded for it:
    that would take longer still, unless a filter needs it anyway.

    Parameters
    ----------
    a, b : arrays (n,), (m,)
        The numbers.
    factor : float
        What the squares are multiplied by.

    Examples
    --------
    >>> scaled_squares(np.array([0.0, 1.0]), np.array([3.0]), -0.5)
    array([[-4.5],
           [-2. ]])
    """
    loop = squares_loop() if "numba" in sys.modules else numpy_squares
    result = np.empty((len(a), len(b)))
    loop(np.ascontiguousarray(a), np.ascontiguousarray(b), factor, result)
    return result


@cache
def squares_loop() -> Loop:
    """Return the fastest loop available (the extra ``kmcf[fast]`` installs Numba)."""
    try:
        import numba
    except ImportError:
        return numpy_squares
    numbers = numba.types.Array(numba.float64, 1, "C", readonly=True)  # those that can be written to will do as well
    arguments = (numbers, numbers, numba.float64, numba.float64[:, ::1])
    compiled: Loop = numba.njit(arguments, cache=True)(scalar_squares)

    def loop(a: FloatArray, b: FloatArray, factor: float, result: FloatArray) -> None:
        with honoured():
            compiled(a, b, factor, result)

    return loop


def numpy_squares(a: FloatArray, b: FloatArray, factor: float, result: FloatArray) -> None:
    """Fill a matrix, operation by operation."""
    np.subtract(a[:, None], b, out=result)
    result *= result
    if factor != 1.0:
        result *= factor


def scalar_squares(a: FloatArray, b: FloatArray, factor: float, result: FloatArray) -> None:
    """Do the same element by element; this is what Numba compiles."""
    for i in range(len(a)):
        for j in range(len(b)):
            difference = a[i] - b[j]
            result[i, j] = difference * difference * factor
