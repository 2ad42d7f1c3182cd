"""Runs without end, and runs by threads and processes at once."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from kmcf.filter import FilterRun
from kmcf_lab.bench.endurance_cases import MODEL, Endured, fitted

PAGE = 4096
LENGTH = 300
COMPARED = 1000


def long_run(steps: int) -> Endured:
    """Filter online, with gaps and outliers on the way; compare the beginning with a batch, and measure memory."""
    flt, endured = fitted(), Endured()
    observations = MODEL.simulate(1000, random_state=1).observations
    observations[100:110] = np.nan
    observations[500] = 1e6
    expected = flt.filter(observations[: min(steps, COMPARED)], keep_beliefs=False).mean
    belief, warm = flt.start(), max(steps // 10, 1)
    begin = (0.0, 0)
    for t in range(steps):
        belief = flt.step(belief, observations[t % len(observations)])
        problem = "" if np.isfinite(belief.mean()).all() else f"the mean at step {t + 1} is not finite"
        if t < COMPARED and not np.array_equal(belief.mean(), expected[t]):
            problem = f"step {t + 1} differs from the batch"
        endured.count(problem)
        if t + 1 == warm:
            begin = (resident_megabytes(), _objects())
    grown, objects = resident_megabytes() - begin[0], _objects() - begin[1]
    endured.measured = f"memory grew by {grown:.1f} MB and {objects} objects over the last {steps - warm} steps"
    return endured


def in_threads(sequences: int, workers: int = 4) -> Endured:
    """Filter sequences with one filter in several threads, and compare with one after the other, bit by bit."""
    flt, given = fitted(), _sequences(sequences)
    with ThreadPoolExecutor(workers) as pool:
        runs = list(pool.map(flt.filter, given))
    return _compared(runs, [flt.filter(sequence) for sequence in given])


def in_processes(sequences: int, workers: int = 2) -> Endured:
    """Filter sequences in other processes, and compare with this one, bit by bit."""
    flt, given = fitted(), _sequences(sequences)
    runs = joblib.Parallel(n_jobs=workers, backend="loky")(joblib.delayed(flt.filter)(sequence) for sequence in given)
    return _compared(runs, [flt.filter(sequence) for sequence in given])


def resident_megabytes() -> float:
    """Return the memory that this process holds; NaN where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return float("nan")
    return pages * PAGE / 1e6


def _objects() -> int:
    gc.collect()
    return len(gc.get_objects())


def _sequences(count: int) -> list[Any]:
    return [MODEL.simulate(LENGTH, random_state=10 + k).observations for k in range(count)]


def _compared(runs: Sequence[FilterRun], expected: Sequence[FilterRun]) -> Endured:
    endured = Endured(measured=f"{LENGTH} steps each")
    for number, (run, other) in enumerate(zip(runs, expected, strict=True)):
        columns = other.columns()
        differing = [
            name
            for name, values in run.columns().items()
            if not np.array_equal(values, columns[name], equal_nan=np.asarray(values).dtype.kind == "f")
        ]
        endured.count(f"sequence {number} differs in {', '.join(differing)}" if differing else "")
    return endured
