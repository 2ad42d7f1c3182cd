"""Windows on the paper's models, whose observations are independent given the states, as filters assume.

There a window brings nothing that the prior does not already know: its older observations were used before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kmcf.datasets import paper_model, windows
from kmcf.filter import KernelMonteCarloFilter
from kmcf.kernels import named
from kmcf_lab.quiet import quiet

LENGTH = 200


@dataclass(frozen=True)
class ModelWindowRow:
    """Windows of k observations on one model, over all data sets."""

    model: str
    n: int
    k: int
    data_sets: int
    rmse: float
    standard_error: float
    """Of the ratio to k = 1 on the same data sets; NaN for a single one."""
    ratio: float
    """Root mean squared error divided by that of k = 1."""
    inside: float
    """Share of true states inside 95 % intervals."""
    width: float
    calibrated_inside: float
    calibrated_width: float


def measure_model_windows(
    models: Sequence[str],
    n: int,
    lengths: Sequence[int],
    *,
    repetitions: int,
    report: Callable[[str], None] = print,
) -> list[ModelWindowRow]:
    """Filter new sequences with windows of several lengths, before and after calibration; the first length is 1."""
    rows = []
    for name in models:
        single = np.ones(repetitions)
        for k in lengths:
            report(f"model {name}, k = {k}")
            found = np.array([_data_set(name, n, k, data_set) for data_set in range(repetitions)])
            single = found[:, 0] if k == lengths[0] else single
            ratios = found[:, 0] / single
            error = float(ratios.std(ddof=1) / np.sqrt(repetitions)) if repetitions > 1 else float("nan")
            rmse, *shares = (float(mean) for mean in found.mean(axis=0))
            rows.append(ModelWindowRow(name, n, k, repetitions, rmse, error, float(ratios.mean()), *shares))
    return rows


def _data_set(name: str, n: int, k: int, data_set: int) -> list[float]:
    """Return the error, and share and width of intervals before and after calibration."""
    model = paper_model(name)
    train, test = model.simulate(n, random_state=(data_set, 0)), model.simulate(LENGTH, random_state=(data_set, 1))
    stacked, shown = (windows(part.observations, k, fill="repeat") for part in (train, test))
    flt = KernelMonteCarloFilter(
        model.transition, initial=model.initial, observation_kernel=named("asinh"), random_state=data_set
    )
    with quiet():
        flt.fit(train.states, stacked)
        before = flt.filter(shown, test.controls)
        flt.calibrate(train.states, stacked, controls=train.controls)
        after = flt.filter(shown, test.controls)
    found = [float(np.sqrt(np.mean((before.mean - test.states) ** 2)))]
    for run in (before, after):
        lower, upper = run.interval[:, 0], run.interval[:, 1]
        found += [float(np.mean((lower <= test.states) & (test.states <= upper))), float(np.mean(upper - lower))]
    return found
