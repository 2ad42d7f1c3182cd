"""Serving and watching a filter from Python, also one whose transition is a function of the user's."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from kmcf.datasets.recording import Recording
from kmcf.live.model import LiveModel
from kmcf.support.extras import require


def serve(
    model: Any,
    *,
    port: int = 8787,
    host: str = "127.0.0.1",
    token: str | None = None,
    objects: int = 1000,
    idle: float = 3600.0,
    state: str | os.PathLike[str] | None = None,
    processes: int = 1,
    tell: Callable[[str], None] = print,
) -> None:
    """Serve estimates over HTTP until Ctrl-C or SIGTERM; see docs/live.md.

    Parameters
    ----------
    model : fitted filter or LiveModel
        What to serve; a :class:`LiveModel` has names.
    port : int
        Where to listen; 0: any free port.
    host : str
        Address to listen at; all but loopback addresses need a token.
    token : str, optional
        What clients must show.
    objects : int
        Objects tracked at once.
    idle : float
        Seconds after which a silent object is forgotten.
    state : path, optional
        Folder in which the state of objects survives a restart.
    processes : int
        Processes that share the objects.
    tell : callable
        Gets a sentence when the server listens.

    Examples
    --------
    >>> import kmcf
    >>> serve(kmcf.load("model.kmcf"), port=8787, state="tracked")  # doctest: +SKIP
    """
    require("starlette", "live")
    from kmcf.live.objects import Limits
    from kmcf.live.server import Address, desk_for, run_app
    from kmcf.live.service import Service

    live = as_live(model)
    address = Address(host, port, token)
    desk = desk_for(live, Limits(objects, idle), None if state is None else os.fspath(state), processes)
    run_app(Service(live, desk).app, address, tell)


def watch(
    model: Any,
    recordings: Sequence[Recording] = (),
    *,
    port: int = 8787,
    host: str = "127.0.0.1",
    token: str | None = None,
    axes: Sequence[str] = (),
    tell: Callable[[str], None] = print,
) -> None:
    """Serve a page that shows the filter at work, until Ctrl-C; it replays recordings, or follows what is posted.

    Parameters
    ----------
    model : fitted filter or LiveModel
        What to watch.
    recordings : sequence of Recording
        What is replayed; none: the page follows what clients post.
    port, host, token, tell
        As for :func:`serve`.
    axes : sequence of str
        Names of the states that are drawn; none: the first two.

    Examples
    --------
    >>> import kmcf
    >>> watch(kmcf.load("model.kmcf"), kmcf.datasets.ble_tracks()[:1])  # doctest: +SKIP
    """
    require("bokeh", "live")
    from kmcf.live.frames import Axes
    from kmcf.live.history import FollowedObjects, histories_of
    from kmcf.live.page import Watched
    from kmcf.live.server import Address, desk_for, run_app
    from kmcf.live.service import Service

    live = as_live(model)
    address = Address(host, port, token)
    watched = Watched(live, Axes.of(live, axes), histories_of(live, recordings), FollowedObjects())
    desk = desk_for(live)
    desk.watchers.append(watched.followed)  # type: ignore[arg-type]
    run_app(Service(live, desk, watched.routes()).app, address, tell)


def as_live(model: Any) -> LiveModel:
    """Return a filter with names; one that has them as it is."""
    return model if isinstance(model, LiveModel) else LiveModel(model)
