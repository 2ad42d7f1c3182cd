"""What a filter costs and errs as a new user gets it: defaults only, on observations of many dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.datasets import linear_track, paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf.numerics.arrays import FloatArray
from kmcf.transitions import GaussianRandomWalk
from kmcf_lab.quiet import quiet

STEPS, SEQUENCES = 100, 4
MOST_TIGHT = 900
"""Up to so many examples the same filter with a tolerance of 1e-8 is measured, too."""


@dataclass(frozen=True)
class Problem:
    """Examples, and what follows."""

    name: str
    states: FloatArray
    observations: FloatArray
    later_states: FloatArray
    later_observations: FloatArray
    scale: float
    """Standard deviation of the random walk."""


@dataclass(frozen=True)
class DefaultsRow:
    """One filter on one problem; times are processor times of one thread."""

    problem: str
    n: int
    columns: int
    tolerance: str
    kernel: str
    engine: str
    ranks: tuple[int, int]
    fit_seconds: float
    milliseconds: float
    error: float
    """Root mean squared error, over all sequences of random numbers."""
    standard_error: float


def measure_defaults(sizes: Sequence[int], *, report: Callable[[str], None] = print) -> list[DefaultsRow]:
    """Fit and run the default filter on ten to 31 columns; beside it, where that takes no hours, a tight one."""
    rows: list[DefaultsRow] = []
    with threadpool_limits(limits=1), quiet():
        for problem in (spikes(), scales(800), *(counts(size) for size in sizes)):
            for tolerance in (None, 1e-8) if len(problem.states) <= MOST_TIGHT else (None,):
                report(f"{problem.name}, n = {len(problem.states)}, tolerance {tolerance}")
                rows.append(_measured(problem, tolerance))
    return rows


def spikes() -> Problem:
    """Return the spikes of 31 neurons of a rat on a track: 1136 examples, then 100 steps."""
    track = linear_track()
    X, Y, n = track.states, track.observations, 1136
    return Problem("31 spike counts", X[:n], Y[:n], X[n : n + STEPS], Y[n : n + STEPS], 25.0)


def scales(n: int) -> Problem:
    """Return ten numbers whose scale depends on the state: model 3a."""
    model = paper_model("3a")
    first, later = model.simulate(n, random_state=(0, 0)), model.simulate(STEPS, random_state=(0, 1))
    return Problem("model 3a", first.states, first.observations, later.states, later.observations, 1.0)


def counts(n: int, columns: int = 23) -> Problem:
    """Return made-up counts whose rates bend with a place in the plane."""
    rng = np.random.default_rng(0)
    states = 3.0 * np.sin(0.3 * np.cumsum(rng.normal(size=(n + STEPS, 2)), axis=0))
    rates = np.exp(np.cos(states @ rng.normal(size=(2, columns)) + rng.uniform(0.0, 6.0, size=columns)))
    seen = rng.poisson(rates).astype(np.float64)
    return Problem(f"{columns} counts", states[:n], seen[:n], states[n:], seen[n:], 0.3)


def _measured(problem: Problem, tolerance: float | None) -> DefaultsRow:
    flt = KernelMonteCarloFilter(GaussianRandomWalk(problem.scale), tolerance=tolerance, random_state=0)
    start = process_time()
    flt.fit(problem.states, problem.observations)
    fitted = process_time()
    runs = flt.filter_many([problem.later_observations] * SEQUENCES)
    done = process_time()
    errors = [float(np.sqrt(np.mean((run.mean - problem.later_states) ** 2))) for run in runs]
    return DefaultsRow(
        problem.name,
        len(problem.states),
        problem.observations.shape[1],
        "default" if tolerance is None else f"{tolerance:g}",
        "" if flt.kernel_choice_ is None else flt.kernel_choice_.name,
        flt.engine_,
        flt.ranks_,
        fitted - start,
        1e3 * (done - fitted) / (SEQUENCES * len(problem.later_states)),
        float(np.mean(errors)),
        float(np.std(errors, ddof=1) / SEQUENCES**0.5),
    )
