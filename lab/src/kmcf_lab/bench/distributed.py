"""Fits on Dask chunks: time over examples and workers, memory of the workers, bytes between them, and the result."""

# mypy: disable-error-code=no-untyped-call
# Dask leaves some of its functions without types.

from __future__ import annotations

import resource
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from kmcf.datasets import paper_model
from kmcf.distributed import connect
from kmcf.filter import KernelMonteCarloFilter
from kmcf.numerics.arrays import FloatArray
from kmcf_lab.statistics import rmse

CHUNK = 500_000
IN_MEMORY = 1_000_000
"""Largest number of examples for which a fit in memory stands beside."""
MODEL = "1a"


@dataclass(frozen=True)
class DistributedRow:
    """One fit."""

    n: int
    workers: int
    """0: in memory, in one process, NumPy."""
    fit_seconds: float
    peak_gigabytes: float
    """Largest resident memory of a worker, interpreter included; in memory, of the process so far."""
    moved_megabytes: float
    """Sent by workers, to each other and here."""
    ranks: tuple[int, int]
    kept: int
    """Examples that came here."""
    error: float
    """Root mean squared error of a test sequence."""
    milliseconds_per_step: float


def measure_distributed(n: int, workers: int, steps: int = 200) -> DistributedRow:
    """Fit n examples of model 1a, drawn where they are needed, on processes of this machine."""
    import dask.array as da

    if workers == 0:
        states, observations = (np.concatenate(parts) for parts in zip(*map(_drawn, _chunks(n)), strict=True))
        return _row(n, 0, states, observations, None, steps)
    with connect(workers=workers) as client:
        sizes = [size for size, _ in _chunks(n)]
        numbers = da.from_array(np.array([seed for _, seed in _chunks(n)]), chunks=1)
        states, observations = (
            numbers.map_blocks(_part, which, n, dtype=float, chunks=(tuple(sizes), (1,)), new_axis=1)
            for which in (0, 1)
        )
        return _row(n, workers, states, observations, client, steps)


def _row(n: int, workers: int, states: Any, observations: Any, client: Any, steps: int) -> DistributedRow:
    model = paper_model(MODEL)
    flt = KernelMonteCarloFilter(model.transition, initial=model.initial, engine="compressed", random_state=0)
    began = perf_counter()
    flt.fit(states, observations)
    seconds = perf_counter() - began
    here = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]
    peaks = here if client is None else list(client.run(_peak).values())
    moved = 0 if client is None else sum(client.run(_sent).values())
    test = model.simulate(steps, random_state=(1, 0))
    began = perf_counter()
    run = flt.filter(test.observations)
    per_step = 1e3 * (perf_counter() - began) / steps
    return DistributedRow(
        n, workers, seconds, max(peaks) / 2**20, moved / 2**20, flt.ranks_, len(flt.states_),
        rmse(run.mean, test.states), per_step,
    )  # fmt: skip


def _chunks(n: int) -> list[tuple[int, int]]:
    return [(min(CHUNK, n - first), k) for k, first in enumerate(range(0, n, CHUNK))]


def _drawn(chunk: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    size, seed = chunk
    data = paper_model(MODEL).simulate(size, random_state=(0, seed))
    return data.states, data.observations


def _part(numbers: Any, which: int, n: int) -> FloatArray:
    return _drawn(_chunks(n)[int(numbers[0])])[which]


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)
