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
from navi.live.runtime.settings import model_of

MEDIA_TYPES = {
    "html": "text/html",
    "js": "text/javascript",
    "css": "text/css",
    "svg": "image/svg+xml",
    "md": "text/markdown",
    "png": "image/png",
    "webmanifest": "application/manifest+json",
}
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
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
    return answer(
        {
            "status": "ok",
            "version": __version__,
            "store": navi.store.dialect.kind,
            "has_model": model_of(navi.settings) is not None,
        }
    )


async def home(request: Request) -> Response:
    """The page. It is the same for everyone, and asks for a login if the browser has none."""
    response = _file(request, "index.html")
    login_cookie.delete_token_cookie(request, response)
    return response


async def login(request: Request) -> Response:
    """The page for one-time links. Their code is in the URL's fragment, which is never sent."""
    response = await home(request)
    response.headers["Cache-Control"] = "no-store"
    return response


async def asset(request: Request) -> Response:
    return _file(request, f"assets/{request.path_params['name']}")


def _file(request: Request, path: str) -> Response:
    file = _read(path)
    if file is None:
        return Response("not found", 404)
    headers = {**HEADERS, "ETag": file.etag}
    if request.headers.get("if-none-match") == file.etag:
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
    etag: str


@cache
def _read(path: str) -> _File | None:
    """A file of the page, kept in memory; None if there is no such file."""
    folder = resources.files("navi") / "web"
    media_type = MEDIA_TYPES.get(path.rpartition(".")[2])
    if media_type is None or path not in _paths():
        return None
    content = folder.joinpath(path).read_bytes()
    etag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
    return _File(content, gzip.compress(content, mtime=0), media_type, etag)


@cache
def _paths() -> frozenset[str]:
    """The only paths that may be requested, so that none leads out of the folder."""
    folder = resources.files("navi") / "web"
    assets = [f"assets/{file.name}" for file in folder.joinpath("assets").iterdir()]
    return frozenset(["index.html", *assets])
