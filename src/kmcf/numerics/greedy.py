"""The greedy loop of Kernel Herding: compiled where Numba is installed, plain NumPy otherwise, bit for bit the same."""

from collections.abc import Callable
from functools import cache

import numpy as np

from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.interrupts import honoured

Loop = Callable[[FloatArray, FloatArray, int], tuple[IntArray, FloatArray]]


@cache
def greedy_loop() -> Loop:
    """Return the fastest loop available (the extra ``kmcf[fast]`` installs Numba)."""
    try:
        import numba
    except ImportError:
        return numpy_loop
    compiled: Loop = numba.njit(cache=True)(scalar_loop)
    compiled(np.zeros(1), np.zeros((1, 1)), 1)

    def loop(mean_values: FloatArray, gram: FloatArray, size: int) -> tuple[IntArray, FloatArray]:
        with honoured():
            return compiled(mean_values, gram, size)

    return loop


def numpy_loop(mean_values: FloatArray, gram: FloatArray, size: int) -> tuple[IntArray, FloatArray]:
    """Pick ``size`` candidates; return them and the score after the last pick.

    The score p·m̂(x) − Σ_{j<p} k(x, x_j) is updated by one addition and one subtraction per pick.
    """
    indices = np.empty(size, dtype=np.intp)
    score = mean_values.copy()
    for p in range(size):
        best = int(score.argmax())
        indices[p] = best
        score += mean_values
        score -= gram[best]
    return indices, score


def scalar_loop(mean_values: FloatArray, gram: FloatArray, size: int) -> tuple[IntArray, FloatArray]:
    """Do the same element by element, in one pass per pick; this is what Numba compiles."""
    indices = np.empty(size, dtype=np.intp)
    score = mean_values.copy()
    best = 0
    for i in range(1, len(score)):
        if score[i] > score[best]:
            best = i
    for p in range(size):
        indices[p] = best
        row = gram[best]
        best = 0
        for i in range(len(score)):
            score[i] = (score[i] + mean_values[i]) - row[i]
            if score[i] > score[best]:
                best = i
    return indices, score
