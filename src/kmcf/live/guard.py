"""Who may ask: hosts, origins, tokens, and how large a request may be. Everything passes here first."""

from __future__ import annotations

import hmac
import ipaddress
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from kmcf.live.requests import Refusal

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
LARGEST = 16 * 2**20
"""Bytes that a request or a message may have, unless told otherwise."""
OPEN = ("/healthz", "/assets/")
"""Where what is told without a token begins."""
HEADERS = {
    b"content-security-policy": (
        b"default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
        b"object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
    ),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
}


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach an address.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0"), is_loopback("localhost")
    (True, False, True)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Guard:
    """An ASGI application in front of another.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    hosts : frozenset of str
        Names by which the server may be called (without port); a page elsewhere that resolves to this machine has
        another one.
    token : str, optional
        What clients must show. None: nothing.
    largest : int
        Bytes that the body of a request may have.
    """

    app: Any
    hosts: frozenset[str]
    token: str | None = None
    largest: int = LARGEST

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
        elif scope["type"] == "websocket":
            await self.app(scope, receive, send)
        else:
            await self._limited(scope, receive, send)

    def _refusal(self, scope: Any) -> tuple[int, str] | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if without_port(host) not in self.hosts:
            return 421, "this server is not called by that name (see --allow-host)."
        origin = headers.get(b"origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return 403, "pages of other origins may not ask here."
        if self.token is not None and not scope["path"].startswith(OPEN) and not self._knows_token(scope, headers):
            return 401, "a token is needed: Authorization: Bearer TOKEN."
        length = headers.get(b"content-length", "0")
        if not length.isdigit() or int(length) > self.largest:
            return 413, self._too_large
        return None

    def _knows_token(self, scope: Any, headers: dict[bytes, str]) -> bool:
        assert self.token is not None
        kind, _, shown = headers.get(b"authorization", "").partition(" ")
        if kind.lower() != "bearer":  # pages cannot set headers of a WebSocket
            shown = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return hmac.compare_digest(shown.strip().encode(), self.token.encode())

    async def _limited(self, scope: Any, receive: Any, send: Any) -> None:
        """Count the bytes of a body that comes without a length; add headers to what is sent."""
        seen = 0

        async def counted() -> Any:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.largest:
                raise Refusal(413, self._too_large)
            return message

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                extra = [(name, value) for name, value in HEADERS.items() if name not in given]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        await self.app(scope, counted, with_headers)

    @property
    def _too_large(self) -> str:
        return f"a request may have {self.largest} bytes at most."


def without_port(host: str) -> str:
    """Return the name in a Host header, in lower case.

    Examples
    --------
    >>> without_port("LOCALHOST:8080"), without_port("[::1]:80"), without_port("robot")
    ('localhost', '[::1]', 'robot')
    """
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower()


def allowed_hosts(bound: str, more: Iterable[str] = ()) -> frozenset[str]:
    """Return the names by which a server may be called that listens at an address."""
    name = f"[{bound}]" if ":" in bound and not bound.startswith("[") else bound
    return frozenset({*LOOPBACK, name.lower(), *(host.lower() for host in more)})


async def _refuse(scope: Any, receive: Any, send: Any, status: int, message: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": message[:120]})
        return
    body = json.dumps({"error": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(b"www-authenticate", b"Bearer")] if status == 401 else []
    headers += [(b"connection", b"close")] if status == 413 else []
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *HEADERS.items()]})
    await send({"type": "http.response.body", "body": body})
