"""Running a service: address, token, signals, the end."""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import socket
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmcf.live.desk import Desk
from kmcf.live.guard import LARGEST, Guard, allowed_hosts, is_loopback
from kmcf.live.journal import Journal
from kmcf.live.model import LiveModel
from kmcf.live.objects import Limits, TrackedObjects
from kmcf.live.shares import in_processes
from kmcf.live.snapshots import check_restorable
from kmcf.support.extras import require

SHORTEST_TOKEN = 16
MOST_CONNECTIONS = 1000
UNREAD = 2**17
"""Bytes that the system may keep for a client that does not read them."""


@dataclass(frozen=True)
class Address:
    """Where a server listens, and who may call.

    Parameters
    ----------
    host : str
        Address to bind. Other machines can reach all but loopback addresses, for which a token is needed.
    port : int
        0: any free one.
    token : str, optional
        What clients must show.
    names : iterable of str
        Further names by which the server may be called.
    largest : int
        Bytes that a request or message may have.
    """

    host: str = "127.0.0.1"
    port: int = 8787
    token: str | None = None
    names: Iterable[str] = ()
    largest: int = LARGEST

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and self.token is None:
            raise ValueError(
                f"other machines can reach {self.host}, so clients must show a token: make one with "
                f"--token {secrets.token_urlsafe(16)}, or leave --host out."
            )
        if self.token is not None and len(self.token) < SHORTEST_TOKEN:
            raise ValueError(f"the token has {len(self.token)} characters; at least {SHORTEST_TOKEN} are needed.")

    def bound(self) -> socket.socket:
        """Return a socket that listens there."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD)
        try:
            listening.bind((self.host.strip("[]"), self.port))
        except OSError as error:
            listening.close()
            raise ValueError(f"cannot listen at {self.host}, port {self.port}: {error.strerror or error}.") from None
        return listening

    def url(self, listening: socket.socket) -> str:
        """Return the address as a browser takes it."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{'127.0.0.1' if name == '0.0.0.0' else name}:{listening.getsockname()[1]}/"


def desk_for(
    model: LiveModel, limits: Limits | None = None, state: str | Path | None = None, processes: int = 1
) -> Desk:
    """Return the desk for a model, with what survived in a folder.

    Parameters
    ----------
    model : LiveModel
        The filter.
    limits : Limits, optional
        How many objects, for how long.
    state : path, optional
        Folder in which the state of objects survives a restart; None: it does not.
    processes : int
        How many processes share the objects.
    """
    if not 1 <= processes <= 64:
        raise ValueError(f"processes = {processes}; there must be 1 to 64.")
    if state is not None:
        check_restorable(model)
        _check_shares(Path(state), processes)
    given = limits or Limits()
    share = Limits(-(-given.objects // processes), given.idle)
    model.warm()

    def make(number: int) -> TrackedObjects:
        journal = None
        if state is not None:
            journal = Journal(Path(state) if processes == 1 else Path(state) / f"share{number}", model)
        return TrackedObjects(model, share, journal)

    return Desk(*in_processes(make, processes))


def _check_shares(state: Path, processes: int) -> None:
    """Refuse a folder that another number of processes wrote: objects would be looked for in the wrong share."""
    found = len(list(state.glob("share*")))
    alone = any(state.glob("*.jsonl")) or (state / "snapshot.kmcf").exists()
    if (found and found != processes) or (alone and processes > 1):
        raise ValueError(f"the state in {state} was written with --processes {found or 1}; use as many.")


def server_for(app: Any, address: Address) -> tuple[Any, socket.socket]:
    """Return a server that is not running yet, and the socket for its ``serve([socket])``."""
    uvicorn = require("uvicorn", "live")
    guarded = Guard(app, allowed_hosts(address.host, address.names), address.token, address.largest)
    config = uvicorn.Config(
        guarded,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="websockets-sansio",
        ws_max_size=address.largest,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=60,
        ws_ping_interval=30.0,
        ws_ping_timeout=90.0,
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    server.capture_signals = nullcontext  # it would raise them again at the end
    return server, address.bound()


def run_app(app: Any, address: Address, tell: Callable[[str], None], extra: str = "") -> bool:
    """Serve an application until Ctrl-C or SIGTERM; return whether it was Ctrl-C.

    Parameters
    ----------
    app : ASGI application
        What to serve.
    address : Address
        Where.
    tell : callable
        Gets a sentence once the server listens.
    extra : str
        What is added to the address that is told.
    """
    server, listening = server_for(app, address)
    stopped: list[int] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, _stop, server, stopped, number)
        serving = asyncio.create_task(server.serve([listening]))
        while not (server.started or serving.done()):
            await asyncio.sleep(0.01)
        if not serving.done():
            tell(f"listening at {address.url(listening)}{extra}")
        await serving

    asyncio.run(main())
    listening.close()
    return signal.SIGINT in stopped


def _stop(server: Any, stopped: list[int], number: int) -> None:
    if stopped:
        server.force_exit = True
    stopped.append(number)
    server.should_exit = True
