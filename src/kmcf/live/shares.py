"""Several processes, each with its share of the objects, so that more than one core can filter."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from kmcf.live.desk import Work
from kmcf.live.objects import Answered, Request, TrackedObjects

DIED = "a process that filters has died."
Maker = Callable[[int], TrackedObjects]
"""Makes the tracked objects of one share, by its number."""


def in_processes(make: Maker, count: int) -> tuple[list[Work], list[Callable[[], None]]]:
    """Start processes that hold shares of the objects; return what works for them and what closes them.

    Parameters
    ----------
    make : callable
        Called in each process.
    count : int
        How many; 1: none is started, and this process does the work.
    """
    if count == 1:
        objects = make(0)
        return [objects.work], [objects.close]
    if "fork" not in multiprocessing.get_all_start_methods():
        raise ValueError("this system cannot share the work among processes; leave --processes out.")
    shares = [_Share(make, number) for number in range(count)]
    for share in shares:
        share.wait()
    return [share.work for share in shares], [share.close for share in shares]


class _Share:
    """A process with a share of the objects, as this process sees it."""

    def __init__(self, make: Maker, number: int) -> None:
        context = multiprocessing.get_context("fork")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_serve_share, args=(make, number, there), daemon=True)
        self._process.start()
        there.close()

    def wait(self) -> None:
        """Wait until it is ready."""
        ready = self._received()
        if isinstance(ready, BaseException):
            raise ready

    def work(self, requests: Sequence[Request]) -> list[Any]:
        """Let it answer requests."""
        try:
            self._here.send(requests)
        except OSError:
            raise RuntimeError(DIED) from None
        outcomes: list[Any] = self._received()
        return outcomes

    def close(self) -> None:
        """Let it finish."""
        with suppress(OSError):  # it may have died
            self._here.send(None)
        self._process.join(30.0)

    def _received(self) -> Any:
        try:
            return self._here.recv()
        except (EOFError, OSError):
            raise RuntimeError(DIED) from None


def _serve_share(make: Maker, number: int, pipe: Connection) -> None:
    # Whoever stops the server tells its first process, which tells these.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        objects = make(number)
    except Exception as error:
        pipe.send(error)
        return
    pipe.send("ready")
    while True:
        try:
            requests = pipe.recv()
        except EOFError:  # the first process was killed
            return
        if requests is None:
            objects.close()
            return
        pipe.send([_told(outcome) for outcome in objects.work(requests)])


def _told(outcome: Any) -> Any:
    """Return what may leave the process: answers without the beliefs behind them."""
    if isinstance(outcome, list):
        return [_told(one) for one in outcome]
    if isinstance(outcome, Answered):
        return Answered(outcome.told, None, None, outcome.new)
    return outcome
