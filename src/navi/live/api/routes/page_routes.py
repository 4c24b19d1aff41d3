"""The page and its files. They contain no secrets, so anyone may load them."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi import __version__
from navi.live.api import login_cookie
from navi.live.api.responses import answer
from navi.live.runtime.app import Navi

MEDIA_TYPES = {
    "html": "text/html",
    "js": "text/javascript",
    "css": "text/css",
    "svg": "image/svg+xml",
    "md": "text/markdown",
}
POLICY = (
    "default-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # File names never change, so browsers must check each time whether the content did.
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
}


def routes() -> list[Route]:
    return [
        Route("/", home, methods=["GET"]),
        Route("/login", login, methods=["GET"]),
        Route("/health", health, methods=["GET"]),
        Route("/assets/{name}", asset, methods=["GET"]),
    ]


async def health(request: Request) -> Response:
    navi: Navi = request.app.state.navi
    return answer({"status": "ok", "version": __version__, "store": navi.store.dialect.kind})


async def home(request: Request) -> Response:
    """The page, the same for everyone. Without a login it asks for one."""
    response = _file(request, "index.html")
    login_cookie.delete_token_cookie(request, response)
    return response


async def login(request: Request) -> Response:
    """The page, at the address of one-time links. Browsers don't send the code, a fragment."""
    response = await home(request)
    response.headers["Cache-Control"] = "no-store"
    return response


async def asset(request: Request) -> Response:
    return _file(request, f"assets/{request.path_params['name']}")


def _file(request: Request, path: str) -> Response:
    file = _read(path)
    if file is None:
        return Response("not found", 404)
    headers = {**HEADERS, "ETag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    content = file.content
    if "gzip" in request.headers.get("accept-encoding", ""):
        content = file.compressed
        headers["Content-Encoding"] = "gzip"
    return Response(content, media_type=file.media_type, headers=headers)


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    compressed: bytes
    media_type: str
    tag: str


@cache
def _read(path: str) -> _File | None:
    """Read a file of the page. All of them fit in memory."""
    folder = resources.files("navi") / "web"
    media_type = MEDIA_TYPES.get(path.rpartition(".")[2])
    if media_type is None or path not in _names():
        return None
    content = folder.joinpath(path).read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
    return _File(content, gzip.compress(content, mtime=0), media_type, tag)


@cache
def _names() -> frozenset[str]:
    """The files that may be requested, so that no path leads out of the folder."""
    folder = resources.files("navi") / "web"
    assets = [f"assets/{file.name}" for file in folder.joinpath("assets").iterdir()]
    return frozenset(["index.html", *assets])
