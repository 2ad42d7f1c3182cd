"""Several sequences at once, each in a process of its own: the same results as one after the other.

Processes are forked, so that they see the fitted filter without a copy. What they send back refers to it instead of
carrying it along: beliefs still form their weights only on request.
"""

from __future__ import annotations

import gc
import io
import itertools
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from kmcf.embedding.lazy_weights import LazyWeights
from kmcf.filter.results.belief import Belief
from kmcf.filter.results.kept import KeptBeliefs, complete
from kmcf.filter.results.summaries import Summaries
from kmcf.support.packing import Same

DEEPEST = 8
Result = TypeVar("Result")
_work: dict[int, tuple[Callable[[int], Any], dict[int, Any]]] = {}
"""What forked processes inherit, by number: the task, and what they share with their parent, by identity."""
_numbers = itertools.count()
_thread = threading.local()
_held: set[int] = set()
"""Ends of pipes; when one is closed, the processes at the other end exit."""


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
    import joblib

    workers = min(joblib.effective_n_jobs(n_jobs), count)
    if workers < 2:
        yield from map(task, range(count))
        return
    if not can_fork():
        given_up = threading.Event()
        with ThreadPoolExecutor(workers, initializer=setattr, initargs=(_thread, "given_up", given_up)) as threads:
            try:
                yield from threads.map(task, range(count))
            except BaseException:
                given_up.set()
                raise
        return
    own = next(_numbers)
    _work[own] = task, _reachable(shared)
    try:
        with _forked(workers) as processes:
            for sent in processes.map(partial(_do, own), range(count)):
                with _uncollected():
                    result, told = pickle.loads(sent)
                for warned in told:
                    warnings.warn_explicit(**warned)
                yield result
    except BrokenProcessPool:
        raise RuntimeError(
            "a process that filtered a sequence ended abruptly (killed, or out of memory); try n_jobs=1."
        ) from None
    finally:
        del _work[own]


def raise_if_given_up() -> None:
    """End a task of a thread whose result nobody waits for any more: after Ctrl-C or an error in another one."""
    given_up = getattr(_thread, "given_up", None)
    if given_up is not None and given_up.is_set():
        raise RuntimeError("another sequence was stopped, and so is this one.")


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


@contextmanager
def _forked(workers: int) -> Iterator[Executor]:
    """Return processes that end at once where the block ends early, and where this process does."""
    fork = multiprocessing.get_context("fork")
    read, written = os.pipe()
    _held.add(written)
    try:
        # One thread each: the processes are as many as the cores.
        with ProcessPoolExecutor(workers, mp_context=fork, initializer=_begin, initargs=(read,)) as processes:
            try:
                yield processes
            except BaseException:
                _let_go(written)
                raise
    finally:
        _let_go(written)
        os.close(read)


def _let_go(written: int) -> None:
    if written in _held:
        _held.remove(written)
        os.close(written)


def _begin(read: int) -> None:
    """Use one thread, and never look for garbage among what was inherited: that would copy its memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
    for written in _held.copy():
        _let_go(written)
    threading.Thread(target=_end_with_parent, args=(read,), daemon=True).start()
    threadpool_limits(1)
    gc.freeze()


def _end_with_parent(read: int) -> None:
    """Wait until the other end of the pipe is closed, by the parent or because it is gone."""
    os.read(read, 1)
    os._exit(1)


def _do(own: int, number: int) -> bytes:
    """Do a task; return its result and the warnings that it gave, pickled."""
    task, known = _work[own]
    with warnings.catch_warnings(record=True) as caught:
        result = _sendable(task, number)
    sent = io.BytesIO()
    with _uncollected():
        _Sender(sent, own, known).dump((result, [_told(one) for one in caught]))
    return sent.getvalue()


def _told(caught: warnings.WarningMessage) -> dict[str, Any]:
    """Return what gives a warning again in another process; of a category that cannot travel, as a UserWarning."""
    try:
        category = pickle.loads(pickle.dumps(caught.category))
    except Exception:
        category = UserWarning
    return {
        "message": str(caught.message), "category": category, "filename": caught.filename, "lineno": caught.lineno
    }  # fmt: skip


@contextmanager
def _uncollected() -> Iterator[None]:
    """Do not look for garbage while many small objects come into being, none of which is any."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _sendable(task: Callable[[int], Any], number: int) -> Any:
    """Do a task; an error of the user's that could not travel becomes one that can."""
    try:
        return task(number)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            raise RuntimeError(f"{type(error).__name__}: {error}") from None
        raise


class _Sender(pickle.Pickler):
    """Pickles results; what the parent has is referred to by its identity, which a fork preserves."""

    def __init__(self, file: io.BytesIO, own: int, known: Container[int]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._own, self._known = own, known

    def reducer_override(self, obj: Any) -> Any:
        """Refer to what the parent has; pickle beliefs as they are, nothing completed, if it has what completes them.

        Python calls this for neither numbers nor texts nor containers, so that it costs little.
        """
        if id(obj) in self._known:
            return _inherited, (self._own, id(obj))
        if isinstance(obj, KeptBeliefs):
            return KeptBeliefs, (obj.packed(self._parts),)
        if isinstance(obj, Summaries):
            return _restored, (Summaries, obj.unfinished())
        if isinstance(obj, Same):
            return Same, (self._shared(obj.value),)
        if isinstance(obj, LazyWeights) or (isinstance(obj, Belief) and self._has(obj)):
            return _restored, (type(obj), {name: self._shared(value) for name, value in vars(obj).items()})
        return NotImplemented

    def _parts(self, thing: Any) -> Mapping[str, Any] | None:
        """Return what a belief and what is in it are made of."""
        return vars(thing) if isinstance(thing, Belief) and self._has(thing) else complete(thing)

    def _has(self, belief: Belief) -> bool:
        """Say whether the parent has what completes a belief."""
        return belief.source is None or id(getattr(belief.source, "rule", None)) in self._known

    def _shared(self, value: Any) -> Any:
        return _List(self._own, id(value)) if isinstance(value, list) and id(value) in self._known else value


@dataclass(frozen=True)
class _List:
    """Stands for a list that the parent has: states or observations that are objects."""

    own: int
    identity: int

    def __reduce__(self) -> tuple[Callable[[int, int], Any], tuple[int, int]]:
        return _inherited, (self.own, self.identity)


def _inherited(own: int, identity: int) -> Any:
    """Return what a child process referred to."""
    return _work[own][1][identity]


def _restored(kind: type, state: dict[str, Any]) -> Any:
    thing: Any = object.__new__(kind)
    thing.__dict__.update(state)
    return thing


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
