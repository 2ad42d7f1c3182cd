"""Section 5.4: on model 1a the whole filter approaches the exact posterior as the number of examples grows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcf.datasets import paper_model
from kmcf.filter import FilterRun, KernelMonteCarloFilter
from kmcf.kernels import Gaussian
from kmcf.kernels.defaults import OBSERVATION_MULTIPLIER
from kmcf.numerics.arrays import FloatArray
from kmcf_lab.cells import Cell, Row
from kmcf_lab.kalman import KalmanRun, kalman
from kmcf_lab.truths import NormalMean, smoothed_kernel

SIZES = (50, 100, 200, 400, 800, 1600)
# One kernel for all n, so that distances can be compared; about half the median distance of the states.
STATE_BANDWIDTH = 1.0
# How much stronger the regularisers are made to drive the sum of the weights away from 1.
FACTORS = (1.0, 10.0, 100.0, 1000.0)


def regularisers(n: int) -> tuple[float, float]:
    """Return ε and δ: our defaults at n = 200, decaying slowly with n as the corollary demands.

    Examples
    --------
    >>> regularisers(200)
    (0.001, 9e-06)
    """
    return 1e-3 * (200 / n) ** 0.5, 9e-6 * (200 / n)


def consistency_cells(sizes: Sequence[int], steps: int, repetitions: int, seed: int) -> list[Cell]:
    """Return the cells: numbers of examples and repetitions."""
    return [
        Cell("consistency", {"n": n, "steps": steps, "repetition": repetition, "seed": seed})
        for n in sizes
        for repetition in range(repetitions)
    ]


def normalisation_cells(steps: int, repetitions: int, seed: int) -> list[Cell]:
    """Return the cells of Section 4.3's remark: one n, both regularisers multiplied by some factors."""
    return [
        Cell("normalisation", {"n": 200, "factor": factor, "steps": steps, "repetition": repetition, "seed": seed})
        for factor in FACTORS
        for repetition in range(repetitions)
    ]


def compute_consistency(cell: Cell) -> Sequence[Row]:
    """Filter one sequence with n i.i.d. examples and compare every step with the Kalman filter.

    As in the corollary, examples are independent, the density of their states covers the posterior, and N = ℓ = n. As
    in the paper, Algorithm 1 is computed in full (by the exact engine, to rounding) with a Gaussian kernel on the
    observations as they are, resampling is done at every step and no step is rejected.
    """
    n, steps, rng = int(cell.coordinates["n"]), int(cell.coordinates["steps"]), cell.generator()
    model = paper_model("1a")
    states = model.initial(n, rng)
    observations = model.observe(states, rng)
    test = model.simulate(steps, random_state=rng)
    epsilon, delta = (float(cell.coordinates.get("factor", 1.0)) * value for value in regularisers(n))
    flt = KernelMonteCarloFilter(
        model.transition,
        initial=model.initial,
        state_kernel=Gaussian(STATE_BANDWIDTH),
        observation_kernel=Gaussian(multiplier=OBSERVATION_MULTIPLIER),
        epsilon=epsilon,
        delta=delta,
        engine="exact",
        n_particles=n,
        n_resample=n,
        resample_threshold=0.0,
        reject=False,
        relocate=False,
        random_state=int(rng.integers(2**31)),
    )
    run = flt.fit(states, observations).filter(test.observations)
    exact = kalman(test.observations)
    distances, raw = _distances(run, states[:, 0], exact)
    variance_gaps = np.abs(run.covariance[:, 0, 0] - exact.variances)
    return [
        {
            "distance": float(np.sqrt(np.mean(np.maximum(distances, 0.0)))),
            "median_distance": float(np.sqrt(np.median(np.maximum(distances, 0.0)))),
            "median_raw": float(np.sqrt(np.median(np.maximum(raw, 0.0)))),
            "sum_error": float(np.median(np.abs(run.weight_sum - 1.0))),
            "mean_error": float(np.sqrt(np.mean((run.mean[:, 0] - exact.means) ** 2))),
            "variance_error": float(np.median(variance_gaps)),
            "largest_variance_error": float(np.max(variance_gaps)),
            "rejected": int(np.sum(run.rejected)),
        }
    ]


def _distances(run: FilterRun, column: FloatArray, exact: KalmanRun) -> tuple[FloatArray, FloatArray]:
    """Return the squared RKHS distances to the exact posteriors, and those without line 16 of Algorithm 3."""
    gram = smoothed_kernel(column[:, None] - column, STATE_BANDWIDTH, 0.0)
    distances, raw = np.empty(len(exact.means)), np.empty(len(exact.means))
    for t, (mean, variance) in enumerate(zip(*exact, strict=True)):
        truth = NormalMean(mean, variance, STATE_BANDWIDTH)
        weights, total = run[t].weights, run.weight_sum[t]
        square, product = weights @ gram @ weights, weights @ truth(column)
        distances[t] = square - 2.0 * product + truth.squared_norm
        raw[t] = total**2 * square - 2.0 * total * product + truth.squared_norm
    return distances, raw
