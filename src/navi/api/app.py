"""Routes and middleware, put together."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from navi.api import inputs, pages, sessions, sockets
from navi.api.access import SameSiteOnly
from navi.api.answers import on_http_exception, on_navi_error, on_surprise
from navi.domain.errors import NaviError
from navi.runtime.app import Navi


def build(navi: Navi) -> Starlette:
    server = navi.settings.server
    app = Starlette(
        routes=[
            *pages.routes(),
            *sessions.routes(),
            *inputs.routes(),
            *sockets.routes(),
        ],
        middleware=[Middleware(SameSiteOnly, hosts=[server.host, *server.allowed_hosts])],
        exception_handlers={
            NaviError: on_navi_error,
            HTTPException: on_http_exception,
            Exception: on_surprise,
        },
    )
    app.state.navi = navi
    return app
