"""Several sequences at once, each in a process of its own: the same results as one after the other.

Processes are forked, so that they see the fitted filter without a copy. What they send back refers to it instead of
carrying it along: beliefs still form their weights only on request.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.filter.belief import Belief
from kmcf.filter.summaries import Summaries

DEEPEST = 8
Result = TypeVar("Result")
_work: tuple[Callable[[int], Any], set[int]] | None = None
"""What forked processes inherit: the task, and the identities of what they share with their parent."""


def in_parallel(task: Callable[[int], Result], count: int, n_jobs: int, shared: Any) -> Iterator[Result]:
    """Yield the results of a task for 0, 1, ..., in order, computed by several processes (threads, where none fork).

    Parameters
    ----------
    task : callable
        A function of the number.
    count : int
        How many numbers.
    n_jobs : int
        How many processes; −1: one per core.
    shared : object
        What results refer to without carrying it along.

    Examples
    --------
    >>> list(in_parallel(lambda number: number**2, 4, 2, None))
    [0, 1, 4, 9]
    """
    global _work
    import joblib

    workers = min(joblib.effective_n_jobs(n_jobs), count)
    if workers < 2:
        yield from map(task, range(count))
        return
    if not can_fork():
        with ThreadPoolExecutor(workers) as threads:
            yield from threads.map(task, range(count))
        return
    known = _reachable(shared)
    _work = task, set(known)
    try:
        with _forked(workers) as processes:
            for sent in processes.map(_do, range(count)):
                yield _Reader(io.BytesIO(sent), known).load()
    finally:
        _work = None


def can_fork() -> bool:
    """Say whether processes can be forked safely: not where JAX runs threads of its own."""
    return hasattr(os, "fork") and "jax" not in sys.modules and sys.platform != "darwin"


def check_jobs(n_jobs: Any) -> int:
    """Return a number of jobs; an error if it is none.

    Examples
    --------
    >>> check_jobs(2), check_jobs(-1)
    (2, -1)
    """
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or (n_jobs < 1 and n_jobs != -1):
        raise ValueError(f"n_jobs = {n_jobs!r}; it must be a positive number of processes, or -1 for all cores.")
    return int(n_jobs)


def _forked(workers: int) -> Executor:
    fork = multiprocessing.get_context("fork")
    # One thread each: the processes are as many as the cores.
    return ProcessPoolExecutor(workers, mp_context=fork, initializer=threadpool_limits, initargs=(1,))


def _do(number: int) -> bytes:
    assert _work is not None
    task, known = _work
    sent = io.BytesIO()
    _Sender(sent, known).dump(task(number))
    return sent.getvalue()


class _Sender(pickle.Pickler):
    """Pickles results; what the parent has is referred to by its identity, which a fork preserves."""

    def __init__(self, file: io.BytesIO, known: set[int]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._known = known

    def persistent_id(self, obj: Any) -> int | None:
        return id(obj) if id(obj) in self._known else None

    def reducer_override(self, obj: Any) -> Any:
        """Pickle beliefs and summaries as they are, nothing completed, if the parent has what completes them."""
        rule = getattr(obj.source, "rule", None) if isinstance(obj, Belief) else None
        if isinstance(obj, Summaries) or (isinstance(obj, Belief) and (obj.source is None or id(rule) in self._known)):
            return _restored, (type(obj), dict(vars(obj)))
        return NotImplemented


def _restored(kind: type, state: dict[str, Any]) -> Any:
    thing: Any = object.__new__(kind)
    thing.__dict__.update(state)
    return thing


class _Reader(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, known: dict[int, Any]) -> None:
        super().__init__(file)
        self._shared = known

    def persistent_load(self, pid: Any) -> Any:
        return self._shared[pid]


def _reachable(root: Any) -> dict[int, Any]:
    """Return the arrays and objects inside something, by identity."""
    found: dict[int, Any] = {}
    level = [root]
    for _ in range(DEEPEST):
        inside: list[Any] = []
        for thing in level:
            if id(thing) in found or not _is_shared(thing):
                continue
            found[id(thing)] = thing
            inside += _parts(thing)
        level = inside
    return found


def _is_shared(thing: Any) -> bool:
    plain = thing is None or isinstance(thing, bool | int | float | str | bytes | type)
    return not plain and thing != () if isinstance(thing, tuple) else not plain


def _parts(thing: Any) -> Sequence[Any]:
    if isinstance(thing, dict):
        return list(thing.values())
    if isinstance(thing, list | tuple):
        return list(thing)
    return list(vars(thing).values()) if hasattr(thing, "__dict__") else []
