"""Identifies callers by token or browser login, and checks Host and Origin."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from navi.base.errors import NotAllowed, NotAuthenticated
from navi.base.stored_text import require_storable
from navi.live.api import login_cookie
from navi.live.api.connection_limits import mark_authenticated
from navi.live.api.responses import error_response
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import User
from navi.live.runtime.app import Navi

LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}
HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\s:/@\[\]]+)(?::[0-9]{1,5})?")
ORIGIN_SCHEMES = {"http": "http", "https": "https", "ws": "http", "wss": "https"}
"""The scheme that a request's `Origin` must have, by the request's own scheme."""


class SameOriginOnly:
    """Refuses requests caused by other sites: with a foreign `Origin` or `Host` (DNS rebinding)."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = {_bracketed(host.lower()) for host in hosts} | LOOPBACK

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            error = self._refusal(Headers(scope=scope), ORIGIN_SCHEMES[scope["scheme"]])
            if error is not None:
                await _send_error(error, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refusal(self, headers: Headers, scheme: str) -> NotAllowed | None:
        host = ", ".join(headers.getlist("host")).lower()
        match = HOST.fullmatch(host)
        if match is None or match["name"] not in self._hosts:
            return NotAllowed(
                f"this server does not serve the host {host[:100] or '(none)'}",
                hint="add the name to [server] allowed_hosts in the settings",
            )
        if "origin" not in headers:
            return None
        origin = ", ".join(headers.getlist("origin")).lower()
        if origin == f"{scheme}://{host}":
            return None
        hint = "open the page at the server's own address"
        if origin == f"https://{host}":
            hint = "have the TLS proxy send the header 'X-Forwarded-Proto: https'"
        return NotAllowed(f"pages from {origin[:100]} may not use this server", hint=hint)


async def identify_user(connection: HTTPConnection) -> tuple[Navi, User]:
    """Navi, and the user who is calling, in person or through an agent."""
    navi, caller = await identify_caller(connection)
    return navi, caller.user


async def identify_caller(connection: HTTPConnection) -> tuple[Navi, Caller]:
    """Navi, and the caller: a person, or the agent of a session."""
    navi: Navi = connection.app.state.navi
    token = token_of(connection.headers)
    if token is None:
        raise NotAuthenticated(
            "a token is required",
            hint="send 'Authorization: Bearer TOKEN'; the token is in $NAVI_HOME/token",
        )
    caller = await authenticate(navi, token, connection.headers)
    mark_authenticated(connection)
    # The store can't search for text that it can't hold.
    for name, text in (*connection.path_params.items(), *connection.query_params.items()):
        require_storable(name, str(text))
    return navi, caller


async def authenticate(navi: Navi, token: str, headers: Mapping[str, str]) -> Caller:
    """Identify the holder of a token. Refuses an agent whose headers name another session."""
    caller = await navi.accounts.authenticate(token)
    caller.acting_session(headers.get("navi-session") or None)
    return caller


def calling_session(connection: HTTPConnection, caller: Caller) -> str | None:
    """The session whose agent is calling; None if a person is calling.

    An agent in a person's own terminal has that person's token, and names its session in a header.
    """
    return caller.acting_session(connection.headers.get("navi-session") or None)


def require_person(connection: HTTPConnection, caller: Caller) -> None:
    """Refuse agents, including those in a person's own terminal."""
    Caller(caller.user, calling_session(connection, caller)).require_person()


def token_of(headers: Mapping[str, str]) -> str | None:
    """A program's token or, if there is none, the token of a browser's login."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return login_cookie.token_of(headers)


def _bracketed(host: str) -> str:
    """The host as written in a `Host` header, with an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


async def _send_error(error: NotAllowed, scope: Scope, receive: Receive, send: Send) -> None:
    response = error_response(error)
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
