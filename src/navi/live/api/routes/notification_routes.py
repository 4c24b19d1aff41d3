"""/notifications: past notifications, and a test."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.base.errors import InvalidInput
from navi.live.api import request_bodies
from navi.live.api.access import identify_caller, identify_user
from navi.live.api.responses import answer
from navi.live.model.notification import NotificationState
from navi.live.model.wire_format import notification_json


def routes() -> list[Route]:
    return [
        Route("/notifications", list_notifications, methods=["GET"]),
        Route("/notifications/test", test, methods=["POST"]),
    ]


async def list_notifications(request: Request) -> Response:
    navi, user = await identify_user(request)
    state = _state(request.query_params.get("state"))
    notifications = await navi.notifications.service.list_notifications(user, state)
    return answer([notification_json(each) for each in notifications])


async def test(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    body = await request_bodies.read(request, request_bodies.NotificationTest)
    results = await navi.notifications.service.test(caller, body.channel)
    return answer([{"channel": each.channel, "error": each.error} for each in results])


def _state(text: str | None) -> NotificationState | None:
    if text is None:
        return None
    if text not in set(NotificationState):
        possible = ", ".join(NotificationState)
        raise InvalidInput(f"state can't be {text!r}", hint=f"one of: {possible}")
    return NotificationState(text)
