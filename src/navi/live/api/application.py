"""Routes and middleware, put together."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute

from navi.base.errors import NaviError
from navi.live.api.access import SameSiteOnly
from navi.live.api.responses import (
    on_disconnect,
    on_http_exception,
    on_navi_error,
    on_unexpected_error,
)
from navi.live.api.routes import (
    automation_routes,
    hook_routes,
    input_routes,
    login_routes,
    mcp_routes,
    memory_routes,
    page_routes,
    recall_routes,
    reminder_routes,
    session_routes,
    socket_routes,
)
from navi.live.runtime.app import Navi


def routes() -> list[BaseRoute]:
    """Every route of the server."""
    return [
        *page_routes.routes(),
        *login_routes.routes(),
        *session_routes.routes(),
        *input_routes.routes(),
        *recall_routes.routes(),
        *automation_routes.routes(),
        *memory_routes.routes(),
        *reminder_routes.routes(),
        *mcp_routes.routes(),
        *hook_routes.routes(),
        *socket_routes.routes(),
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
            Exception: on_unexpected_error,
        },
    )
    app.state.navi = navi
    return app
