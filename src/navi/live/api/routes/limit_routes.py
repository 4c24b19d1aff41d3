"""/limits."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.live.api import request_bodies
from navi.live.api.access import identify_caller, identify_user
from navi.live.api.responses import answer
from navi.live.model.wire_format import limit_json


def routes() -> list[Route]:
    return [
        Route("/limits", list_limits, methods=["GET"]),
        Route("/limits/ignore", ignore, methods=["POST"]),
    ]


async def list_limits(request: Request) -> Response:
    navi, user = await identify_user(request)
    return answer([limit_json(each) for each in await navi.usage_limits.list_limits(user)])


async def ignore(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    caller.require_person()
    body = await request_bodies.read(request, request_bodies.IgnoredLimit)
    limits = await navi.usage_limits.ignore(caller.user, body.account)
    return answer([limit_json(each) for each in limits])
