"""Builds the app from its routes and middleware."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute

from navi.base.errors import NaviError
from navi.live.api.access import SameOriginOnly
from navi.live.api.responses import (
    on_disconnect,
    on_http_exception,
    on_navi_error,
    on_unexpected_error,
)
from navi.live.api.routes import (
    agenda_routes,
    agent_routes,
    answer_link_routes,
    automation_routes,
    budget_routes,
    documentation_routes,
    hook_routes,
    inbox_routes,
    input_routes,
    limit_routes,
    login_routes,
    mcp_routes,
    memory_routes,
    notification_routes,
    page_routes,
    question_routes,
    recall_routes,
    reminder_routes,
    session_routes,
    socket_routes,
)
from navi.live.runtime.app import Navi
from navi.live.runtime.settings import Settings


def routes() -> list[BaseRoute]:
    """Every route of the server."""
    return [
        *page_routes.routes(),
        *documentation_routes.routes(),
        *login_routes.routes(),
        *session_routes.routes(),
        *input_routes.routes(),
        *recall_routes.routes(),
        *automation_routes.routes(),
        *memory_routes.routes(),
        *reminder_routes.routes(),
        *question_routes.routes(),
        *inbox_routes.routes(),
        *notification_routes.routes(),
        *answer_link_routes.routes(),
        *agenda_routes.routes(),
        *limit_routes.routes(),
        *budget_routes.routes(),
        *agent_routes.routes(),
        *mcp_routes.routes(),
        *hook_routes.routes(),
        *socket_routes.routes(),
    ]


def build(navi: Navi) -> Starlette:
    app = Starlette(
        routes=routes(),
        middleware=[Middleware(SameOriginOnly, hosts=_hosts(navi.settings))],
        exception_handlers={
            NaviError: on_navi_error,
            HTTPException: on_http_exception,
            ClientDisconnect: on_disconnect,
            Exception: on_unexpected_error,
        },
    )
    app.state.navi = navi
    return app


def _hosts(settings: Settings) -> list[str]:
    """The names under which clients reach the server, besides the local ones."""
    server, public_url = settings.server, settings.notifications.public_url
    public = None if public_url is None else urlsplit(public_url).hostname
    return [server.host, *server.allowed_hosts, *([public] if public else [])]
