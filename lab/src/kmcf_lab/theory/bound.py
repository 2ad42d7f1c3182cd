"""Theorem 1: the error of the prediction step against the theorem's two terms.

For an estimate m̂_P = Σ w_i k(·, X_i) and moved points X'_i ~ p(·|X_i) the expected squared error is exactly

    Σ w_i² (E k(X'_i, X'_i) − E k(X'_i, X̃'_i))  +  ⟨(m̂_P − m_P) ⊗ (m̂_P − m_P), θ⟩,

and the theorem bounds the second part by ‖m̂_P − m_P‖² ‖θ‖, provided that θ lies in H ⊗ H.

On the *circle* with random turns it does, and ‖θ‖ is known (:func:`theta_norm`). In the paper's own example on the
*line*, a Gaussian kernel and p(·|x) = N(x, s²), it does not: θ depends on x₁ − x₂ alone, so it is not
square-integrable over the plane, whereas every element of a Gaussian RKHS is. The theorem then says nothing. But adding
independent noise is a contraction of the RKHS of a shift-invariant kernel, so the bound holds with 1 in place of ‖θ‖,
which is what is checked there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kmcf.numerics.arrays import FloatArray
from kmcf_lab.cells import Cell, Row
from kmcf_lab.resampling.study import BANDWIDTH, SD, TRUTH_P, ridge_weights
from kmcf_lab.truths import Circle, NormalMean, smoothed_kernel, theta_norm

CIRCLE, CIRCLE_SD = Circle(bandwidth=0.5), 0.5
WIDTH = 1.0
# Few points and weak regularisation give large weights of both signs; many points and strong regularisation, even ones.
POINT_COUNTS = (10, 30, 100, 300)
RIDGES = (1e-8, 1e-4, 1e-1)
CIRCLE_TRANSITIONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
LINE_TRANSITIONS = (0.01, 0.03, 0.1, 0.3, 1.0)


class Terms(NamedTuple):
    """What the theorem compares, for one estimate of m_P."""

    first: float
    """Σ w_i² (E k(X'_i, X'_i) − E k(X'_i, X̃'_i))."""
    carried: float
    """The exact second part."""
    error_of_estimate: float
    """‖m̂_P − m_P‖²."""
    factor: float
    """‖θ‖ on the circle, 1 on the line."""
    measured: FloatArray
    """Squared errors ‖m̂_Q − m_Q‖² of independent moves."""


def least_theta_norm(half_width: float, variance: float, bandwidth: float = BANDWIDTH, factor: float = 1.0) -> float:
    """Return the least norm of a function that equals θ on a grid over [−half_width, half_width]², on the line.

    θ(x₁, x₂) = ⟨m₁, m₂⟩ for the kernel means of N(factor·x₁, variance) and N(factor·x₂, variance), all kernels Gaussian
    of one bandwidth. The square is tr(G⁻¹ Θ G⁻¹ Θ), with the kernel matrix G and the values Θ of θ. It grows with
    the width without bound, which shows numerically that no element of H ⊗ H equals θ.

    Examples
    --------
    >>> [round(least_theta_norm(width, 0.01), 1) for width in (0.5, 1.0, 2.0, 4.0)]
    [1.5, 2.1, 2.9, 4.0]
    """
    grid = np.arange(-half_width, half_width + bandwidth / 2, bandwidth)
    differences = grid[:, None] - grid
    gram = smoothed_kernel(differences, bandwidth, 0.0)
    theta = smoothed_kernel(factor * differences, bandwidth, 2.0 * variance)
    half = cho_solve(cho_factor(gram), theta)
    return float(np.sqrt(np.trace(half @ half)))


def bound_cells(draws: int, repetitions: int, seed: int) -> list[Cell]:
    """Return the cells: all combinations of space, transition, number of points and regularisation."""
    transitions = {"circle": CIRCLE_TRANSITIONS, "line": LINE_TRANSITIONS}
    return [
        Cell(
            "bound",
            {
                "space": space,
                "transition_sd": sd,
                "points": size,
                "ridge": ridge,
                "repetition": repetition,
                "draws": draws,
                "seed": seed,
            },
        )
        for space, spreads in transitions.items()
        for sd in spreads
        for size in POINT_COUNTS
        for ridge in RIDGES
        for repetition in range(repetitions)
    ]


def compute_bound(cell: Cell) -> Sequence[Row]:
    """Measure one cell: the estimate stays, its moves are repeated."""
    settings, rng = cell.coordinates, cell.generator()
    variance, draws = float(settings["transition_sd"]) ** 2, int(settings["draws"])
    place, measure = (np.pi, _circle) if settings["space"] == "circle" else (WIDTH, _line)
    points = rng.uniform(-place, place, size=int(settings["points"]))
    moves = np.sqrt(variance) * rng.normal(size=(draws, len(points)))
    weights, terms = measure(points, float(settings["ridge"]), variance, moves)
    second = terms.error_of_estimate * terms.factor
    return [
        {
            "effective_sample_size": float(1.0 / (weights @ weights)),
            "error_of_estimate": terms.error_of_estimate,
            "factor": terms.factor,
            "first_term": terms.first,
            "second_term": second,
            "bound": terms.first + second,
            "expected": terms.first + terms.carried,
            "measured": float(terms.measured.mean()),
            "standard_error": float(terms.measured.std(ddof=1) / np.sqrt(draws)),
        }
    ]


def _circle(points: FloatArray, ridge: float, variance: float, moves: FloatArray) -> tuple[FloatArray, Terms]:
    truth = CIRCLE.wrapped_normal(0.0, CIRCLE_SD**2)
    at_points = CIRCLE.kernel(points, CIRCLE_SD**2)
    weights = ridge_weights(CIRCLE.kernel(points[:, None] - points), at_points, ridge)
    estimate = CIRCLE.empirical(points, weights)
    damping = np.exp(-0.5 * CIRCLE.orders**2 * variance)
    spread = 1.0 - float(CIRCLE.kernel(np.zeros(()), 2.0 * variance))
    return weights, Terms(
        first=float(weights @ weights) * spread,
        carried=float(CIRCLE.squared_distance(estimate * damping, truth * damping)),
        error_of_estimate=float(CIRCLE.squared_distance(estimate, truth)),
        factor=theta_norm(variance),
        measured=CIRCLE.squared_distance(CIRCLE.empirical(points + moves, weights), truth * damping),
    )


def _line(points: FloatArray, ridge: float, variance: float, moves: FloatArray) -> tuple[FloatArray, Terms]:
    differences = points[:, None] - points
    weights = ridge_weights(smoothed_kernel(differences, BANDWIDTH, 0.0), TRUTH_P(points), ridge)
    truth = NormalMean(0.0, SD**2 + variance, BANDWIDTH)
    # ‖Σ w_i m_{p(·|X_i)} − m_Q‖², where both sides are kernel means of normal distributions
    carried = (
        weights @ smoothed_kernel(differences, BANDWIDTH, 2.0 * variance) @ weights
        - 2.0 * weights @ smoothed_kernel(points, BANDWIDTH, SD**2 + 2.0 * variance)
        + truth.squared_norm
    )
    spread = 1.0 - float(smoothed_kernel(np.zeros(()), BANDWIDTH, 2.0 * variance))
    return weights, Terms(
        first=float(weights @ weights) * spread,
        carried=float(carried),
        error_of_estimate=TRUTH_P.squared_error(points, weights),
        factor=1.0,
        measured=np.array([truth.squared_error(points + move, weights) for move in moves]),
    )
