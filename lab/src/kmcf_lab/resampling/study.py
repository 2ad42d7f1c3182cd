"""Section 6.1: the prediction step with and without resampling, where all kernel means are known in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kmcf.herding.herding import herd
from kmcf.herding.resampling import multinomial
from kmcf.numerics.arrays import FloatArray
from kmcf_lab.cells import Backend, Cell, Result, Row, run_cells
from kmcf_lab.truths import NormalMean, smoothed_kernel

# The paper's problem: P = N(0, 0.1²), a transition N(x, 0.1²), a Gaussian kernel of bandwidth 0.1, 100 points.
SD, TRANSITION_SD, BANDWIDTH, POINTS = 0.1, 0.1, 0.1, 100
TRUTH_P = NormalMean(0.0, SD**2, BANDWIDTH)
TRUTH_Q = NormalMean(0.0, SD**2 + TRANSITION_SD**2, BANDWIDTH)

# The paper does not state the λ of its demonstration; at 1e-6 the error of m̂_P has the size it quotes.
DEMONSTRATION_RIDGE, DEMONSTRATION_WIDTH = 1e-6, 1.0
SWEEP_WIDTH = 5.0
RIDGES = tuple(float(f"1e{k}") for k in range(-10, 2))
METHODS = ("woRes", "Res-KH", "Res-Trunc")
# Quantity, its symbol, and the number in the paper.
QUOTED = (
    ("error_of_estimate", "‖m̂_P − m_P‖²", 8.49e-10),
    ("woRes_q", "‖m̂_Q − m_Q‖², without resampling", 0.125),
    ("Res-KH_p", "‖m̌_P − m_P‖², herding", 4.74e-5),
    ("Res-KH_q", "‖m̌_Q − m_Q‖², herding", 0.00827),
    ("Res-Trunc_p", "‖m̌_P − m_P‖², truncation", 0.0538),
)


@dataclass(frozen=True)
class Draw:
    """One draw of the experiment: an estimate of m_P, resampled in all ways, then moved by the transition."""

    points: FloatArray
    weights: FloatArray
    samples: dict[str, FloatArray]
    """Points after resampling, by method; without resampling, the points themselves."""
    moved: dict[str, FloatArray]
    """The same after the transition."""

    def sample_weights(self, method: str) -> FloatArray:
        """Return the weights of a method's samples: uniform after resampling."""
        return self.weights if method == "woRes" else np.full(POINTS, 1.0 / POINTS)

    def errors(self) -> Row:
        """Return all squared RKHS errors, exactly."""
        row: Row = {
            "sum_of_squares": float(self.weights @ self.weights),
            "error_of_estimate": TRUTH_P.squared_error(self.points, self.weights),
        }
        for method in METHODS:
            weights = self.sample_weights(method)
            row[f"{method}_p"] = TRUTH_P.squared_error(self.samples[method], weights)
            row[f"{method}_q"] = TRUTH_Q.squared_error(self.moved[method], weights)
        row["inside"] = float(np.mean(np.abs(self.samples["Res-KH"]) <= 2.0 * SD))
        row["truncated_inside"] = float(np.mean(np.abs(self.samples["Res-Trunc"]) <= 2.0 * SD))
        row["negative"] = int(np.sum(self.weights < 0))
        return {**row, **self.shape_of_weights()}

    def shape_of_weights(self) -> Row:
        """Return what the paper says of the weights: where they are large, how they balance, which are discarded."""
        size, outside = np.abs(self.weights), np.abs(self.points) > 2.0 * SD
        small = self.points[size < 0.01 * size.max()]
        return {
            "largest_at": float(np.abs(self.points[np.argmax(size)])),
            "outside_net": float(self.weights[outside].sum()),
            "outside_gross": float(size[outside].sum()),
            "small_weights": len(small) / POINTS,
            "small_picks": float(np.mean(np.isin(self.samples["Res-KH"], small))),
        }


def draw(ridge: float, width: float, rng: np.random.Generator) -> Draw:
    """Estimate m_P with regularisation λ on points uniform in [−width, width], then resample it in all ways."""
    points = rng.uniform(-width, width, size=POINTS)
    gram = smoothed_kernel(points[:, None] - points, BANDWIDTH, 0.0)
    weights = ridge_weights(gram, TRUTH_P(points), ridge)
    picks = herd(gram @ weights, gram, POINTS, squared_norm=float(weights @ gram @ weights)).indices
    samples = {
        "woRes": points,
        "Res-KH": points[picks],
        "Res-Trunc": points[multinomial(weights, POINTS, rng)],
    }
    moved = {method: values + TRANSITION_SD * rng.normal(size=POINTS) for method, values in samples.items()}
    return Draw(points, weights, samples, moved)


def ridge_weights(gram: FloatArray, mean_values: FloatArray, ridge: float) -> FloatArray:
    """Minimise ‖Σ w_i k(·, X_i) − m‖² + λ‖w‖² and divide by the sum.

    The minimum is (G + λI)⁻¹ m. It is computed from the eigenvalues of G because a Cholesky factorisation nearly fails
    at λ = 1e-10.
    """
    values, vectors = np.linalg.eigh(gram)
    weights = vectors @ ((vectors.T @ mean_values) / (np.maximum(values, 0.0) + ridge))
    return weights / weights.sum()


def draw_of(cell: Cell) -> Draw:
    """Repeat the draw of a cell."""
    return draw(float(cell.coordinates["ridge"]), float(cell.coordinates["width"]), cell.generator())


def compute(cell: Cell) -> Sequence[Row]:
    """Compute the errors of one draw."""
    return [draw_of(cell).errors()]


def demonstration(seed: int, repetition: int) -> Cell:
    """Return the cell of one draw of the demonstration."""
    coordinates = {"ridge": DEMONSTRATION_RIDGE, "width": DEMONSTRATION_WIDTH, "repetition": repetition, "seed": seed}
    return Cell("demonstration", coordinates)


def run_resampling(
    folder: Path,
    *,
    repetitions: int = 20,
    draws: int = 200,
    seed: int = 0,
    jobs: int = 1,
    backend: Backend = "loky",
    resume: bool = False,
    progress: bool = False,
) -> list[Result]:
    """Compute the demonstration, many times over, and the sweep over λ.

    Parameters
    ----------
    folder : Path
        Where the cells are kept.
    repetitions : int
        Draws per λ of the sweep; the paper has 20.
    draws : int
        Draws of the demonstration; the paper has one.
    seed : int
        Another seed gives independent results.
    jobs, backend, resume, progress
        As in :func:`kmcf_lab.cells.run_cells`.
    """
    cells = [demonstration(seed, repetition) for repetition in range(draws)]
    cells += [
        Cell("sweep", {"ridge": ridge, "width": SWEEP_WIDTH, "repetition": repetition, "seed": seed})
        for ridge in RIDGES
        for repetition in range(repetitions)
    ]
    return run_cells(cells, compute, folder, jobs=jobs, backend=backend, resume=resume, progress=progress)
