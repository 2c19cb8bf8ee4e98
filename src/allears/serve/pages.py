"""The web app, as it was built: a few files, read once, kept in memory and compressed there.

What is asked for is looked up by its whole path, so no path leads out of the folder. The page may load from here and
talk to here, and nothing else: the policy that says so goes with every file.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import SimpleNamespace

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

INDEX = "/index.html"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Vary": "Accept-Encoding",
}
_FOR_EVER = "public, max-age=31536000, immutable"  # files whose name changes with their content
_ASK_FIRST = "no-cache"
_COMPRESSED = ("text/", "application/javascript", "application/json", "image/svg+xml")
_ROUTE = SimpleNamespace(path="(page)")  # what the log calls it
_NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>allears</title>
<p>allears is listening, but its page was not built into this copy. Build it with <code>make web</code>,
or talk with <code>allears chat</code>.</p></html>
"""


@dataclass(frozen=True, slots=True)
class StaticPage:
    """One file. `gzipped` is None where compressing gains nothing."""

    content: bytes
    gzipped: bytes | None
    kind: str
    tag: str
    keep: str


class Pages:
    """ASGI middleware: answers what lies outside /api and /v1, and passes everything else on."""

    def __init__(self, app: ASGIApp, *, folder: Traversable | None = None) -> None:
        self.app = app
        self.pages = built_pages(folder) if folder is not None else shipped_pages()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        if scope["type"] != "http" or _is_api(path) or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        scope["route"] = _ROUTE
        page = self.pages.get(path) or (self.pages[INDEX] if _is_view(path) else None)
        response = (
            Response("There is no such page.", 404, media_type="text/plain", headers=_HEADERS)
            if page is None
            else _answer(page, Headers(scope=scope))
        )
        await response(scope, receive, send)


@cache
def shipped_pages() -> Mapping[str, StaticPage]:
    """The app in this package."""
    return built_pages(files("allears.serve") / "static")


def built_pages(folder: Traversable) -> Mapping[str, StaticPage]:
    """All files of a built app by their paths; where there are none, a page that says so."""
    found: dict[str, StaticPage] = {}
    if folder.is_dir():
        _collect(folder, "", found)
    found.setdefault(INDEX, _page(INDEX, _NOT_BUILT))
    return found


def _collect(folder: Traversable, path: str, found: dict[str, StaticPage]) -> None:
    for item in folder.iterdir():
        name = f"{path}/{item.name}"
        if item.is_dir():
            _collect(item, name, found)
        elif not item.name.startswith("."):
            found[name] = _page(name, item.read_bytes())


def _page(path: str, content: bytes) -> StaticPage:
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    gzipped = gzip.compress(content, 9, mtime=0) if kind.startswith(_COMPRESSED) else None
    return StaticPage(
        content,
        gzipped if gzipped is not None and len(gzipped) < len(content) else None,
        kind,
        f'"{hashlib.sha256(content).hexdigest()[:16]}"',
        _FOR_EVER if path.startswith("/assets/") else _ASK_FIRST,
    )


def _answer(page: StaticPage, asked: Headers) -> Response:
    headers = {**_HEADERS, "Cache-Control": page.keep, "ETag": page.tag}
    if page.tag in asked.get("if-none-match", ""):
        return Response(None, 304, headers=headers)
    if page.gzipped is not None and "gzip" in asked.get("accept-encoding", ""):
        return Response(page.gzipped, headers={**headers, "Content-Encoding": "gzip"}, media_type=page.kind)
    return Response(page.content, headers=headers, media_type=page.kind)


def _is_api(path: str) -> bool:
    return path.startswith(("/api/", "/v1/"))


def _is_view(path: str) -> bool:
    """A place within the app, which the page itself finds: "/", "/about". A file that is missing is missing."""
    return "." not in path.rpartition("/")[2]
