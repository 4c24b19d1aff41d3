"""/inbox: what is waiting for a person."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.base.timezone import parse_timezone
from navi.live.api import query_parameters, request_bodies
from navi.live.api.access import identify_caller, identify_user, require_person
from navi.live.api.responses import answer
from navi.live.model.wire_format import inbox_json


def routes() -> list[Route]:
    return [
        Route("/inbox", list_items, methods=["GET"]),
        Route("/inbox/{id}/snooze", snooze, methods=["POST"]),
        Route("/inbox/{id}/settle", settle, methods=["POST"]),
    ]


async def list_items(request: Request) -> Response:
    navi, user = await identify_user(request)
    items = await navi.inbox.items(
        user,
        query_parameters.timezone(request),
        with_snoozed=query_parameters.flag(request, "snoozed"),
    )
    return answer([inbox_json(each) for each in items])


async def snooze(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    require_person(request, caller)
    body = await request_bodies.read(request, request_bodies.NewSnooze)
    timezone = None if body.tz is None else parse_timezone(body.tz)
    item = await navi.inbox.snooze(caller, request.path_params["id"], body.until, timezone)
    return answer(inbox_json(item))


async def settle(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    require_person(request, caller)
    return answer(inbox_json(await navi.inbox.settle(caller, request.path_params["id"])))
