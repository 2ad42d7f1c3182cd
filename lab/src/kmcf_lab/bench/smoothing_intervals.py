"""How often 95 % intervals of smoothed states hold the truth, before and after calibration, beside filtered ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.datasets import paper_model
from kmcf.filter import KernelMonteCarloFilter, score_runs
from kmcf_lab.quiet import quiet

LAG = 3


@dataclass(frozen=True)
class CoverageRow:
    """One model: shares of true states inside their 95 % intervals, and interval scores."""

    problem: str
    n: int
    data_sets: int
    filtered: float
    smoothed: float
    filtered_calibrated: float
    smoothed_calibrated: float
    lagging_calibrated: float
    """Smoothed by three further observations only."""
    filtered_score: float
    """Interval score after calibration; lower is better."""
    smoothed_score: float


def measure_coverage(models: Sequence[str], n: int, *, steps: int, repetitions: int) -> Iterator[CoverageRow]:
    """Yield a row per model; filters are calibrated with their own examples, left out in turn."""
    with threadpool_limits(limits=1), quiet():
        for name in models:
            found = [_data_set(name, n, steps, seed) for seed in range(repetitions)]
            yield CoverageRow(name, n, repetitions, *(float(value) for value in np.mean(found, axis=0)))


def _data_set(name: str, n: int, steps: int, seed: int) -> list[float]:
    model = paper_model(name)
    train, test = (model.simulate(size, random_state=(seed, part)) for part, size in ((10, n), (11, steps)))
    flt = KernelMonteCarloFilter(model.transition, model.initial, random_state=seed, tolerance="auto")
    flt.fit(train.states, train.observations)

    def scores(run: Any) -> Any:
        return score_runs([run], [test.states])

    raw = flt.smooth(test.observations, test.controls)
    flt.calibrate(train.states, train.observations, controls=train.controls)
    run = flt.smooth(test.observations, test.controls)
    late = flt.smooth(test.observations, test.controls, lag=LAG)
    return [
        scores(raw.filtered).inside,
        scores(raw).inside,
        scores(run.filtered).inside,
        scores(run).inside,
        scores(late).inside,
        scores(run.filtered).interval_score,
        scores(run).interval_score,
    ]
