"""The login link and the page behind it."""

from __future__ import annotations

from importlib import resources

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from navi import __version__
from navi.api.access import COOKIE
from navi.api.answers import answer
from navi.runtime.app import Navi

COOKIE_SECONDS = 90 * 24 * 3600
MEDIA_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"


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
    await navi.accounts.authenticate(token)
    response = RedirectResponse("/", 303)
    response.set_cookie(
        COOKIE, token, max_age=COOKIE_SECONDS, httponly=True, samesite="strict", path="/"
    )
    return response


async def home(request: Request) -> Response:
    return _file("index.html")


async def asset(request: Request) -> Response:
    return _file(request.path_params["name"])


def _file(name: str) -> Response:
    file = resources.files("navi") / "web" / name
    media_type = MEDIA_TYPES.get(name.rpartition(".")[2])
    if media_type is None or "/" in name or not file.is_file():
        return Response("not found", 404)
    headers = {
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
    }
    return Response(file.read_bytes(), media_type=media_type, headers=headers)
