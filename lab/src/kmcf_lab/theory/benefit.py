"""Section 5.2: when resampling helps the prediction step, and what copying the picks is good for.

The problem is that of Section 6.1. Points uniform in [−1, 1] give weights as uneven as there; points drawn from P
itself give nearly uniform ones. Given m̂_P and the picks, expected errors are exact (Theorem 1's decomposition), so
there is no noise from moves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.herding.herding import herd
from kmcf.numerics.arrays import FloatArray
from kmcf_lab.cells import Cell, Row
from kmcf_lab.resampling.study import BANDWIDTH, POINTS, SD, TRUTH_P, ridge_weights
from kmcf_lab.truths import NormalMean, smoothed_kernel

RIDGES = tuple(float(f"1e{k}") for k in range(-8, 3))
PLACES = ("uniform", "from P")
TRANSITIONS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
FEW = 20
"""ℓ: the picks that are copied n/ℓ times, or not."""


def benefit_cells(repetitions: int, seed: int) -> list[Cell]:
    """Return the cells: places of the points, regularisations and repetitions."""
    return [
        Cell("benefit", {"place": place, "ridge": ridge, "repetition": repetition, "seed": seed})
        for place in PLACES
        for ridge in RIDGES
        for repetition in range(repetitions)
    ]


def compute_benefit(cell: Cell) -> Sequence[Row]:
    """Compute the expected errors on m_Q for all transitions, with and without resampling."""
    rng = cell.generator()
    spread = cell.coordinates["place"] == "uniform"
    points = rng.uniform(-1.0, 1.0, size=POINTS) if spread else SD * rng.normal(size=POINTS)
    gram = smoothed_kernel(points[:, None] - points, BANDWIDTH, 0.0)
    weights = ridge_weights(gram, TRUTH_P(points), float(cell.coordinates["ridge"]))
    norm = float(weights @ gram @ weights)
    picks = herd(gram @ weights, gram, POINTS, norm).indices
    shares, few = (np.bincount(some, minlength=POINTS) / len(some) for some in (picks, picks[:FEW]))
    gap = shares - weights
    return [
        {
            "transition_sd": sd,
            "sum_of_squares": float(weights @ weights),
            "loss": float(gap @ gram @ gap),
            "without": expected_error(points, weights, float(weights @ weights), sd),
            "herded": expected_error(points, shares, 1.0 / POINTS, sd),
            "copied": expected_error(points, few, 1.0 / POINTS, sd),
            "once": expected_error(points, few, 1.0 / FEW, sd),
        }
        for sd in TRANSITIONS
    ]


def expected_error(points: FloatArray, weights: FloatArray, sum_of_squares: float, sd: float) -> float:
    """Return E ‖m̂_Q − m_Q‖² exactly.

    Parameters
    ----------
    points, weights : array (n,)
        What the moved points represent; copies of a point are one point with their common weight.
    sum_of_squares : float
        Σ w² of the points that move independently: less than that of ``weights`` if these stand for copies.
    sd : float
        Of the transition.
    """
    truth = NormalMean(0.0, SD**2 + sd**2, BANDWIDTH)
    carried = (
        weights @ smoothed_kernel(points[:, None] - points, BANDWIDTH, 2.0 * sd**2) @ weights
        - 2.0 * weights @ smoothed_kernel(points, BANDWIDTH, SD**2 + 2.0 * sd**2)
        + truth.squared_norm
    )
    spread = 1.0 - float(smoothed_kernel(np.zeros(()), BANDWIDTH, 2.0 * sd**2))
    return float(sum_of_squares * spread + max(float(carried), 0.0))
