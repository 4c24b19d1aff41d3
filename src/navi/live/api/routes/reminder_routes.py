"""/sessions/{id}/remind (repeated), /scheduler/remind (one-off) and …/reminders (both)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.live.api import request_bodies
from navi.live.api.access import identify_user
from navi.live.api.responses import answer
from navi.live.model.wire_format import registration_json, reminder_json, upcoming_json


def routes() -> list[Route]:
    return [
        Route("/reminders", upcoming, methods=["GET"]),
        Route("/sessions/{id}/reminders", upcoming, methods=["GET"]),
        Route("/sessions/{id}/remind", read, methods=["GET"]),
        Route("/sessions/{id}/remind", register, methods=["POST"]),
        Route("/sessions/{id}/remind", stop, methods=["DELETE"]),
        Route("/scheduler/remind", schedule, methods=["POST"]),
        Route("/scheduler/remind/{id}", cancel, methods=["DELETE"]),
    ]


async def upcoming(request: Request) -> Response:
    navi, user = await identify_user(request)
    reminders = await navi.reminders.upcoming(user, request.path_params.get("id"))
    return answer([upcoming_json(each) for each in reminders])


async def read(request: Request) -> Response:
    navi, user = await identify_user(request)
    registration = await navi.reminders.registration(user, request.path_params["id"])
    return answer(registration_json(registration))


async def register(request: Request) -> Response:
    navi, user = await identify_user(request)
    body = await request_bodies.read(request, request_bodies.NewRegistration)
    registration = await navi.reminders.register(
        user, request.path_params["id"], body.soft_threshold, body.hard_threshold
    )
    return answer(registration_json(registration))


async def stop(request: Request) -> Response:
    navi, user = await identify_user(request)
    return answer(registration_json(await navi.reminders.stop(user, request.path_params["id"])))


async def schedule(request: Request) -> Response:
    navi, user = await identify_user(request)
    body = await request_bodies.read(request, request_bodies.NewReminder)
    reminder = await navi.reminders.schedule(user, **body.model_dump())
    return answer(reminder_json(reminder))


async def cancel(request: Request) -> Response:
    navi, user = await identify_user(request)
    return answer(reminder_json(await navi.reminders.cancel(user, request.path_params["id"])))
