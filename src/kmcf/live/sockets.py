"""WebSockets: many observations over one connection, and following what happens to objects."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from kmcf.live.desk import Desk
from kmcf.live.followers import Follower, Followers, Interest
from kmcf.live.objects import Request
from kmcf.live.requests import Refusal, read_json, read_name, read_observed

MOST_OPEN = 100
"""Observations of one client that may wait for their answers; it is not read further meanwhile."""
TOO_SLOW, GOING_AWAY = 1013, 1001


async def until_one_ends(*parts: Coroutine[Any, Any, Any]) -> None:
    """Do several things at once until the first of them ends; the others are cancelled."""
    tasks = [asyncio.create_task(part) for part in parts]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Sockets:
    """The WebSocket at ``/v1/stream``.

    A message is ``{"object": ID, "observation": ..., "control": ..., "time": ..., "step": ..., "request": ANYTHING}``.
    Its answer is what HTTP would have answered, or ``{"error": SENTENCE, "status": NUMBER}``, with the same
    ``request``. Answers come in the order of the messages. With ``?follow=a,b`` or ``?follow=*``
    the client is also sent ``{"followed": ANSWER}`` for each step of these objects, whoever posted it.
    """

    def __init__(self, desk: Desk, followers: Followers) -> None:
        self._desk, self._followers = desk, followers

    async def serve(self, socket: WebSocket) -> None:
        """Serve one client until it goes, or is too slow."""
        try:
            interest = interest_in(socket.query_params.get("follow"))
        except Refusal as refusal:
            await socket.close(1008, refusal.message[:120])
            return
        await socket.accept()
        follower = Follower(interest)
        self._followers.add(follower)
        try:
            await until_one_ends(self._read(socket, follower), self._write(socket, follower), follower.too_slow.wait())
        finally:
            self._followers.remove(follower)
        if follower.slow:
            await _close(socket, TOO_SLOW, "too slow to keep up")
        elif follower.closed:
            await _close(socket, GOING_AWAY, "the server stops")

    async def _read(self, socket: WebSocket, follower: Follower) -> None:
        room, waiting = asyncio.Semaphore(MOST_OPEN), deque[list[str]]()
        with suppress(WebSocketDisconnect):
            while True:
                message = await socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                await room.acquire()
                self._take(message.get("text") or message.get("bytes") or "", follower, room, waiting)

    def _take(self, text: str | bytes, follower: Follower, room: asyncio.Semaphore, waiting: deque[list[str]]) -> None:
        """Hand in one message; its answer is sent when it and those before it are there."""
        mark: Any = None
        place: list[str] = []
        waiting.append(place)

        def done(outcome: Any, _seconds: float) -> None:
            room.release()
            refused = isinstance(outcome, Refusal)
            told = {"error": outcome.message, "status": outcome.status} if refused else outcome.told
            place.append(json.dumps(told if mark is None else {**told, "request": mark}, allow_nan=False))
            while waiting and waiting[0]:
                follower.put(waiting.popleft()[0])

        try:
            given = read_json(text)
            if not isinstance(given, dict):
                raise Refusal(422, 'a message is a JSON object: {"object": "a", "observation": [...]}.')
            mark = given.pop("request", None)
            name = read_name(given.pop("object", None))
            self._desk.submit(Request("observe", read_observed(name, given)), done, name)
        except Refusal as refusal:
            done(refusal, 0.0)

    async def _write(self, socket: WebSocket, follower: Follower) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):  # it may be gone while something is sent
            while messages := await follower.messages():
                for message in messages:
                    await socket.send_text(message)


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    """Say goodbye, to someone who may not listen."""
    with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
        async with asyncio.timeout(1.0):
            await socket.close(code, reason)


def interest_in(words: str | None) -> Interest | None:
    """Return which objects ``follow=`` names.

    Examples
    --------
    >>> interest_in("a,b")("b"), interest_in("*")("c"), interest_in(None)
    (True, True, None)
    """
    if not words:
        return None
    if words == "*":
        return lambda _: True
    wanted = frozenset(read_name(word) for word in words.split(","))
    return lambda name: name in wanted
