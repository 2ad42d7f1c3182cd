"""Corollaries 1 and 2 as stated: N = ℓ = ⌈n^(2b)⌉, ℓ⌈n/ℓ⌉ copies, estimates with error n^(−b).

On the circle, where the assumption θ ∈ H ⊗ H holds and every kernel mean is a sequence of coefficients. P is a wrapped
normal distribution, candidates are uniform (so sup p/q < ∞), the transition is a random turn. For b = 1/2 the estimate
is the mean of n i.i.d. points; for other b it is m_P − n^(−b) u with the unit vector u towards a random k(·, a): its
error is n^(−b) exactly, and it has negative weight at a.

Given the picks, the expected squared error on m_Q is known exactly, as in Theorem 1, so no moves need be drawn; one is
drawn all the same, to be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from kmcf.herding.herding import herd
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf_lab.cells import Cell, Row
from kmcf_lab.theory.bound import CIRCLE, CIRCLE_SD

TRANSITION_SD = 0.5
# The numbers of examples n for each b: N = ⌈n^(2b)⌉ is then about 8 to 2000.
SIZES: dict[float, tuple[int, ...]] = {
    0.25: (64, 256, 1024, 4096, 16384, 65536, 262144),
    0.35: (20, 64, 200, 640, 2000, 6400, 16000),
    0.5: (20, 50, 100, 200, 500, 1000, 2000),
    0.75: (5, 10, 20, 40, 80, 160),
}


def corollary_cells(repetitions: int, seed: int) -> list[Cell]:
    """Return the cells: rates b, numbers of examples n, repetitions."""
    return [
        Cell("corollaries", {"b": b, "n": n, "repetition": repetition, "seed": seed})
        for b, sizes in SIZES.items()
        for n in sizes
        for repetition in range(repetitions)
    ]


def compute_corollaries(cell: Cell) -> Sequence[Row]:
    """Estimate, herd, copy, move; compare with m_P and m_Q."""
    b, n, rng = float(cell.coordinates["b"]), int(cell.coordinates["n"]), cell.generator()
    size = ceil(n ** (2 * b) - 1e-9)  # the power may exceed an integer by rounding
    truth = CIRCLE.wrapped_normal(0.0, CIRCLE_SD**2)
    estimate = _estimate(b, n, truth, rng)
    candidates = rng.uniform(-np.pi, np.pi, size=size)
    values = (np.exp(-1j * np.outer(candidates, CIRCLE.orders)) * estimate).real @ CIRCLE.spectrum
    features = _features(candidates)
    gram = features @ features.T
    norm = float(np.abs(estimate) ** 2 @ CIRCLE.spectrum)
    picked = candidates[herd(values, gram, size, norm).indices]
    copies = picked[repeated(size, size * ceil(n / size))]
    moved = copies + TRANSITION_SD * rng.normal(size=len(copies))
    target = truth * damping()
    return [
        {
            "candidates": size,
            "copies": len(copies),
            "estimate_p": _distance(estimate, truth),
            "herded_p": _distance(_uniform(picked), truth),
            "copied_q": expected_error(copies, truth),
            "once_q": expected_error(picked, truth),
            "truncated_q": expected_error(picked[repeated(size, n)], truth),
            "drawn_q": _distance(_uniform(moved), target),
        }
    ]


def repeated(size: int, total: int) -> IntArray:
    """Return which pick each particle copies: pick i mod ℓ; `total` = ℓ⌈n/ℓ⌉ gives all of them equally often.

    Examples
    --------
    >>> repeated(3, 6), repeated(3, 5)
    (array([0, 1, 2, 0, 1, 2]), array([0, 1, 2, 0, 1]))
    """
    return np.arange(total) % size


def expected_error(points: FloatArray, truth: np.ndarray) -> float:
    """Return the root of E ‖m̌_Q − m_Q‖² when each of the points is moved once, independently of the others."""
    spread = 1.0 - float(CIRCLE.kernel(np.zeros(()), 2.0 * TRANSITION_SD**2))
    carried = CIRCLE.squared_distance(_uniform(points) * damping(), truth * damping())
    return float(np.sqrt(spread / len(points) + carried))


def damping() -> FloatArray:
    """Return what the transition multiplies the coefficients by."""
    return np.asarray(np.exp(-0.5 * CIRCLE.orders**2 * TRANSITION_SD**2))


def _estimate(b: float, n: int, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if b == 0.5:
        return _uniform(CIRCLE_SD * rng.normal(size=n))
    direction = CIRCLE.empirical(rng.uniform(-np.pi, np.pi, size=1), np.ones(1)) - truth
    return truth - n**-b * direction / np.sqrt(np.abs(direction) ** 2 @ CIRCLE.spectrum)


def _features(points: FloatArray) -> FloatArray:
    """Return cosines and sines whose inner products are the kernel, which saves an array of N × N × orders."""
    turns, scale = np.outer(points, CIRCLE.orders), np.sqrt(CIRCLE.spectrum)
    return np.hstack([np.cos(turns) * scale, np.sin(turns) * scale])


def _uniform(points: FloatArray) -> np.ndarray:
    """Return the coefficients of the mean of some points, counting those that are repeated."""
    distinct, counts = np.unique(points, return_counts=True)
    return CIRCLE.empirical(distinct, counts / len(points))


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.sqrt(CIRCLE.squared_distance(one, other)))
