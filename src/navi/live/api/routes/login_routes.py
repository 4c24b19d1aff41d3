"""/login and /logout, for browsers."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.base.errors import InvalidInput, NotAllowed
from navi.live.api import login_cookie, request_bodies
from navi.live.api.access import identify_caller, token_of
from navi.live.api.responses import answer
from navi.live.runtime.app import Navi

BODY_LIMIT_BYTES = 10_000
"""Small, because no token is needed to send a login."""
OWN_SITES = {"same-origin", "none"}
"""Values of `Sec-Fetch-Site` for requests that no other site caused."""


def routes() -> list[Route]:
    return [
        Route("/login", login, methods=["POST"]),
        Route("/logout", logout, methods=["POST"]),
    ]


async def login(request: Request) -> Response:
    """Log in this browser with a user's token or the code of a one-time link."""
    navi: Navi = request.app.state.navi
    site = request.headers.get("sec-fetch-site", "none")
    if site not in OWN_SITES:
        raise NotAllowed(
            "another site can't log you in", hint="log in on the page at the server's own address"
        )
    body = await request_bodies.read(request, request_bodies.NewLogin, BODY_LIMIT_BYTES)
    if body.token is not None:
        new_login = await navi.logins.log_in_with_token(body.token.strip())
    elif body.code is not None and body.user is not None:
        new_login = await navi.logins.log_in_with_code(body.code, body.user)
    else:
        raise InvalidInput(
            "a login needs a token, or the user and code of a link", hint='like {"token": "…"}'
        )
    if (previous := login_cookie.token_of(request.headers)) is not None:
        await navi.logins.end(previous)
    response = answer({"user_id": new_login.user_id, "page_secret": new_login.page_secret})
    login_cookie.set_cookie(request, response, new_login.cookie)
    return response


async def logout(request: Request) -> Response:
    """End the calling browser's login, or all logins of its user."""
    navi, caller = await identify_caller(request)
    caller.require_person()
    body = await request_bodies.read(request, request_bodies.Logout)
    if body.everywhere:
        count = await navi.logins.end_all(caller.user.id)
    else:
        count = await navi.logins.end(token_of(request.headers) or "")
    response = answer({"ended": count})
    login_cookie.delete_cookie(request, response)
    return response
