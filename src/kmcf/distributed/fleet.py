"""Filtering many sequences on a cluster: results in order, one at a time, so that they need not all fit in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import count, repeat
from typing import Any

from kmcf.filter.results.run import FilterRun
from kmcf.support.extras import require

AHEAD = 2
"""Sequences per thread of the cluster that are under way or waiting to be fetched."""


def filter_many(
    flt: Any, sequences: Iterable[Any], controls: Iterable[Any] | None = None, times: Iterable[Any] | None = None
) -> Iterator[FilterRun]:
    """Filter sequences on the cluster in use, and yield their runs in order.

    The runs are those of ``flt.filter_many``: sequence b uses stream b of random numbers. Sequences are read as they
    are needed, so they may come from a generator.

    Parameters
    ----------
    flt : KernelMonteCarloFilter
        A fitted filter, on NumPy arrays. It travels to each worker once, with its transition.
    sequences : iterable
        The observations of each sequence.
    controls, times : iterables, optional
        The same for each.

    Examples
    --------
    >>> with connect(workers=2):  # doctest: +SKIP
    ...     for run in filter_many(flt, sequences):
    ...         print(run.mean[-1])
    """
    client = require("distributed", "distributed").get_client()
    shared = client.scatter(flt, broadcast=True)
    threads = sum(worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values())
    waiting: deque[Any] = deque()
    inputs, clocks = (repeat(None) if given is None else given for given in (controls, times))
    given = zip(count(), sequences, inputs, clocks, strict=False)
    for stream, sequence, control, clock in given:
        waiting.append(client.submit(_filtered, shared, stream, sequence, control, clock, pure=False))
        if len(waiting) >= AHEAD * max(threads, 1):
            yield _next(waiting)
    while waiting:
        yield _next(waiting)


def _next(waiting: deque[Any]) -> FilterRun:
    future = waiting.popleft()
    run: FilterRun = future.result()
    future.release()
    return run


def _filtered(flt: Any, stream: int, sequence: Any, controls: Any, times: Any) -> FilterRun:
    """Filter one sequence with its own stream of random numbers."""
    run: FilterRun = flt.backend_.filter_stream(sequence, controls, times=times, stream=stream)
    return run
