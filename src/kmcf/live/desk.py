"""Between the network and the filter: requests queue up, one thread works them off in small groups, in order.

The event loop never waits for the filter, and the filter never waits for a client. Requests that are waiting at the
same time are answered together, so that they share one write to disk; the busier the server, the larger the groups.
"""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
import zlib
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from kmcf.live.objects import Request
from kmcf.live.requests import Refusal

MOST_WAITING = 5000
"""Requests beyond this are refused until some have been answered."""
GROUP = 32
"""At most so many requests are answered together: the first of them waits for the last."""
FAILED = "the filter has failed; the server must be restarted."
SWITCH = 0.001
"""Seconds after which the filter's thread lets the network's thread have its turn."""

Work = Callable[[Sequence[Request]], list[Any]]
Done = Callable[[Any, float], None]
"""Gets the outcome, and how many seconds it took."""


class Desk:
    """Takes requests on the event loop's thread and answers them there.

    Parameters
    ----------
    works : sequence of callables
        Each answers groups of requests: ``TrackedObjects.work``, one for each share of the objects.
    watchers : sequence of callables
        Called on the event loop after every group, with its requests, outcomes and seconds.
    """

    def __init__(self, works: Sequence[Work], closing: Sequence[Callable[[], None]] = ()) -> None:
        self._queues: list[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in works]
        self._works = list(works)
        self._closing = list(closing)
        self._threads: list[threading.Thread] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self.waiting = 0
        self.watchers: list[Callable[[list[Request], list[Any], list[float]], None]] = []
        self.failure: BaseException | None = None
        """What stopped a thread, should that ever happen."""

    def open(self) -> None:
        """Begin to work; call it on the event loop."""
        self._loop = asyncio.get_running_loop()
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH))
        for share, work in enumerate(self._works):
            thread = threading.Thread(target=self._run, args=(self._queues[share], work), daemon=True, name="filter")
            thread.start()
            self._threads.append(thread)

    async def close(self) -> None:
        """Answer what is waiting, then stop; the state is then on disk."""
        for waiting in self._queues:
            waiting.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)
        for close in self._closing:
            await asyncio.to_thread(close)

    def submit(self, request: Request, done: Done, name: str) -> None:
        """Hand in a request about an object; ``done`` is called later, with its outcome."""
        if self.failure is not None or self.waiting >= MOST_WAITING:
            done(Refusal(503, "the server is too busy; try again." if self.failure is None else FAILED), 0.0)
            return
        self.waiting += 1
        share = zlib.crc32(name.encode()) % len(self._queues)
        self._queues[share].put((request, done, perf_counter()))

    async def ask(self, request: Request, name: str) -> Any:
        """Return the outcome of a request; raise it if it was refused."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def done(outcome: Any, _seconds: float) -> None:
            if not future.done():
                future.set_result(outcome)

        self.submit(request, done, name)
        outcome = await future
        if isinstance(outcome, Refusal):
            raise outcome
        return outcome

    async def ask_all(self, request: Request) -> list[Any]:
        """Ask for all shares of the objects; return their outcomes one after the other."""
        futures = []
        for waiting in self._queues:
            future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            self.waiting += 1
            waiting.put((request, lambda outcome, _, future=future: future.set_result(outcome), perf_counter()))
            futures.append(future)
        outcomes = await asyncio.gather(*futures)
        for outcome in outcomes:
            if isinstance(outcome, Refusal):
                raise outcome
        return [row for outcome in outcomes for row in outcome]

    def _run(self, waiting: queue.SimpleQueue[Any], work: Work) -> None:
        assert self._loop is not None
        try:
            while (first := waiting.get()) is not None:
                group, last = [first], False
                while len(group) < GROUP and not waiting.empty():
                    one = waiting.get()
                    if one is None:
                        last = True
                        break
                    group.append(one)
                try:
                    outcomes = work([request for request, _, _ in group])
                except Exception as error:  # a process that filters has died, say
                    self._loop.call_soon_threadsafe(self._fail, error)
                    outcomes = [Refusal(503, FAILED)] * len(group)
                self._loop.call_soon_threadsafe(self._deliver, group, outcomes, perf_counter())
                if last:
                    return
        except RuntimeError:  # the event loop has gone: nobody waits for answers any more
            return

    def _deliver(self, group: list[Any], outcomes: list[Any], now: float) -> None:
        self.waiting -= len(group)
        seconds = [now - arrived for _, _, arrived in group]
        for (_, done, _), outcome, took in zip(group, outcomes, seconds, strict=True):
            done(outcome, took)
        for watch in self.watchers:
            watch([request for request, _, _ in group], outcomes, seconds)

    def _fail(self, error: BaseException) -> None:
        self.failure = error
