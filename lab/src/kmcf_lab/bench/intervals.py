"""How often 95 % intervals contain the true state, on the linear-Gaussian models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kmcf.datasets import paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf_lab.quiet import quiet
from kmcf_lab.statistics import estimate

LENGTH = 400


@dataclass(frozen=True)
class IntervalRow:
    """Coverage on one model with n examples."""

    model: str
    n: int
    interval: float
    """Share of true states inside ``run.interval``."""
    standard_error: float
    normal_band: float
    """Share inside mean ± 1.96 standard deviations (zero where the variance is negative)."""


def measure_intervals(
    sizes: Sequence[int], *, repetitions: int, report: Callable[[str], None] = print
) -> list[IntervalRow]:
    """Filter models 1a and 1b, untuned, and count the true states inside the intervals."""
    rows = []
    for name in ("1a", "1b"):
        model = paper_model(name)
        for n in sizes:
            report(f"model {name}, n = {n}")
            inside, band = [], []
            for seed in range(repetitions):
                train = model.simulate(n, random_state=(seed, 0))
                test = model.simulate(LENGTH, random_state=(seed, 1))
                flt = KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=seed)
                with quiet():
                    run = flt.fit(train.states, train.observations).filter(test.observations, test.controls)
                inside.append(float(np.mean((run.interval[:, 0] <= test.states) & (test.states <= run.interval[:, 1]))))
                sd = np.sqrt(np.maximum(run.covariance[:, :, 0], 0.0))
                band.append(np.mean(np.abs(run.mean - test.states) <= 1.96 * sd))
            coverage = estimate(inside)
            rows.append(IntervalRow(name, n, coverage.value, coverage.error, float(np.mean(band))))
    return rows
