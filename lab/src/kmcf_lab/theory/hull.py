"""Theorems 2 and 3: herding is bounded by the distance of its target from the candidates' convex hull.

For *any* target m̂ in the RKHS the proof shows

    ‖m̂ − m̌‖² ≤ inf_{g ∈ M_N} ‖m̂ − g‖² + 4 C² (1 + ln ℓ)/ℓ,

with the convex hull M_N of k(·, Z_1), …, k(·, Z_N) and C² = sup k(x, x) = 1 here. Targets with negative weights lie
outside the hull, so that the infimum is positive: a floor that no number of picks can pass.

The proof identifies Algorithm 4 with the Frank–Wolfe method with steps 1/ℓ from g_0 = 0. That method maximises
m̂ − Σ_{j<p} k(·, x_j)/(p − 1), whereas Algorithm 4 divides by p, so from the second pick on they are two algorithms.
Both are measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from kmcf.herding.herding import herd
from kmcf.numerics.arrays import FloatArray, IntArray
from kmcf_lab.cells import Cell, Row
from kmcf_lab.resampling.study import BANDWIDTH, TRUTH_P, ridge_weights
from kmcf_lab.truths import smoothed_kernel

TARGETS = ("inside", "signed", "cancelling", "scaled", "negative")
PICKS = (10, 20, 50, 100, 200, 500, 1000, 2000)
CANDIDATES, WIDTH = 100, 0.5


class Nearest(NamedTuple):
    """The point of a convex hull that is nearest to a target."""

    weights: FloatArray
    squared_distance: float
    gap: float
    """By how much the squared distance may exceed the infimum (the duality gap, a certificate)."""


def nearest_in_hull(mean_values: FloatArray, gram: FloatArray, squared_norm: float) -> Nearest:
    """Minimise ‖m̂ − Σ a_i k(·, Z_i)‖² over a ≥ 0, Σ a_i = 1.

    Parameters
    ----------
    mean_values : array (N,)
        m̂ at the candidates.
    gram : array (N, N)
        Kernel matrix of the candidates.
    squared_norm : float
        ‖m̂‖².

    Examples
    --------
    >>> nearest_in_hull(np.array([2.0, -1.0]), np.eye(2), 5.0).weights.round(6)
    array([1., 0.])
    """
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-14 * values[-1]
    root, basis = np.sqrt(values[kept]), vectors[:, kept]
    heavy = 1e4  # the weight of the constraint Σ a = 1 among the squares; what is missing is divided out below
    system = np.vstack([root[:, None] * basis.T, np.full(len(gram), heavy)])
    weights, _ = nnls(system, np.append(basis.T @ mean_values / root, heavy), maxiter=100 * len(gram))
    weights = weights / weights.sum()
    fitted = gram @ weights
    squared = squared_norm - 2.0 * weights @ mean_values + weights @ fitted
    gradient = 2.0 * (fitted - mean_values)
    return Nearest(weights, max(float(squared), 0.0), max(float(weights @ gradient - gradient.min()), 0.0))


def frank_wolfe(mean_values: FloatArray, gram: FloatArray, size: int) -> IntArray:
    """Pick as the Frank–Wolfe method of the proof does, with g_0 = 0 and steps 1/ℓ.

    Examples
    --------
    >>> frank_wolfe(np.array([1.0, 0.4]), np.array([[1.0, 0.5], [0.5, 1.0]]), 3)
    array([0, 0, 0])
    """
    picks, total = np.empty(size, dtype=np.int64), np.zeros(len(gram))
    for p in range(size):
        picks[p] = np.argmax(p * mean_values - total if p else mean_values)
        total += gram[picks[p]]
    return picks


def hull_cells(repetitions: int, seed: int) -> list[Cell]:
    """Return the cells: kinds of targets and repetitions."""
    return [
        Cell("hull", {"target": target, "candidates": CANDIDATES, "repetition": repetition, "seed": seed})
        for target in TARGETS
        for repetition in range(repetitions)
    ]


def compute_hull(cell: Cell) -> Sequence[Row]:
    """Herd one target with both algorithms, and compare the losses with the bound at all ℓ."""
    rng, size = cell.generator(), int(cell.coordinates["candidates"])
    points = rng.uniform(-WIDTH, WIDTH, size=size)
    gram = smoothed_kernel(points[:, None] - points, BANDWIDTH, 0.0)
    weights = target_weights(str(cell.coordinates["target"]), points, gram, rng)
    values, norm = gram @ weights, float(weights @ gram @ weights)
    nearest = nearest_in_hull(values, gram, norm)
    printed, proof = herd(values, gram, max(PICKS), norm).indices, frank_wolfe(values, gram, max(PICKS))
    infimum = nearest.squared_distance
    rows: list[Row] = []
    for picks in PICKS:
        losses = [_loss(indices[:picks], weights, gram) for indices in (printed, proof)]
        rows.append(
            {
                "picks": picks,
                "infimum": infimum,
                "gap": nearest.gap,
                "negative_mass": float(-np.minimum(weights, 0.0).sum()),
                "loss": losses[0],
                "loss_frank_wolfe": losses[1],
                # Never below what the certificate leaves open, so that a logarithm exists.
                "excess": max(losses[0] - infimum, nearest.gap, 1e-15),
                "bound": infimum + 4.0 * (1.0 + float(np.log(picks))) / picks,
                "same_picks": float(np.mean(printed[:picks] == proof[:picks])),
            }
        )
    return rows


def target_weights(kind: str, points: FloatArray, gram: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the weights of a target on the candidates: in the hull, or outside it in four ways."""
    if kind == "inside":
        weights = rng.random(len(points))
        return weights / weights.sum()
    if kind == "signed":  # an estimate from noisy values of m_P, with weights of both signs as Kernel Bayes' Rule has
        return ridge_weights(gram, TRUTH_P(points) + 0.01 * rng.normal(size=len(points)), 1e-4)
    if kind == "cancelling":  # random signs, sum one, far from every distribution
        weights = rng.normal(size=len(points))
        return weights - weights.mean() + 1.0 / len(points)
    weights = np.full(len(points), 1.0 / len(points))
    return 2.0 * weights if kind == "scaled" else -weights


def _loss(indices: IntArray, weights: FloatArray, gram: FloatArray) -> float:
    """‖m̌ − m̂‖²."""
    gap = np.bincount(indices, minlength=len(weights)) / len(indices) - weights
    return float(gap @ gram @ gap)
