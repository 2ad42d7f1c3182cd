"""How the error grows as the rank shrinks, on the paper's eight models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kmcf.datasets import PAPER_MODELS, paper_model
from kmcf.filter import KernelMonteCarloFilter
from kmcf.kernels.defaults import default_observation_kernel
from kmcf_lab.quiet import quiet
from kmcf_lab.statistics import estimate, rmse

N_EXAMPLES, LENGTH = 200, 300


@dataclass(frozen=True)
class RankRow:
    """Root mean squared errors on one model, over data sets."""

    model: str
    rank: int | None
    """None: the exact engine."""
    reading: str
    """"features": the observation enters by its features; "Algorithm 5": by its similarities with all examples."""
    mean: float
    standard_error: float


def measure_ranks(ranks: Sequence[int], *, repetitions: int, report: Callable[[str], None] = print) -> list[RankRow]:
    """Filter each model with the exact engine and with low ranks of both kernel matrices, untuned."""
    rows = []
    for name in PAPER_MODELS:
        report(f"model {name}")
        for rank in (None, *ranks):
            for reading in ("features",) if rank is None else ("features", "Algorithm 5"):
                mean = estimate(_error(name, rank, reading, seed) for seed in range(repetitions))
                rows.append(RankRow(name, rank, reading, mean.value, mean.error))
    return rows


def _error(name: str, rank: int | None, reading: str, seed: int) -> float:
    model = paper_model(name)
    train = model.simulate(N_EXAMPLES, random_state=(seed, 0))
    test = model.simulate(LENGTH, random_state=(seed, 1))
    flt = KernelMonteCarloFilter(
        model.transition,
        initial=model.initial,
        engine="exact" if rank is None else {"features": "lowrank", "Algorithm 5": "literal"}[reading],
        rank=rank,
        observation_kernel=default_observation_kernel(train.observations),
        delta=9e-6,
        random_state=seed,
    )
    with quiet():
        flt.fit(train.states, train.observations)
        run = flt.filter(test.observations, test.controls)
    return rmse(run.mean, test.states)
