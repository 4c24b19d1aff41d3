"""The two halves of a browser's login, as they travel.

One half is a cookie. Browsers send cookies to every port of a host, so another server may see it.
The page keeps the other half in its own storage, which no other origin can read, and sends it as a
header. A WebSocket can't have one: there it is the name of a subprotocol.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request, cookie_parser
from starlette.responses import Response

from navi.live.runtime.services.login_service import join

PAGE_HEADER = "navi-page"
SUBPROTOCOL = "navi"
PAGE_SUBPROTOCOL = "navi.page."
COOKIE_SECONDS = 400 * 24 * 3600
"""As long as browsers keep any cookie. When a login expires is up to the store."""
TOKEN_COOKIE = "navi_token"
"""Earlier versions kept the user's token itself in it. Browsers may still have it."""


def token_of(headers: Mapping[str, str]) -> str | None:
    """The token of the login, if both halves are there."""
    cookie = _cookies(headers).get(_name(headers))
    page_secret = headers.get(PAGE_HEADER) or _page_secret_in_subprotocols(headers)
    return join(cookie, page_secret) if cookie and page_secret else None


def subprotocol(headers: Mapping[str, str]) -> str | None:
    """What to agree on with a page that sent its half. Browsers insist on an answer."""
    return SUBPROTOCOL if _page_secret_in_subprotocols(headers) else None


def keep(request: Request, response: Response, cookie: str) -> None:
    response.set_cookie(
        _name(request.headers),
        cookie,
        max_age=COOKIE_SECONDS,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def drop(request: Request, response: Response) -> None:
    response.delete_cookie(_name(request.headers), path="/", httponly=True, samesite="strict")


def drop_token_cookie(request: Request, response: Response) -> None:
    if TOKEN_COOKIE in _cookies(request.headers):
        response.delete_cookie(TOKEN_COOKIE, path="/", httponly=True, samesite="strict")


def _name(headers: Mapping[str, str]) -> str:
    """With the port, so that several servers of one host don't overwrite each other's."""
    port = headers.get("host", "").rpartition(":")[2]
    return f"navi_login_{port}" if port.isdecimal() else "navi_login"


def _cookies(headers: Mapping[str, str]) -> dict[str, str]:
    """Ours are found among any others: every server of this host adds its own, however odd."""
    return cookie_parser(headers.get("cookie", ""))


def _page_secret_in_subprotocols(headers: Mapping[str, str]) -> str:
    for each in headers.get("sec-websocket-protocol", "").split(","):
        if each.strip().startswith(PAGE_SUBPROTOCOL):
            return each.strip().removeprefix(PAGE_SUBPROTOCOL)
    return ""
