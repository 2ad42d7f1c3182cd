"""The ABC particle filter and the Kernel Monte Carlo Filter, given equally many simulated observations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from kmcf.baselines import ParticleFilter
from kmcf.datasets import StateSpaceModel, Trajectory, paper_model
from kmcf.filter import KernelMonteCarloFilter, SequentialFilter
from kmcf.numerics.arrays import FloatArray
from kmcf_lab.abc.filter import AbcParticleFilter, Summary
from kmcf_lab.cells import Cell, Coordinate, Result, Row, run_cells
from kmcf_lab.quiet import quiet
from kmcf_lab.statistics import rmse

MODELS = ("1a", "2a", "3a")
BUDGETS = (500, 2000, 8000)
"""Simulated observations in all: n examples once, or N particles at each of T steps."""
LARGEST = {"3a": 2000}
"""The largest budget of a model, where learning the observation kernel would take too long with more."""
LENGTHS = (10, 50, 250)
"""T."""
TEST_STEPS = 250
"""Errors are over so many steps: one sequence of 250, five of 50 or twenty-five of 10."""
BANDWIDTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Bandwidths tried, over the typical distance of two observations (or summaries), √(2 Σ_j variance_j)."""
ORACLE_PARTICLES = 2000
METHODS = ("KMCF", "ABC", "ABC, summary", "oracle")


def log_mean_square(observations: FloatArray) -> FloatArray:
    """Return log Σ_j y_j² / m, (n, 1): all that the observations of stochastic volatility say about the state.

    Examples
    --------
    >>> log_mean_square(np.array([[1.0, -1.0]]))
    array([[0.]])
    """
    squares = np.mean(np.reshape(observations, (len(observations), -1)) ** 2, axis=1, keepdims=True)
    return np.log(np.maximum(squares, 1e-300))


SUMMARIES: dict[str, Summary] = {"2a": log_mean_square, "3a": log_mean_square}
"""Sufficient statistics where an observation is not one itself; without a density, somebody has to guess them."""


def sequences(model: StateSpaceModel, purpose: str, length: int, where: dict[str, Coordinate]) -> list[Trajectory]:
    """Simulate sequences of one length, ``TEST_STEPS`` steps in all; the same for every budget."""
    seeds = [Cell(purpose, {**where, "length": length, "sequence": k}).seed for k in range(TEST_STEPS // length)]
    return [model.simulate(length, random_state=seed) for seed in seeds]


def error_on(flt: SequentialFilter, tests: Sequence[Trajectory]) -> float:
    """Return the root mean squared error over the steps of all sequences."""
    runs = flt.filter_many([test.observations for test in tests], keep_beliefs=False)
    return rmse(np.concatenate([run.mean for run in runs]), np.concatenate([test.states for test in tests]))


def typical_distance(observations: FloatArray) -> float:
    """Return √(2 Σ_j variance_j), the root mean squared distance of two independent observations.

    Examples
    --------
    >>> typical_distance(np.array([[0.0], [2.0]]))
    1.4142135623730951
    """
    return float(np.sqrt(2.0 * np.var(observations, axis=0).sum()))


def tuned_abc(flt: AbcParticleFilter, train: Trajectory, pilots: Sequence[Trajectory]) -> AbcParticleFilter:
    """Return the ABC filter with the bandwidth that does best on the pilot sequences."""
    compared = train.observations if flt.summary is None else flt.summary(train.observations)
    distance = typical_distance(compared)
    fitted = clone(flt).fit(train.states, train.observations)
    tried = [fitted.refitted(train.states, train.observations, bandwidth=share * distance) for share in BANDWIDTHS]
    return tried[int(np.argmin([error_on(one, pilots) for one in tried]))]


def compute(cell: Cell) -> Sequence[Row]:
    """Compute both methods with one budget, or the oracle, on sequences of all lengths."""
    where = cell.coordinates
    common = {key: where[key] for key in ("model", "repetition", "seed")}
    model = paper_model(str(where["model"]))
    lengths = [int(word) for word in str(where["lengths"]).split()]
    tests = {length: sequences(model, "test", length, common) for length in lengths}
    seed = cell.seed % 2**32
    with quiet():
        if cell.study == "oracle":
            particles = int(where["particles"])
            oracle = ParticleFilter(
                model.transition, model.log_likelihood, model.initial, n_particles=particles, random_state=seed
            )
            return [_row("oracle", length, particles, error_on(oracle, tests[length])) for length in lengths]
        train = model.simulate(int(where["budget"]), random_state=seed)
        return [*_kernel_rows(model, train, tests, seed), *_abc_rows(model, train, tests, common, seed)]


def _kernel_rows(
    model: StateSpaceModel, train: Trajectory, tests: Mapping[int, Sequence[Trajectory]], seed: int
) -> list[Row]:
    """Filter with the examples, which serve all sequences."""
    flt = KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=seed)
    flt.fit(train.states, train.observations)
    return [_row("KMCF", length, len(train.states), error_on(flt, those)) for length, those in tests.items()]


def _abc_rows(
    model: StateSpaceModel,
    train: Trajectory,
    tests: Mapping[int, Sequence[Trajectory]],
    where: dict[str, Coordinate],
    seed: int,
) -> list[Row]:
    """Filter with as many particles as the budget affords over a sequence, comparing observations or summaries."""
    rows = []
    for length, those in tests.items():
        size = max(len(train.states) // length, 1)
        pilots = sequences(model, "pilot", length, where)
        for method, summary in (("ABC", None), ("ABC, summary", SUMMARIES.get(model.name))):
            if method == "ABC" or summary is not None:
                settings: dict[str, Any] = {"summary": summary, "n_particles": size, "random_state": seed}
                flt = AbcParticleFilter(model.transition, model.observe, model.initial, **settings)
                best = tuned_abc(flt, train, pilots)
                rows.append({**_row(method, length, size, error_on(best, those)), "bandwidth": best.bandwidth})
    return rows


def _row(method: str, length: int, size: int, error: float) -> Row:
    """Put a result in a row; ``size`` is the number of examples or of particles."""
    return {"method": method, "length": length, "size": size, "rmse": error}


def abc_cells(
    models: Sequence[str], budgets: Sequence[int], lengths: Sequence[int], repetitions: int, seed: int
) -> list[Cell]:
    """Return the cells: one per model, budget and repetition, and one of the oracle per model and repetition."""
    cells: list[Cell] = []
    for repetition in range(repetitions):
        for model in models:
            common: dict[str, Coordinate] = {"model": model, "repetition": repetition, "seed": seed}
            common |= {"lengths": " ".join(map(str, lengths)), "steps": TEST_STEPS}
            cells.append(Cell("oracle", {**common, "particles": ORACLE_PARTICLES}))
            cells += [Cell("budget", {**common, "budget": b}) for b in budgets if b <= LARGEST.get(model, b)]
    return cells


def run_abc(
    folder: Path,
    models: Sequence[str] = MODELS,
    budgets: Sequence[int] = BUDGETS,
    lengths: Sequence[int] = LENGTHS,
    *,
    repetitions: int = 5,
    seed: int = 0,
    **running: Any,
) -> list[Result]:
    """Compute the comparison.

    Parameters
    ----------
    folder : Path
        Where the cells are kept.
    models : sequence of str
        Models of the paper, without controls.
    budgets, lengths : sequence of int
        Numbers of simulated observations, and lengths of the sequences to filter.
    repetitions : int
        Independent data sets for each.
    seed : int
        Another seed gives independent results.
    **running
        As in :func:`kmcf_lab.cells.run_cells`: jobs, backend, resume, progress.
    """
    return run_cells(abc_cells(models, budgets, lengths, repetitions, seed), compute, folder, **running)
