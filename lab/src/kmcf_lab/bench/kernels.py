"""Untuned filters with plain and learnt observation kernels, on the paper's models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.baselines import ParticleFilter
from kmcf.datasets import StateSpaceModel, Trajectory, paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf.kernels import Learned
from kmcf.kernels.defaults import default_observation_kernel
from kmcf.numerics.arrays import FloatArray
from kmcf_lab.quiet import quiet
from kmcf_lab.statistics import estimate, rmse

LENGTH, ORACLE_PARTICLES = 400, 3000


@dataclass(frozen=True)
class KernelRow:
    """The error of one method on one problem."""

    problem: str
    method: str
    mean: float
    standard_error: float


def compared_settings(columns: int) -> dict[str, dict[str, Any]]:
    """Return the settings compared, by name; from one column of observations there is nothing to learn."""
    alone = {"augment": False}
    learnt: dict[str, Any] = alone | ({"observation_kernel": Learned()} if columns > 1 else {})
    return {
        "default": {},
        "examples alone": alone,
        "plain": {"observation_kernel": "plain"},
        "learnt": learnt,
        "learnt, importance-weighted rule": {**learnt, "rule": "importance"},
        "on particles": {"support": "particles", **learnt},
        "on both": {"support": "both", **learnt},
    }


def measure_models(
    models: Sequence[str], n: int, repetitions: int, report: Callable[[str], None] = print
) -> list[KernelRow]:
    """Return RMSE ÷ oracle RMSE on models of the paper, and its geometric mean over them."""
    rows: list[KernelRow] = []
    with threadpool_limits(limits=1):
        for name in models:
            report(f"model {name}")
            model = paper_model(name)
            ratios: dict[str, list[float]] = {}
            for seed in range(repetitions):
                train = model.simulate(n, random_state=(seed, 0))
                test = model.simulate(LENGTH, random_state=(seed, 1))
                oracle = rmse(oracle_means(model, test, seed), test.states)
                for method, settings in compared_settings(train.observations.shape[1]).items():
                    means = filtered_means(model.transition, train, test, settings, seed, initial=model.initial)
                    ratios.setdefault(method, []).append(rmse(means, test.states) / oracle)
            rows += [kernel_row(name, method, values) for method, values in ratios.items()]
    for method in dict.fromkeys(row.method for row in rows):
        logs = np.log([row.mean for row in rows if row.method == method])
        rows.append(KernelRow("geometric mean", method, float(np.exp(logs.mean())), np.nan))
    return rows


def oracle_means(model: StateSpaceModel, test: Trajectory, seed: int) -> FloatArray:
    """Return the posterior means of a particle filter that knows the true likelihood."""
    oracle = ParticleFilter(
        model.transition, model.log_likelihood, model.initial, n_particles=ORACLE_PARTICLES, random_state=seed
    )
    return oracle.filter(test.observations, test.controls, keep_beliefs=False).mean


def filtered_means(
    transition: Any, train: Trajectory, test: Trajectory, settings: dict[str, Any], seed: int, initial: Any = None
) -> FloatArray:
    """Return the posterior means of an untuned filter with some settings.

    Parameters
    ----------
    transition, initial : callable
        As for the filter.
    train, test : Trajectory
        Examples, and the sequence to filter.
    settings : dict
        Further settings of the filter; ``observation_kernel="plain"`` means a Gaussian on scaled observations.
    seed : int
        Of the filter.
    """
    settings = dict(settings)
    if settings.get("observation_kernel") == "plain":
        settings |= {"observation_kernel": default_observation_kernel(train.observations), "delta": 9e-6}
    flt = KernelMonteCarloFilter(transition, initial=initial, random_state=seed, **settings)
    with quiet():
        run = flt.fit(train.states, train.observations).filter(test.observations, test.controls, keep_beliefs=False)
    return run.mean


def kernel_row(problem: str, method: str, values: Iterable[float]) -> KernelRow:
    """Summarise the errors of a method over data sets."""
    mean = estimate(values)
    return KernelRow(problem, method, mean.value, mean.error)
