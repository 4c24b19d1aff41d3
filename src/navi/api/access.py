"""Who is asking: token, cookie, Host and Origin."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from navi.api.answers import refusal
from navi.api.connections import welcome
from navi.domain.errors import NotAllowed, NotAuthenticated
from navi.domain.stored_text import require_storable
from navi.domain.user import User
from navi.runtime.app import Navi

COOKIE = "navi_token"
LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}


class SameSiteOnly:
    """Refuses what other web pages send: a foreign `Host` (DNS rebinding) or `Origin`."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = {_bracketed(host.lower()) for host in hosts} | LOOPBACK

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            error = self._judge(Headers(scope=scope))
            if error is not None:
                await _refuse(error, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _judge(self, headers: Headers) -> NotAllowed | None:
        host = headers.get("host", "")
        if _without_port(host) not in self._hosts:
            return NotAllowed(
                f"this server is not reached as {host[:100] or 'nothing'}",
                hint="add the name to [server] allowed_hosts in the settings",
            )
        origin = headers.get("origin")
        if origin is not None and _netloc(origin) != host.lower():
            return NotAllowed(
                f"pages from {origin[:100]} may not talk to this server",
                hint="open the link that `navi serve` printed",
            )
        return None


async def caller(connection: HTTPConnection) -> tuple[Navi, User]:
    """Navi, and the user who asks it."""
    navi: Navi = connection.app.state.navi
    token = token_of(connection.headers)
    if token is None:
        raise NotAuthenticated(
            "this needs a token",
            hint="send 'Authorization: Bearer TOKEN'; the token is in $NAVI_HOME/token",
        )
    user = await navi.accounts.authenticate(token)
    welcome(connection)
    # A store can't even be asked for a text that it can't keep.
    for name, text in (*connection.path_params.items(), *connection.query_params.items()):
        require_storable(name, str(text))
    return navi, user


def calling_session(connection: HTTPConnection) -> str | None:
    """The session whose agent makes the call, where it says so; None for a person."""
    return connection.headers.get("navi-session") or None


def token_of(headers: Mapping[str, str]) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    return cookies[COOKIE].value if COOKIE in cookies else None


def _bracketed(host: str) -> str:
    """An IPv6 address as it stands in a `Host` header."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[: host.find("]") + 1].lower()
    return host.partition(":")[0].lower()


async def _refuse(error: NotAllowed, scope: Scope, receive: Receive, send: Send) -> None:
    response = refusal(error)
    if scope["type"] == "http":
        await response(scope, receive, send)
        return
    await send(
        {
            "type": "websocket.http.response.start",
            "status": error.http_status,
            "headers": response.raw_headers,
        }
    )
    await send({"type": "websocket.http.response.body", "body": bytes(response.body)})
