"""Fits on Dask chunks: time over examples and workers, memory of the workers, bytes between them, and the result."""

# mypy: disable-error-code=no-untyped-call
# Dask leaves some of its functions without types.

from __future__ import annotations

import resource
from dataclasses import dataclass
from pathlib import Path
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


def measure_distributed(n: int, workers: int, folder: Path, steps: int = 200) -> DistributedRow:
    """Fit n examples of model 1a, which lie in files, on processes of this machine.

    Parameters
    ----------
    n : int
        Number of examples.
    workers : int
        Number of processes; 0: in memory.
    folder : Path
        Where the examples are, or are written if they are not there yet.
    steps : int
        Length of the test sequence.
    """
    import dask.array as da

    paths = [folder / f"{name}-{n}" for name in ("states", "observations")]
    if not paths[0].exists():
        _write(n, paths)
    states, observations = (da.from_npy_stack(str(path), mmap_mode="r") for path in paths)
    if workers == 0:
        return _row(n, 0, states.compute(), observations.compute(), None, steps)
    with connect(workers=workers) as client:
        return _row(n, workers, states, observations, client, steps)


def _write(n: int, paths: list[Path]) -> None:
    """Write independent draws of the model's states and observations as NPY stacks."""
    import dask.array as da

    model, sizes = paper_model(MODEL), [min(CHUNK, n - first) for first in range(0, n, CHUNK)]
    numbers = da.arange(len(sizes), chunks=1)

    def drawn(number: Any, which: int) -> FloatArray:
        rng = np.random.default_rng([int(number[0]), n])
        states = model.initial(sizes[int(number[0])], rng)
        return np.asarray((states, model.observe(states, rng))[which])

    for which, path in enumerate(paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        chunks = (tuple(sizes), (1,))
        da.to_npy_stack(str(path), numbers.map_blocks(drawn, which, dtype=float, chunks=chunks, new_axis=1))


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


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)
