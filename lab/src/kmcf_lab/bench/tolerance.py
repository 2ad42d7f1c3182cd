"""How tight a tolerance must be, in units of the regularisers: the experiment behind ``tolerance="auto"``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.datasets import StateSpaceModel, Trajectory, paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf.kernels.defaults import default_observation_kernel
from kmcf_lab.quiet import quiet

FACTORS = (1.0, 0.3, 0.1, 0.03)
REGULARISERS = ((1e-3, 9e-6), (1e-4, 1e-7), (1e-2, 1e-2))
MODELS = ("1a", "2b", "3a", "4a")
TIGHT = 1e-12
PARTICLES, STEPS = 1000, 30


@dataclass(frozen=True)
class ToleranceRow:
    """The change of posterior means in one setting, in posterior sd, given the exact run's particles."""

    model: str
    n: int
    epsilon: float
    delta: float
    tolerance: str
    ranks: tuple[int, int]
    median: float
    largest: float


def measure_tolerances(
    sizes: Sequence[int], *, models: Sequence[str] = MODELS, report: Callable[[str], None] = print
) -> list[ToleranceRow]:
    """Loosen the tolerance of the states or of the observations while the other stays tight; then try "auto"."""
    rows: list[ToleranceRow] = []
    with threadpool_limits(limits=1), quiet():
        for name in models:
            for n in sizes:
                report(f"model {name}, n = {n}")
                for epsilon, delta in REGULARISERS:
                    rows += _measure(name, n, epsilon, delta)
    return rows


def _measure(name: str, n: int, epsilon: float, delta: float) -> list[ToleranceRow]:
    model = paper_model(name)
    train, test = model.simulate(n, random_state=(0, 0)), model.simulate(STEPS, random_state=(0, 1))
    regularisers = {"epsilon": epsilon, "delta": delta}
    exact = _fitted(model, train, engine="exact", **regularisers)
    filters = {
        label: _fitted(model, train, engine="lowrank", tolerance=tolerance, **regularisers)
        for label, tolerance in _tolerances(epsilon, delta).items()
    }
    changes: dict[str, list[float]] = {label: [] for label in filters}
    variances = []
    belief = exact.start()
    for t, y in enumerate(test.observations):
        control = None if test.controls is None else test.controls[t]
        # A step from the exact run's belief moves the same points with the same random numbers in every filter.
        before, belief = belief, exact.step(belief, y, control)
        variances.append(float(belief.covariance()[0, 0]))
        for label, flt in filters.items():
            changes[label].append(float(np.abs(flt.step(before, y, control).mean() - belief.mean())[0]))
    sd = float(np.sqrt(np.median([v for v in variances if v > 0])))
    return [
        ToleranceRow(
            name, n, epsilon, delta, label, flt.ranks_, np.median(changes[label]) / sd, max(changes[label]) / sd
        )
        for label, flt in filters.items()
    ]


def _tolerances(epsilon: float, delta: float) -> dict[str, tuple[float, float] | str]:
    return {
        **{f"states {c:g} ε": (c * epsilon, TIGHT) for c in FACTORS},
        **{f"observations {c:g} √δ": (TIGHT, c * delta**0.5) for c in FACTORS},
        "auto": "auto",
    }


def _fitted(model: StateSpaceModel, train: Trajectory, **settings: Any) -> KernelMonteCarloFilter:
    flt = KernelMonteCarloFilter(
        model.transition,
        initial=model.initial,
        observation_kernel=default_observation_kernel(train.observations),
        n_particles=PARTICLES,
        random_state=0,
        **settings,
    )
    return flt.fit(train.states, train.observations)
