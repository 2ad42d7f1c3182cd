"""Clients that follow objects: each has a short queue of its own, and is dropped when it cannot keep up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from kmcf.live.objects import Answered, Request

LENGTH = 200
"""Messages that may wait for one client."""
Interest = Callable[[str], bool]
"""Says of an object whether a client wants to hear of it."""


class Follower:
    """One client: what waits to be sent to it.

    Parameters
    ----------
    interest : callable, optional
        Which objects it follows; None: none, it only gets answers.
    length : int
        How many messages may wait.

    Examples
    --------
    >>> follower = Follower(length=2)
    >>> [follower.put(text) for text in "abc"], follower.slow
    ([True, True, False], True)
    """

    def __init__(self, interest: Interest | None = None, length: int = LENGTH) -> None:
        self.interest = interest
        self._length = length
        self._messages: list[str] = []
        self._some = asyncio.Event()
        self.too_slow = asyncio.Event()
        self.slow = self.closed = False

    def put(self, message: str) -> bool:
        """Let a message wait; False if too many wait already, which ends it all."""
        if len(self._messages) >= self._length:
            self.slow = True
            self.too_slow.set()
        if not self.slow:
            self._messages.append(message)
        self._some.set()
        return not self.slow

    def end(self) -> None:
        """Send nothing more."""
        self.closed = True
        self._some.set()

    async def messages(self) -> list[str]:
        """Wait for messages; none: it is over."""
        await self._some.wait()
        self._some.clear()
        if self.slow:
            return []
        found, self._messages = self._messages, []
        if self.closed:
            self._some.set()
        return found


class Followers:
    """All clients that are connected; a desk's watcher."""

    def __init__(self) -> None:
        self._all: set[Follower] = set()
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._all)

    def __call__(self, requests: list[Request], outcomes: list[Any], _seconds: list[float]) -> None:
        """Tell clients about the steps of a group of requests."""
        if not any(follower.interest for follower in self._all):
            return
        for request, outcome in zip(requests, outcomes, strict=True):
            if request.kind in ("observe", "observe_all"):
                for one in outcome if isinstance(outcome, list) else [outcome]:
                    if isinstance(one, Answered) and one.new:
                        self.tell(one.told["object"], json.dumps({"followed": one.told}))

    def tell(self, name: str, message: str) -> None:
        """Send a message about an object to those who follow it."""
        for follower in list(self._all):
            if follower.interest is not None and follower.interest(name):
                follower.put(message)

    def add(self, follower: Follower) -> None:
        """Let a client hear."""
        self._all.add(follower)

    def remove(self, follower: Follower) -> None:
        """Let a client go."""
        self._all.discard(follower)
        self.dropped += follower.slow

    async def close(self) -> None:
        """Let all go."""
        for follower in self._all:
            follower.end()
        await asyncio.sleep(0)
