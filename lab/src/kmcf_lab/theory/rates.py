"""Theorems 2 and 3: how fast resampling approaches its target, in the number of candidates N and of picks ℓ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.herding.herding import herd
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf_lab.cells import Cell, Row
from kmcf_lab.resampling.study import BANDWIDTH, TRUTH_P
from kmcf_lab.theory.designs import DESIGNS, draw_candidates, ratios
from kmcf_lab.theory.hull import nearest_in_hull
from kmcf_lab.truths import smoothed_kernel

CANDIDATES = (10, 20, 50, 100, 200, 500, 1000)
PICKS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
PICKS_FOR_CANDIDATES = 5000
CANDIDATES_FOR_PICKS = 500
# So few that the floor which N sets is reached within these picks.
CANDIDATES_FOR_FLOOR = 10


def rate_cells(repetitions: int, seed: int) -> list[Cell]:
    """Return the cells: N varies at many picks, for all designs; all ℓ come from one run of herding at fixed N."""
    varied = [
        Cell("candidates", {"design": design, "candidates": size, "repetition": repetition, "seed": seed})
        for design in DESIGNS
        for size in CANDIDATES
        for repetition in range(repetitions)
    ]
    fixed = [
        Cell(study, {"candidates": size, "repetition": repetition, "seed": seed})
        for study, size in (("picks", CANDIDATES_FOR_PICKS), ("floor", CANDIDATES_FOR_FLOOR))
        for repetition in range(repetitions)
    ]
    return varied + fixed


def compute_candidates(cell: Cell) -> Sequence[Row]:
    """Herd m_P itself from N candidates, so that the distance to it is due to N (and to the finite number of picks).

    Measured too: the nearest point of the candidates' convex hull, which no number of picks can pass, and the point on
    which the proof rests, the mean with weights ∝ p/q.
    """
    design, rng = str(cell.coordinates["design"]), cell.generator()
    points = draw_candidates(design, int(cell.coordinates["candidates"]), rng)
    gram, values = smoothed_kernel(points[:, None] - points, BANDWIDTH, 0.0), TRUTH_P(points)
    picks = herd(values, gram, PICKS_FOR_CANDIDATES, TRUTH_P.squared_norm).indices
    nearest = nearest_in_hull(values, gram, TRUTH_P.squared_norm)
    importance = ratios(design, points)
    errors = {
        "herded": _error_of_picks(points, picks),
        "hull": TRUTH_P.squared_error(points, importance / importance.sum()),
        # Rounding and the solver's tolerance leave this much open.
        "nearest": max(nearest.squared_distance, nearest.gap, 1e-12),
    }
    return [{name: float(np.sqrt(value)) for name, value in errors.items()}]


def compute_picks(cell: Cell) -> Sequence[Row]:
    """Herd the importance-weighted mean of the candidates, which lies in their hull, so the infimum in the proof is 0.

    Then ‖m̌ − m̂‖² ≤ 4 (1 + ln ℓ)/ℓ must hold for every ℓ, by the last formula before the proof turns to N.
    """
    points = draw_candidates("iid", int(cell.coordinates["candidates"]), cell.generator())
    importance = ratios("iid", points)
    importance = importance / importance.sum()
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
                "bound": 4.0 * (1.0 + float(np.log(size))) / size,
                "error": _error_of_picks(points, indices[:size]),
                "error_of_estimate": TRUTH_P.squared_error(points, importance),
            }
        )
    return rows


def compute_floor(cell: Cell) -> Sequence[Row]:
    """Herd m_P from few candidates: the error falls with ℓ until it reaches the distance of m_P from their hull."""
    points = draw_candidates("iid", int(cell.coordinates["candidates"]), cell.generator())
    gram, values = smoothed_kernel(points[:, None] - points, BANDWIDTH, 0.0), TRUTH_P(points)
    indices = herd(values, gram, max(PICKS), TRUTH_P.squared_norm).indices
    floor = nearest_in_hull(values, gram, TRUTH_P.squared_norm).squared_distance
    return [{"picks": size, "error": _error_of_picks(points, indices[:size]), "floor": floor} for size in PICKS]


def _error_of_picks(points: FloatArray, picks: IntArray) -> float:
    """‖m̌ − m_P‖², with the picks counted so that the matrix stays as small as the candidates."""
    shares = np.bincount(picks, minlength=len(points)) / len(picks)
    return TRUTH_P.squared_error(points, shares)
