"""Lemma 1, Assumptions 1 to 3 and the two terms of the proof of Theorem 3, for candidates that need not be i.i.d.

The proof approximates m_P by (1/N) Σ r(Z_i) k(·, Z_i) with r = p/q. Lemma 1 makes this unbiased, and since the
candidates are independent its expected squared error is exactly

    (1/N) (∫ r(x) k(x, x) dP(x) − (1/N) Σ_i ‖μ_i‖²),   μ_i = E r(Z_i) k(·, Z_i),

whatever Assumption 2 says: it is not needed. (The printed proof bounds ‖q_i/q − 1‖ by A/N where Assumption 2 gives only
√A N^(−1/4); with that its argument would end at N^(−1/8).) The second term of the proof is the normalisation by
S_N = Σ r(Z_i), which Assumption 3 is about.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from kmcf.numerics.arrays import FloatArray
from kmcf_lab.cells import Cell, Row
from kmcf_lab.resampling.study import BANDWIDTH, SD, TRUTH_P
from kmcf_lab.theory.designs import (
    CANDIDATE_SD,
    SATISFYING,
    draw_candidates,
    groups,
    mean_density,
    quadrature,
    ratios,
    target_density,
    unlikeness,
)
from kmcf_lab.truths import smoothed_kernel

SIZES = (10, 30, 100, 300)


def importance_cells(draws: int, seed: int) -> list[Cell]:
    """Return the cells: designs that the theorem allows, and numbers of candidates."""
    return [
        Cell("importance", {"design": design, "candidates": size, "draws": draws, "seed": seed})
        for design in SATISFYING
        for size in SIZES
    ]


def compute_importance(cell: Cell) -> Sequence[Row]:
    """Draw the candidates many times and compare means with closed forms and quadratures."""
    design, size = str(cell.coordinates["design"]), int(cell.coordinates["candidates"])
    draws, rng = int(cell.coordinates["draws"]), cell.generator()
    second, third, sums, lemma = (np.empty(draws) for _ in range(4))
    for k in range(draws):
        points = draw_candidates(design, size, rng)
        weights = ratios(design, points) / size
        sums[k] = weights.sum()
        second[k] = TRUTH_P.squared_error(points, weights)
        gram = smoothed_kernel(points[:, None] - points, BANDWIDTH, 0.0)
        third[k] = (1.0 - 1.0 / sums[k]) ** 2 * (weights @ gram @ weights)
        lemma[k] = np.mean(bounded(points))
    scaled = np.sqrt(size) * (sums - 1.0)
    spread = float(scaled.std(ddof=1))
    return [
        {
            **_mean("second", second),
            "second_exact": second_term(design, size),
            **_mean("third", third),
            **_mean("lemma", lemma),
            "lemma_exact": lemma_truth(design),
            "spread": spread,
            "spread_exact": limit_spread(design),
            "normality": float(stats.kstest(scaled / spread, "norm").statistic),
            "unlikeness": unlikeness(design, size),
            "largest_ratio": largest_ratio(design),
        }
    ]


def bounded(points: FloatArray) -> FloatArray:
    """Return the function g of Lemma 1 that is averaged: k(·, 0.1), bounded and not symmetric."""
    return smoothed_kernel(points - SD, BANDWIDTH, 0.0)


def lemma_truth(design: str) -> float:
    """Return ∫ g dQ in closed form: a normal distribution, or a mixture of two."""
    parts = groups("halves" if design == "halves" else "iid")
    return float(
        sum(share * smoothed_kernel(np.asarray(mean - SD), BANDWIDTH, CANDIDATE_SD**2) for mean, share in parts)
    )


def second_term(design: str, size: int) -> float:
    """Return E ‖m_P − (1/N) Σ r(Z_i) k(·, Z_i)‖² for `iid` and `halves`; for `strata`, which is lower, NaN.

    Examples
    --------
    >>> closed = 20 / 175**0.5  # ∫ p²/q for N(0, 0.1²) and N(0, 0.2²)
    >>> bool(np.isclose(second_term("iid", 10), (closed - TRUTH_P.squared_norm) / 10))
    True
    """
    if design == "strata":
        return float("nan")
    x, weights = quadrature()
    ratio = ratios(design, x)
    # k(x, x) = 1, so the first integral is that of p²/q.
    total = float(np.sum(weights * ratio * target_density(x)))
    gram = smoothed_kernel(x[::4, None] - x[::4], BANDWIDTH, 0.0)
    for mean, share in groups(design):
        own = np.exp(-0.5 * ((x - mean) / CANDIDATE_SD) ** 2) / (CANDIDATE_SD * np.sqrt(2.0 * np.pi))
        moment = (4.0 * weights * ratio * own)[::4]
        total -= share * float(moment @ gram @ moment)
    return total / size


def limit_spread(design: str) -> float:
    """Return the σ of Assumption 3, the standard deviation of √N (S_N/N − 1); for `strata` its limit, 0."""
    if design == "strata":
        return 0.0
    x, weights = quadrature()
    ratio = ratios(design, x)
    variance = float(np.sum(weights * ratio * target_density(x)))
    for mean, share in groups(design):
        own = np.exp(-0.5 * ((x - mean) / CANDIDATE_SD) ** 2) / (CANDIDATE_SD * np.sqrt(2.0 * np.pi))
        variance -= share * float(np.sum(weights * ratio * own)) ** 2
    return float(np.sqrt(variance))


def largest_ratio(design: str) -> float:
    """Return sup p/q, by quadrature points."""
    x, _ = quadrature()
    return float(np.max(target_density(x) / mean_density(design, x)))


def _mean(name: str, values: FloatArray) -> Row:
    return {name: float(values.mean()), f"{name}_error": float(values.std(ddof=1) / np.sqrt(len(values)))}
