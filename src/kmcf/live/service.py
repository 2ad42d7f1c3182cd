"""The HTTP service: observations in, estimates out, for any number of objects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute

from kmcf.live.desk import Desk
from kmcf.live.followers import Followers
from kmcf.live.metrics import Metrics
from kmcf.live.model import LiveModel
from kmcf.live.objects import Request
from kmcf.live.openapi import description
from kmcf.live.requests import Refusal, read_json, read_name, read_observed
from kmcf.live.sockets import Sockets

MOST_AT_ONCE = 1000
"""Observations in one request."""


class Service:
    """What is served about a model; ``app`` is the ASGI application.

    Parameters
    ----------
    model : LiveModel
        The filter.
    desk : Desk
        Where requests are answered.
    more : sequence of routes
        Further pages.
    """

    def __init__(self, model: LiveModel, desk: Desk, more: Sequence[Any] = ()) -> None:
        self.model, self.desk = model, desk
        self.followers = Followers()
        gauges = {
            "kmcf_waiting": ("Requests that wait to be answered.", lambda: float(desk.waiting)),
            "kmcf_followers": ("Clients that follow objects.", lambda: float(len(self.followers))),
            "kmcf_followers_dropped": ("Followers dropped because too slow.", lambda: float(self.followers.dropped)),
        }
        self.metrics = Metrics(gauges)
        desk.watchers += [self.metrics, self.followers]
        self.started: list[Any] = []
        """Coroutine functions that run while the server does."""
        self.app = Starlette(
            routes=[*self._routes(), *more],
            exception_handlers={Refusal: _refused, HTTPException: _not_found, Exception: _failed},
            lifespan=self._lifespan,
        )

    def _routes(self) -> list[Any]:
        return [
            Route("/healthz", self.health),
            Route("/metrics", self.show_metrics),
            Route("/openapi.json", self.describe),
            Route("/v1/model", self.show_model),
            Route("/v1/objects", self.list_objects),
            Route("/v1/objects/{object}", self.show_object, methods=["GET"]),
            Route("/v1/objects/{object}", self.delete_object, methods=["DELETE"]),
            Route("/v1/objects/{object}/observations", self.observe, methods=["POST"]),
            WebSocketRoute("/v1/stream", Sockets(self.desk, self.followers).serve),
        ]

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        self.desk.open()
        tasks = [asyncio.create_task(start()) for start in self.started]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.followers.close()
            await self.desk.close()

    async def health(self, _request: HttpRequest) -> Response:
        """Say whether the filter is alive."""
        failed = self.desk.failure is not None
        return JSONResponse({"status": "failed" if failed else "ok"}, 503 if failed else 200)

    async def show_metrics(self, _request: HttpRequest) -> Response:
        """Return numbers for Prometheus."""
        return PlainTextResponse(self.metrics.text(), media_type="text/plain; version=0.0.4")

    async def describe(self, _request: HttpRequest) -> Response:
        """Return the OpenAPI description."""
        return JSONResponse(description(self.model))

    async def show_model(self, _request: HttpRequest) -> Response:
        """Return what a client should know about the model."""
        return JSONResponse(self.model.describe())

    async def list_objects(self, _request: HttpRequest) -> Response:
        """List the objects that are tracked."""
        return JSONResponse({"objects": await self.desk.ask_all(Request("list"))})

    async def show_object(self, request: HttpRequest) -> Response:
        """Return what the last answer about an object was."""
        name = read_name(request.path_params["object"])
        return JSONResponse((await self.desk.ask(Request("get", name), name)).told)

    async def delete_object(self, request: HttpRequest) -> Response:
        """Forget an object."""
        name = read_name(request.path_params["object"])
        await self.desk.ask(Request("delete", name), name)
        return Response(status_code=204)

    async def observe(self, request: HttpRequest) -> Response:
        """Take one observation of an object, or several in a row."""
        name = read_name(request.path_params["object"])
        given = read_json(await request.body())
        if not isinstance(given, list):
            answered = await self.desk.ask(Request("observe", read_observed(name, given)), name)
            return _json(answered.told)
        if not 1 <= len(given) <= MOST_AT_ONCE:
            raise Refusal(422, f"there must be 1 to {MOST_AT_ONCE} observations, not {len(given)}.")
        several = [read_observed(name, one) for one in given]
        answers = await self.desk.ask(Request("observe_all", several), name)
        return _json([answered.told for answered in answers])


def _json(value: Any) -> Response:
    return Response(json.dumps(value, allow_nan=False), media_type="application/json")


async def _refused(_request: HttpRequest, refusal: Any) -> Response:
    headers = {"retry-after": "1"} if refusal.status == 503 else None
    return JSONResponse({"error": refusal.message}, refusal.status, headers)


async def _not_found(request: HttpRequest, error: Any) -> Response:
    told = {404: f"there is nothing at {request.url.path[:100]}.", 405: f"{request.method} is not possible here."}
    return JSONResponse({"error": told.get(error.status_code, error.detail)}, error.status_code, error.headers)


async def _failed(_request: HttpRequest, error: Exception) -> Response:
    return JSONResponse({"error": f"the server failed with {type(error).__name__}; please report it."}, 500)
