"""Theorem 2: how fast resampling by herding approaches its target, in the number of candidates N and of picks ℓ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.herding.herding import herd
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf_lab.cells import Cell, Row
from kmcf_lab.resampling.study import BANDWIDTH, SD, TRUTH_P
from kmcf_lab.truths import smoothed_kernel

# Candidates are drawn from q = N(0, (2 SD)²), so that p/q ≤ 2 as the theorem demands.
CANDIDATE_SD = 2.0 * SD
CANDIDATES = (10, 20, 50, 100, 200, 500, 1000)
PICKS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
PICKS_FOR_CANDIDATES = 5000
CANDIDATES_FOR_PICKS = 500


def rate_cells(repetitions: int, seed: int) -> list[Cell]:
    """Return the cells: N varies at many picks; all ℓ come from one run of herding at fixed N."""
    varied = [
        Cell("candidates", {"candidates": size, "repetition": repetition, "seed": seed})
        for size in CANDIDATES
        for repetition in range(repetitions)
    ]
    return varied + [Cell("picks", {"repetition": repetition, "seed": seed}) for repetition in range(repetitions)]


def compute_candidates(cell: Cell) -> Sequence[Row]:
    """Herd m_P itself from N candidates, so that the distance to it is due to N (and to the finite number of picks).

    The proof of the theorem bounds that distance by the distance of a particular point of the candidates' convex hull,
    the mean with weights ∝ p/q, which is measured too.
    """
    points, importance = _candidates(int(cell.coordinates["candidates"]), cell.generator())
    gram = smoothed_kernel(points[:, None] - points, BANDWIDTH, 0.0)
    picks = herd(TRUTH_P(points), gram, PICKS_FOR_CANDIDATES, TRUTH_P.squared_norm).indices
    herded = _error_of_picks(points, picks)
    return [{"herded": float(np.sqrt(herded)), "hull": float(np.sqrt(TRUTH_P.squared_error(points, importance)))}]


def compute_picks(cell: Cell) -> Sequence[Row]:
    """Herd the importance-weighted mean of the candidates, which lies in their hull, so the infimum in the proof is 0.

    Then ‖m̌ − m̂‖² ≤ 4 (1 + ln ℓ)/ℓ must hold for every ℓ, by the last formula before the proof turns to N.
    """
    points, importance = _candidates(CANDIDATES_FOR_PICKS, cell.generator())
    gram = smoothed_kernel(points[:, None] - points, BANDWIDTH, 0.0)
    target, norm = gram @ importance, float(importance @ gram @ importance)
    indices = herd(target, gram, max(PICKS), norm).indices
    rows: list[Row] = []
    for size in PICKS:
        shares = np.bincount(indices[:size], minlength=len(points)) / size
        gap = shares - importance
        rows.append(
            {
                "picks": size,
                "loss": float(gap @ gram @ gap),
                "bound": 4.0 * (1.0 + np.log(size)) / size,
                "error": _error_of_picks(points, indices[:size]),
                "error_of_estimate": TRUTH_P.squared_error(points, importance),
            }
        )
    return rows


def _candidates(size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw candidates and their weights ∝ p/q."""
    points = CANDIDATE_SD * rng.normal(size=size)
    ratios = np.exp(-0.5 * (points / SD) ** 2 + 0.5 * (points / CANDIDATE_SD) ** 2)
    return points, ratios / ratios.sum()


def _error_of_picks(points: FloatArray, picks: IntArray) -> float:
    """‖m̌ − m_P‖², with the picks counted so that the matrix stays as small as the candidates."""
    shares = np.bincount(picks, minlength=len(points)) / len(picks)
    return TRUTH_P.squared_error(points, shares)
