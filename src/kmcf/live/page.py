"""The page: its files, its figures, and the socket over which it asks for one moment after the other.

The page decides which moment it shows, so that every viewer has a position of its own, and a slow one asks less often.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from kmcf.live.frames import Axes, examples_of, frame
from kmcf.live.history import FollowedObjects, History
from kmcf.live.model import LiveModel
from kmcf.live.requests import Refusal, read_json
from kmcf.live.sockets import until_one_ends
from kmcf.report.interactive import Picture, axis_figure, map_figure, path_figure, strip_figure
from kmcf.support.extras import require

NEWS = 0.04
"""Seconds between two messages that there is something new."""
STRIPS = {"ess": "Effective sample size", "coverage": "Coverage by the examples", "latency": "Latency (ms)"}


@dataclass(eq=False)
class Watched:
    """What a page shows.

    Parameters
    ----------
    model : LiveModel
        The filter.
    axes : Axes
        Which coordinates are drawn.
    recorded : mapping
        Recordings by name; they are replayed.
    followed : FollowedObjects
        Objects that are observed while the page is open.
    picture : path, optional
        A floor plan.
    extent : four numbers, optional
        Left, bottom, right and top of the floor plan. None: those of the examples.
    """

    model: LiveModel
    axes: Axes
    recorded: Mapping[str, History] = field(default_factory=dict)
    followed: FollowedObjects | None = None
    picture: Path | None = None
    extent: tuple[float, float, float, float] | None = None

    def histories(self) -> dict[str, History]:
        """Return all histories by name, those heard of last first."""
        live = {} if self.followed is None else dict(reversed(self.followed.histories.items()))
        return {**self.recorded, **live}

    def routes(self) -> list[Any]:
        """Return the page's routes."""
        return [
            Route("/", self.show),
            Route("/assets/{name}", self.asset),
            Route("/v1/figures", self.figures),
            Route("/v1/map", self.show_map),
            WebSocketRoute("/v1/watch", self.watch),
        ]

    async def show(self, _request: HttpRequest) -> Response:
        """Return the page."""
        jinja = require("jinja2", "live")
        source = (files("kmcf.live") / "assets" / "watch.html").read_text("utf-8")
        template = jinja.Environment(autoescape=True, trim_blocks=True).from_string(source)
        told = {"name": self.model.name, "strips": STRIPS, "flat": len(self.axes.columns) == 2}
        text = template.render(**told, replayed=bool(self.recorded))
        return Response(text, media_type="text/html; charset=utf-8")

    async def asset(self, request: HttpRequest) -> Response:
        """Return a file of the page: all are served from here, so that it works offline."""
        name = request.path_params["name"]
        if name == "bokeh.js":
            path = Path(require("bokeh", "live").__file__).parent / "server" / "static" / "js" / "bokeh.min.js"
            return FileResponse(path, media_type="text/javascript", headers={"cache-control": "max-age=86400"})
        kinds = {"watch.js": "text/javascript", "watch.css": "text/css"}
        if name not in kinds:
            raise Refusal(404, "the page has no such file.")
        return Response((files("kmcf.live") / "assets" / name).read_bytes(), media_type=kinds[name])

    async def figures(self, request: HttpRequest) -> Response:
        """Return the figures, for BokehJS."""
        return JSONResponse(await asyncio.to_thread(self._figures, request.query_params.get("token")))

    async def show_map(self, _request: HttpRequest) -> Response:
        """Return the floor plan."""
        if self.picture is None:
            raise Refusal(404, "there is no map; give one with --map.")
        return FileResponse(self.picture)

    async def watch(self, socket: WebSocket) -> None:
        """Tell a page of what is new, and send it the moments that it asks for."""
        await socket.accept()
        await until_one_ends(self._news(socket), self._answer(socket))

    async def _news(self, socket: WebSocket) -> None:
        told: Any = None
        with suppress(WebSocketDisconnect, RuntimeError):
            while True:
                news = {name: [history.first, history.last] for name, history in self.histories().items()}
                if news != told:
                    await socket.send_text(json.dumps({"news": news}))
                    told = news
                await asyncio.sleep(NEWS)

    async def _answer(self, socket: WebSocket) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            while True:
                text = await socket.receive_text()
                try:
                    answer = await asyncio.to_thread(self._frame, read_json(text))
                except Refusal as refusal:
                    answer = {"error": refusal.message}
                except Exception as error:  # the page says so, and goes on
                    answer = {"error": f"this step cannot be shown ({type(error).__name__}: {str(error)[:200]})."}
                await socket.send_text(json.dumps(answer, allow_nan=False))

    def _frame(self, asked: Any) -> dict[str, Any]:
        if not isinstance(asked, dict) or not isinstance(asked.get("step"), int):
            raise Refusal(422, 'a page asks by {"object": NAME, "step": NUMBER}.')
        history = self.histories().get(str(asked.get("object")))
        if history is None:
            raise Refusal(404, "no such object is watched.")
        step = asked["step"]
        if not 1 <= history.first <= step <= history.last:
            raise Refusal(404, f"step {step} is not kept; there are {history.first} to {history.last}.")
        trail = history.trail(step)
        return {"object": asked["object"], "step": step, "frame": frame(self.model, self.axes, trail[-1], trail)}

    def _figures(self, token: str | None) -> dict[str, Any]:
        embed = require("bokeh.embed", "live")
        names = [self.model.states[j] for j in self.axes.columns]
        examples = examples_of(self.model, self.axes)
        if len(names) == 2:
            figures = {"map": map_figure(names, examples, self._background(examples, token))}
        else:
            figures = {"map": axis_figure(names[0], examples), "path": path_figure(names[0])}
        for what, title in STRIPS.items():
            figures[what] = strip_figure(what, title, low=0.0, high=1.0 if what == "coverage" else None)
        return {name: embed.json_item(figure, name) for name, figure in figures.items()}

    def _background(self, examples: Mapping[str, Any], token: str | None) -> Picture | None:
        if self.picture is None:
            return None
        x, y = examples["x"], examples["y"]
        extent = self.extent or (min(x), min(y), max(x), max(y))
        return Picture("v1/map" if token is None else f"v1/map?token={token}", *extent)
