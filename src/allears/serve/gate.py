"""What every request passes first: may it come in, as whom, how large, how often; and what is logged about it.

Closed by default: whatever lies under /api and /v1 needs a person, except the paths named in `_PUBLIC`. What is
logged is the route, the status and the time. A crash is logged by its kind and place: an exception's own words may
hold what a person wrote.
"""

from __future__ import annotations

import logging
import math
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from allears.serve.auth import Door
from allears.serve.errors import as_http_error, error_response
from allears.serve.limits import BodyTooLargeError, RateLimit, limited
from allears.serve.metrics import Metrics

log = logging.getLogger("allears.serve")

# metrics has a token of its own, and whom to call in need is nobody's secret
_PUBLIC = frozenset({"/api/health", "/api/help", "/api/metrics", "/api/openapi.json"})
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "WEBSOCKET"})
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}


class Gate:
    """ASGI middleware around the whole application."""

    def __init__(
        self, app: ASGIApp, *, door: Door, limit: RateLimit, metrics: Metrics, body_bytes: int
    ) -> None:
        self.app = app
        self.door = door
        self.limit = limit
        self.strangers = RateLimit(limit.rate, limit.burst)  # by address: only those without a good token
        self.metrics = metrics
        self.body_bytes = body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        sent = _Sent(send, is_websocket=scope["type"] == "websocket")
        try:
            self._let_in(scope)
            receive = limited(receive, self.body_bytes) if scope["type"] == "http" else receive
            await self.app(scope, receive, sent)
        except Exception as error:
            await sent.finish(scope, receive, error_response(scope["path"], as_http_error(error)))
        finally:
            self._note(scope, sent.status, time.perf_counter() - start)

    def _let_in(self, scope: Scope) -> None:
        """Put the person into the request's state, or raise the refusal."""
        headers = Headers(scope=scope)
        refused = self.door.refusal(headers)
        if refused is not None:
            raise HTTPException(403, refused)
        path: str = scope["path"]
        # a browser asks with OPTIONS whether a page may ask; no route answers that but the allowed pages' own
        asks_ahead = scope["type"] == "http" and scope["method"] == "OPTIONS"
        if path.startswith(("/api/", "/v1/")) and path not in _PUBLIC and not asks_ahead:
            person = self.door.person(headers)
            if person is None:
                check_rate(self.strangers, (scope.get("client") or ("?",))[0])
                raise HTTPException(401, self.door.closed(headers), headers={"WWW-Authenticate": "Bearer"})
            check_rate(self.limit, person)
            scope.setdefault("state", {})["person"] = person
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > self.body_bytes:
            raise BodyTooLargeError(self.body_bytes)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["type"] == "http" else "WEBSOCKET"
        method = method if method in _METHODS else "OTHER"
        route = getattr(scope.get("route"), "path", "(none)")  # the pattern: an id stays out of the log
        self.metrics.request(method, route, status, seconds)
        log.info("%s %s %d %.0f ms", method, route, status, 1000 * seconds)


def check_rate(limit: RateLimit, who: str) -> None:
    """Count a request of this person's. Raises status 429 when they ask too often."""
    seconds = limit.wait(who)
    if seconds > 0:
        after = math.ceil(seconds)
        raise HTTPException(
            429, f"That was a lot at once; try again in {after} s.", headers={"Retry-After": str(after)}
        )


class _Sent:
    """`send` that adds our headers and remembers what went out, so that an error can still be told properly."""

    def __init__(self, send: Send, *, is_websocket: bool) -> None:
        self._send = send
        self._is_websocket = is_websocket
        self.status = 500
        self._open = False  # a response or a socket was begun
        self._done = False

    async def __call__(self, message: Message) -> None:
        kind = message["type"]
        if kind == "http.response.start":
            self._open, self.status = True, message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        elif kind == "websocket.http.response.start":
            self._open, self.status = True, message["status"]
        elif kind == "websocket.accept":
            self._open, self.status = True, 101
        elif kind == "websocket.close":
            self._done = True
        await self._send(message)

    async def finish(self, scope: Scope, receive: Receive, response: Response) -> None:
        """Tell the error, as far as that is still possible."""
        self.status = response.status_code
        if not self._is_websocket:
            if not self._open:
                await response(scope, receive, self)
        elif self._open and not self._done:
            await self({"type": "websocket.close", "code": 1011})
        elif not self._open and "websocket.http.response" in scope.get("extensions", {}):
            await response(scope, receive, self)  # Starlette names the messages as a socket needs them
        elif not self._open:
            await self({"type": "websocket.close", "code": 1008})
