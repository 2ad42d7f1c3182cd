"""All methods on the paper's eight models: root mean squared errors of the posterior mean, and times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from kmcf.baselines import (
    GPParticleFilter,
    KernelBayesFilter,
    KNNParticleFilter,
    KNNRegression,
    NearestNeighbor,
    ParticleFilter,
)
from kmcf.datasets import StateSpaceModel, Trajectory, paper_model
from kmcf.filter import KernelMonteCarloFilter, SequentialFilter
from kmcf.tuning import tune
from kmcf_lab.quiet import quiet
from kmcf_lab.statistics import estimate, rmse

LENGTH = 100
TRANSITIONS = 1000
"""Transition pairs that only the Kernel Bayes' Rule filter gets, as many as in the paper."""


@dataclass(frozen=True)
class BaselineRow:
    """One method on one model."""

    problem: str
    method: str
    n: int
    mean: float
    """Root mean squared error, averaged over data sets."""
    standard_error: float
    milliseconds: float
    """Median over data sets of the average time per step, summaries included."""


def make_filters(model: StateSpaceModel, seed: int) -> dict[str, SequentialFilter]:
    """Return the methods compared, by name, with their default settings."""
    draws: dict[str, Any] = {"initial": model.initial, "random_state": seed}
    return {
        "KMCF": KernelMonteCarloFilter(model.transition, **draws),
        "kNN-PF": KNNParticleFilter(model.transition, **draws),
        "kNN-PF, divided": KNNParticleFilter(model.transition, n_neighbors=10, divide_by_density=True, **draws),
        "GP-PF": GPParticleFilter(model.transition, **draws),
        "KBR filter": KernelBayesFilter(model.transition, **draws),
        "NN": NearestNeighbor(model.transition, **draws),
        "kNN regression": KNNRegression(model.transition, **draws),
        "oracle": ParticleFilter(model.transition, model.log_likelihood, **draws),
    }


def measure_baselines(
    models: Sequence[str], n: int, repetitions: int, trials: int = 0, report: Callable[[str], None] = print
) -> list[BaselineRow]:
    """Measure all methods on the given models.

    Parameters
    ----------
    models : sequence of str
        Names of the paper's models.
    n : int
        Number of examples.
    repetitions : int
        Number of data sets.
    trials : int
        Trials for tuning each method that can be tuned, on the examples; 0: the defaults.
    report : callable
        Called with what is being measured.
    """
    rows: list[BaselineRow] = []
    with threadpool_limits(limits=1), quiet():
        for name in models:
            report(f"model {name}, n = {n}")
            model = paper_model(name)
            measured: dict[str, list[tuple[float, float]]] = {}
            for seed in range(repetitions):
                train, test = model.simulate(n, random_state=(seed, 0)), model.simulate(LENGTH, random_state=(seed, 1))
                moves = model.simulate(TRANSITIONS + 1, random_state=(seed, 2))
                for method, default in make_filters(model, seed).items():
                    flt = _tuned(default, train, trials, seed) if trials and default.search_space() else default
                    _fit(flt, train, moves)
                    measured.setdefault(method, []).append(_error_and_time(flt, test))
            rows += [summary_row(name, method, n, values) for method, values in measured.items()]
    return rows


def _tuned(flt: SequentialFilter, train: Trajectory, trials: int, seed: int) -> SequentialFilter:
    """Return the filter with settings tuned on two halves of the examples, not fitted."""
    result = tune(flt, train.states, train.observations, train.controls, n_trials=trials, random_state=seed)
    return clone(result.best_filter)


def _fit(flt: SequentialFilter, train: Trajectory, moves: Trajectory) -> None:
    if isinstance(flt, KernelBayesFilter):
        pairs = (moves.states[:-1], moves.states[1:])
        controlled = pairs if moves.controls is None else (*pairs, moves.controls[1:])
        flt.fit(train.states, train.observations, transitions=controlled)
    else:
        flt.fit(train.states, train.observations)


def _error_and_time(flt: SequentialFilter, test: Trajectory) -> tuple[float, float]:
    began = perf_counter()
    run = flt.filter(test.observations, test.controls, keep_beliefs=False)
    return rmse(run.mean, test.states), 1000.0 * (perf_counter() - began) / len(test.observations)


def summary_row(name: str, method: str, n: int, values: list[tuple[float, float]]) -> BaselineRow:
    """Return the row of a method on a model, from its error and milliseconds per step on each data set."""
    errors, times = np.array(values).T
    mean = estimate(errors)
    return BaselineRow(name, method, n, mean.value, mean.error, float(np.median(times)))
