"""The page, its files, and the login link."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from navi import __version__
from navi.api.access import COOKIE, caller
from navi.api.answers import answer
from navi.domain.errors import NotAuthenticated
from navi.runtime.app import Navi

COOKIE_SECONDS = 90 * 24 * 3600
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
    # The names of the files stay the same, so a browser asks each time whether they changed.
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
    return answer({"status": "ok", "version": __version__, "store": navi.store.kind})


async def login(request: Request) -> Response:
    """The printed link: its token becomes a cookie and disappears from the address."""
    navi: Navi = request.app.state.navi
    token = request.query_params.get("token", "")
    try:
        (await navi.accounts.authenticate(token)).require_person()
    except NotAuthenticated:
        if _wants_page(request):
            return _file(request, "login.html", 401)
        raise
    response = RedirectResponse("/", 303)
    response.set_cookie(
        COOKIE, token, max_age=COOKIE_SECONDS, httponly=True, samesite="strict", path="/"
    )
    return response


async def home(request: Request) -> Response:
    """The page; for whoever is not known a page that says how to get in."""
    try:
        await caller(request)
    except NotAuthenticated:
        return _file(request, "login.html", 401)
    return _file(request, "index.html")


async def asset(request: Request) -> Response:
    return _file(request, f"assets/{request.path_params['name']}")


def _wants_page(request: Request) -> bool:
    """Browsers say so; other programs get errors as JSON, as everywhere."""
    return "text/html" in request.headers.get("accept", "")


def _file(request: Request, path: str, status: int = 200) -> Response:
    file = _read(path)
    if file is None:
        return Response("not found", 404)
    headers = {**HEADERS, "ETag": file.tag}
    if status == 200 and request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    content = file.content
    if "gzip" in request.headers.get("accept-encoding", ""):
        content = file.compressed
        headers["Content-Encoding"] = "gzip"
    return Response(content, status, media_type=file.media_type, headers=headers)


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    compressed: bytes
    media_type: str
    tag: str


@cache
def _read(path: str) -> _File | None:
    """A file of the page. There are few, so they stay in memory."""
    folder = resources.files("navi") / "web"
    media_type = MEDIA_TYPES.get(path.rpartition(".")[2])
    if media_type is None or path not in _names():
        return None
    content = folder.joinpath(path).read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
    return _File(content, gzip.compress(content, mtime=0), media_type, tag)


@cache
def _names() -> frozenset[str]:
    """What may be asked for; nothing outside can be named."""
    folder = resources.files("navi") / "web"
    assets = [f"assets/{file.name}" for file in folder.joinpath("assets").iterdir()]
    return frozenset(["index.html", "login.html", *assets])
