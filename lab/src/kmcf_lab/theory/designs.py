"""Candidates for herding: i.i.d. as in Theorem 2, independent only as in Theorem 3, and two that neither allows.

P is the N(0, 0.1²) of Section 6.1. Each design draws N candidates Z_i and knows the density q of Lemma 1, that is the
mean of their densities:

    iid         Z_i ~ N(0, 0.2²)
    halves      every other candidate from N(−0.1, 0.2²), the rest from N(0.1, 0.2²): independent, not identical
    strata      Z_i in the i-th of N parts of equal mass of N(0, 0.2²): independent, all different
    chain       an autoregression with stationary N(0, 0.2²) and correlation 0.9: dependent, as recorded examples are
    uncovered   |Z| with Z ~ N(0, 0.2²): p/q is infinite on half of the line

Theorem 3 asks for Assumptions 1 to 3, which `iid` and `halves` satisfy. `strata` satisfies 1 and 2, and 3 only in the
limit σ = 0. `chain` violates 1 (independence), `uncovered` violates 3 (sup p/q < ∞).
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from kmcf.numerics.arrays import FloatArray
from kmcf_lab.resampling.study import SD

CANDIDATE_SD, SHIFT, CORRELATION = 2.0 * SD, SD, 0.9
DESIGNS = ("iid", "halves", "strata", "chain", "uncovered")
SATISFYING = ("iid", "halves", "strata")
"""Designs whose candidates are independent and cover P."""


def draw_candidates(design: str, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw N candidates.

    Examples
    --------
    >>> points = draw_candidates("strata", 4, np.random.default_rng(0))
    >>> bool((np.diff(points) > 0).all()), bool((draw_candidates("uncovered", 9, np.random.default_rng(0)) > 0).all())
    (True, True)
    """
    if design == "strata":
        return CANDIDATE_SD * np.asarray(stats.norm.ppf((np.arange(size) + rng.random(size)) / size))
    noise = CANDIDATE_SD * rng.normal(size=size)
    if design == "halves":
        return noise + np.where(np.arange(size) % 2 == 0, -SHIFT, SHIFT)
    if design == "chain":
        for i in range(1, size):
            noise[i] = CORRELATION * noise[i - 1] + np.sqrt(1 - CORRELATION**2) * noise[i]
    return np.abs(noise) if design == "uncovered" else noise


def target_density(points: FloatArray) -> FloatArray:
    """Return p."""
    return _normal(points, 0.0, SD)


def mean_density(design: str, points: FloatArray) -> FloatArray:
    """Return q, the mean of the candidates' densities (for `halves` with an even N)."""
    if design == "halves":
        return 0.5 * (_normal(points, -SHIFT, CANDIDATE_SD) + _normal(points, SHIFT, CANDIDATE_SD))
    density = _normal(points, 0.0, CANDIDATE_SD)
    return np.where(points > 0, 2.0 * density, 0.0) if design == "uncovered" else density


def ratios(design: str, points: FloatArray) -> FloatArray:
    """Return p/q at candidates."""
    return target_density(points) / mean_density(design, points)


def unlikeness(design: str, size: int) -> float:
    """Return max_i ∫ (q_i/q − 1)² dP, which Assumption 2 wants to be at most A/√N, for independent designs.

    q_i is the mean density of all candidates but the i-th, so q_i/q − 1 = (1 − f_i/q)/(N − 1) with its density f_i. In
    a stratum S of mass 1/N, f_i = N q there and 0 elsewhere, which makes it P(S) + (1 − P(S))/(N − 1)².

    Examples
    --------
    >>> unlikeness("iid", 10), bool(unlikeness("strata", 1000) < 1.1 * unlikeness("strata", 100) / 10)
    (0.0, True)
    """
    if design == "iid":
        return 0.0
    if design == "strata":
        edges = CANDIDATE_SD * np.asarray(stats.norm.ppf(np.arange(size + 1) / size))
        mass = np.diff(stats.norm.cdf(edges / SD))
        return float(np.max(mass + (1.0 - mass) / (size - 1) ** 2))
    if design == "halves":
        x, weights = quadrature()
        own = _normal(x, SHIFT, CANDIDATE_SD) / mean_density(design, x)
        return float(np.sum(weights * target_density(x) * (1.0 - own) ** 2) / (size - 1) ** 2)
    raise ValueError(f"design = {design!r}; Assumption 2 is about independent candidates that cover P.")


def groups(design: str) -> tuple[tuple[float, float], ...]:
    """Return means and shares of the normal distributions that `iid` and `halves` consist of."""
    return ((0.0, 1.0),) if design == "iid" else ((-SHIFT, 0.5), (SHIFT, 0.5))


def quadrature() -> tuple[FloatArray, FloatArray]:
    """Return points and weights of the trapezoidal rule, exact to rounding for these smooth functions."""
    x = np.linspace(-12 * SD, 12 * SD, 4801)
    return x, np.full(len(x), x[1] - x[0])


def _normal(points: FloatArray, mean: float, sd: float) -> FloatArray:
    return np.asarray(np.exp(-0.5 * ((points - mean) / sd) ** 2) / (sd * np.sqrt(2.0 * np.pi)))
