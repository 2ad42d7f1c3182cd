"""Where observations come from besides clients that connect: lines on standard input, a broker."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable

from kmcf.live.desk import Desk
from kmcf.live.history import FollowedObjects
from kmcf.live.lines import Line
from kmcf.live.objects import Request
from kmcf.live.requests import Refusal

Tell = Callable[[str], None]


class LineSource:
    """Hands in the observations of lines, one after the other.

    Parameters
    ----------
    lines : iterable of Line
        Waits for lines, in a thread of its own.
    desk : Desk
        Where observations are handed in.
    followed : FollowedObjects, optional
        Is told the true states that lines hold.
    tell : callable
        Gets sentences about lines that could not be used.
    """

    def __init__(self, lines: Iterable[Line], desk: Desk, followed: FollowedObjects | None, tell: Tell) -> None:
        self._lines, self._desk, self._followed, self._tell = lines, desk, followed, tell

    async def run(self) -> None:
        """Hand in lines until there are no more; a line that cannot be read ends it, one that is refused does not."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def read() -> None:
            try:
                for line in self._lines:
                    asyncio.run_coroutine_threadsafe(self._take(line), loop).result()
            except (ValueError, OSError) as error:
                self._tell(f"{error} Nothing more is read.")
            except (RuntimeError, asyncio.CancelledError):  # the server stops
                return
            loop.call_soon_threadsafe(ended.set)

        # A daemon, since nothing can wake a thread that waits for a line.
        threading.Thread(target=read, daemon=True, name="lines").start()
        await ended.wait()

    async def _take(self, line: Line) -> None:
        observed = line.observed
        if self._followed is not None and line.truth is not None:
            self._followed.expect(observed.object, line.truth)
        try:
            await self._desk.ask(Request("observe", observed), observed.object)
        except Refusal as refusal:
            self._tell(f"line {line.number} is not used: {refusal.message}")
