"""How the error grows as the rank shrinks, on the paper's eight models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kmcf.alerts import RejectedStepWarning
from kmcf.arrays import FloatArray
from kmcf.datasets import PAPER_MODELS, paper_model
from kmcf.defaults import default_observation_kernel
from kmcf.filter import KernelMonteCarloFilter

N_EXAMPLES, LENGTH = 200, 300


@dataclass(frozen=True)
class RankRow:
    """Root mean squared errors on one model, over data sets."""

    model: str
    rank: int | None
    """None: the exact engine."""
    mean: float
    standard_error: float


def measure_ranks(ranks: Sequence[int], *, repetitions: int, report: Callable[[str], None] = print) -> list[RankRow]:
    """Filter each model with the exact engine and with low ranks of both kernel matrices, untuned."""
    rows = []
    for name in PAPER_MODELS:
        report(f"model {name}")
        for rank in (None, *ranks):
            errors = np.array([_error(name, rank, seed) for seed in range(repetitions)])
            rows.append(RankRow(name, rank, float(errors.mean()), _standard_error(errors)))
    return rows


def _error(name: str, rank: int | None, seed: int) -> float:
    model = paper_model(name)
    train = model.simulate(N_EXAMPLES, random_state=(seed, 0))
    test = model.simulate(LENGTH, random_state=(seed, 1))
    flt = KernelMonteCarloFilter(
        model.transition,
        initial=model.initial,
        engine="exact" if rank is None else "lowrank",
        rank=rank,
        observation_kernel=default_observation_kernel(train.observations),
        delta=9e-6,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectedStepWarning)
        run = flt.fit(train.states, train.observations).filter(test.observations, test.controls)
    return float(np.sqrt(np.mean((run.mean - test.states) ** 2)))


def _standard_error(values: FloatArray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
