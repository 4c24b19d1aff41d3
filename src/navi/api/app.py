"""Routes and middleware, put together."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute

from navi.api import (
    archive,
    automations,
    hooks,
    inputs,
    logins,
    mcp,
    pages,
    recalls,
    reminders,
    sessions,
    sockets,
)
from navi.api.access import SameSiteOnly
from navi.api.answers import on_disconnect, on_http_exception, on_navi_error, on_surprise
from navi.domain.errors import NaviError
from navi.runtime.app import Navi


def routes() -> list[BaseRoute]:
    """Everything that can be asked of the server."""
    return [
        *pages.routes(),
        *logins.routes(),
        *sessions.routes(),
        *inputs.routes(),
        *recalls.routes(),
        *automations.routes(),
        *archive.routes(),
        *reminders.routes(),
        *mcp.routes(),
        *hooks.routes(),
        *sockets.routes(),
    ]


def build(navi: Navi) -> Starlette:
    server = navi.settings.server
    app = Starlette(
        routes=routes(),
        middleware=[Middleware(SameSiteOnly, hosts=[server.host, *server.allowed_hosts])],
        exception_handlers={
            NaviError: on_navi_error,
            HTTPException: on_http_exception,
            ClientDisconnect: on_disconnect,
            Exception: on_surprise,
        },
    )
    app.state.navi = navi
    return app
