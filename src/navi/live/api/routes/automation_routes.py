"""/sessions/{id}/automations, /automations and /automation-runs."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.live.api import request_bodies
from navi.live.api.access import caller, calling_session, identify
from navi.live.api.responses import answer
from navi.live.model.scheduling.automation_request import AutomationChange, AutomationRequest
from navi.live.model.wire_format import (
    PreviewJson,
    automation_json,
    instant,
    run_json,
    schedule_json,
)


def routes() -> list[Route]:
    return [
        Route("/sessions/{id}/automations", list_for_session, methods=["GET"]),
        Route("/sessions/{id}/automations", add, methods=["POST"]),
        Route("/automations", list_automations, methods=["GET"]),
        Route("/automations/preview", preview, methods=["POST"]),
        Route("/automations/{id}", read, methods=["GET"]),
        Route("/automations/{id}", change, methods=["PATCH"]),
        Route("/automations/{id}", remove, methods=["DELETE"]),
        Route("/automations/{id}/runs", list_runs, methods=["GET"]),
        Route("/automation-runs/{id}", read_run, methods=["GET"]),
    ]


async def list_for_session(request: Request) -> Response:
    navi, user = await caller(request)
    automations = await navi.automations.list_automations(user, request.path_params["id"])
    timezone = request_bodies.timezone(request)
    return answer([automation_json(each, timezone) for each in automations])


async def add(request: Request) -> Response:
    navi, who = await identify(request)
    timezone = request_bodies.timezone(request)
    body = await request_bodies.read(request, AutomationRequest)
    automation = await navi.automations.add(
        who.user, request.path_params["id"], body, calling_session(request, who)
    )
    return answer(automation_json(automation, timezone), 201)


async def list_automations(request: Request) -> Response:
    navi, user = await caller(request)
    timezone = request_bodies.timezone(request)
    automations = await navi.automations.list_automations(user)
    return answer([automation_json(each, timezone) for each in automations])


async def preview(request: Request) -> Response:
    navi, _ = await caller(request)
    body = await request_bodies.read(request, request_bodies.SchedulePreview)
    preview = navi.automations.preview(body, body.count)
    fields: PreviewJson = {
        "schedule": schedule_json(preview.schedule),
        "schedule_words": preview.schedule.in_words(),
        "next": [instant(moment) for moment in preview.next],
    }
    return answer(fields)


async def read(request: Request) -> Response:
    navi, user = await caller(request)
    automation = await navi.automations.get(user, request.path_params["id"])
    return answer(automation_json(automation, request_bodies.timezone(request)))


async def change(request: Request) -> Response:
    navi, who = await identify(request)
    timezone = request_bodies.timezone(request)
    body = await request_bodies.read(request, AutomationChange)
    automation = await navi.automations.change(
        who.user, request.path_params["id"], body, calling_session(request, who)
    )
    return answer(automation_json(automation, timezone))


async def remove(request: Request) -> Response:
    navi, user = await caller(request)
    await navi.automations.remove(user, request.path_params["id"])
    return answer({"deleted": True})


async def list_runs(request: Request) -> Response:
    navi, user = await caller(request)
    runs = await navi.automations.runs(user, request.path_params["id"])
    return answer([run_json(each) for each in runs])


async def read_run(request: Request) -> Response:
    navi, user = await caller(request)
    return answer(run_json(await navi.automations.run(user, request.path_params["id"])))
