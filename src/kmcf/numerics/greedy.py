"""The greedy loop of Kernel Herding: compiled where Numba is installed, plain NumPy otherwise, bit for bit the same."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf.numerics.interrupts import honoured

Loop = Callable[[FloatArray, FloatArray, int], tuple[IntArray, FloatArray]]
BLOCK = 128
"""The place of the largest score is looked for in a block of this many."""
MAGNITUDE, LEAST = np.int64(2**63 - 1), np.int64(-(2**63))
"""The bits of a double besides its sign; the smallest integer."""


@cache
def greedy_loop() -> Loop:
    """Return the fastest loop available (the extra ``kmcf[fast]`` installs Numba)."""
    try:
        import numba
        from numba.extending import register_jitable
    except ImportError:
        return numpy_loop
    for part in (_largest, _first):
        register_jitable(part)
    compiled = numba.njit(cache=True)(pick)

    def loop(mean_values: FloatArray, gram: FloatArray, size: int) -> tuple[IntArray, FloatArray]:
        with honoured():
            return scalar_loop(mean_values, gram, size, compiled)

    loop(np.zeros(1), np.zeros((1, 1)), 1)
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


def scalar_loop(
    mean_values: FloatArray, gram: FloatArray, size: int, loop: Callable[..., None] | None = None
) -> tuple[IntArray, FloatArray]:
    """Do the same element by element, in a loop that is compiled or is not."""
    indices = np.empty(size, dtype=np.intp)
    score = mean_values + 0.0  # a negative zero, whose bits differ from those of zero, becomes zero for good
    (loop or pick)(mean_values, gram, indices, score, score.view(np.int64))
    return indices, score


def pick(mean_values: FloatArray, gram: FloatArray, indices: IntArray, score: FloatArray, bits: Any) -> None:
    """Fill the picks and update the scores; this is what Numba compiles.

    The largest score is found by its bits, as integers: the compiler makes vector instructions of the largest of
    integers, not of numbers that might be NaN.
    """
    for p in range(len(indices)):
        top, block = LEAST, 0
        for start in range(0, len(score), BLOCK):
            high = _largest(bits[start : start + BLOCK])
            if high > top:
                top, block = high, start
        best = block + _first(bits[block:], top)
        indices[p] = best
        row = gram[best]
        for i in range(len(score)):
            score[i] = (score[i] + mean_values[i]) - row[i]


def _largest(bits: Any) -> Any:
    """Return the largest of some numbers, given by their bits, as an integer of the same order."""
    top = LEAST
    for i in range(len(bits)):
        ordered = bits[i] ^ ((bits[i] >> 63) & MAGNITUDE)  # the larger a negative number, the smaller its magnitude
        top = max(top, ordered)
    return top


def _first(bits: Any, top: Any) -> int:
    """Return where the largest number is first."""
    for i in range(len(bits)):
        if bits[i] ^ ((bits[i] >> 63) & MAGNITUDE) == top:
            return i
    return 0
