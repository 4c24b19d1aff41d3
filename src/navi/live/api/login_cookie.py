"""The two halves of a browser's login, as browsers send them.

One half is a cookie. Browsers send cookies to every port of a host, so another server may see it.
The page keeps the other half in its own storage, which no other origin can read, and sends it as a
header. WebSockets in browsers can't set headers, so there it is part of a subprotocol's name.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request, cookie_parser
from starlette.responses import Response

from navi.live.runtime.services.login_service import join

PAGE_HEADER = "navi-page"
SUBPROTOCOL = "navi"
PAGE_SUBPROTOCOL_PREFIX = "navi.page."
COOKIE_SECONDS = 400 * 24 * 3600
"""The longest that browsers keep a cookie. The store decides when a login expires."""
TOKEN_COOKIE = "navi_token"
"""Earlier versions stored the user's token in this cookie. Browsers may still have it."""


def token_of(headers: Mapping[str, str]) -> str | None:
    """The login's token, if both halves are present."""
    cookie = _cookies(headers).get(_cookie_name(headers))
    page_secret = headers.get(PAGE_HEADER) or _page_secret_in_subprotocols(headers)
    return join(cookie, page_secret) if cookie and page_secret else None


def subprotocol(headers: Mapping[str, str]) -> str | None:
    """The subprotocol to accept. Browsers that offer any require the server to accept one."""
    return SUBPROTOCOL if _page_secret_in_subprotocols(headers) else None


def set_cookie(request: Request, response: Response, cookie: str) -> None:
    response.set_cookie(
        _cookie_name(request.headers),
        cookie,
        max_age=COOKIE_SECONDS,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def delete_cookie(request: Request, response: Response) -> None:
    response.delete_cookie(
        _cookie_name(request.headers), path="/", httponly=True, samesite="strict"
    )


def delete_token_cookie(request: Request, response: Response) -> None:
    if TOKEN_COOKIE in _cookies(request.headers):
        response.delete_cookie(TOKEN_COOKIE, path="/", httponly=True, samesite="strict")


def _cookie_name(headers: Mapping[str, str]) -> str:
    """The name has the port, so that servers on one host don't overwrite each other's cookies."""
    port = headers.get("host", "").rpartition(":")[2]
    return f"navi_login_{port}" if port.isdecimal() else "navi_login"


def _cookies(headers: Mapping[str, str]) -> dict[str, str]:
    """The cookies, parsed leniently, because other servers on this host may set malformed ones."""
    return cookie_parser(headers.get("cookie", ""))


def _page_secret_in_subprotocols(headers: Mapping[str, str]) -> str:
    for protocol in headers.get("sec-websocket-protocol", "").split(","):
        if protocol.strip().startswith(PAGE_SUBPROTOCOL_PREFIX):
            return protocol.strip().removeprefix(PAGE_SUBPROTOCOL_PREFIX)
    return ""
