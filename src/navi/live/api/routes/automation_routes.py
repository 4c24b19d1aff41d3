"""/sessions/{id}/automations, /automations and /automation-runs."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.live.api import query_parameters, request_bodies
from navi.live.api.access import calling_session, identify_caller, identify_user
from navi.live.api.responses import answer
from navi.live.api.routes.budget_routes import change_budget
from navi.live.model.budget import Scope
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
    navi, user = await identify_user(request)
    automations = await navi.automations.list_automations(user, request.path_params["id"])
    timezone = query_parameters.timezone(request)
    return answer([automation_json(each, timezone) for each in automations])


async def add(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    timezone = query_parameters.timezone(request)
    body = await request_bodies.read(request, AutomationRequest)
    session_id = request.path_params["id"]
    if any(getattr(body, field) is not None for field in request_bodies.PERSON_ONLY):
        caller.require_person()
    if body.budget is not None:
        # Check the budget first, so that an invalid one does not leave an automation behind.
        session = await navi.budgets.of_session(caller.user, session_id)
        owner = replace(session, scope=Scope.AUTOMATION)
        navi.budgets.check(owner, body.budget.amount, body.budget.per)
    automation = await navi.automations.add(
        caller.user, session_id, body, calling_session(request, caller)
    )
    if body.budget is not None:
        owner = await navi.budgets.of_automation(caller.user, automation.id)
        await change_budget(navi, caller, owner, body.budget)
    return answer(automation_json(automation, timezone), 201)


async def list_automations(request: Request) -> Response:
    navi, user = await identify_user(request)
    timezone = query_parameters.timezone(request)
    automations = await navi.automations.list_automations(user)
    return answer([automation_json(each, timezone) for each in automations])


async def preview(request: Request) -> Response:
    navi, _ = await identify_user(request)
    body = await request_bodies.read(request, request_bodies.SchedulePreview)
    preview = navi.automations.preview(body, body.count)
    fields: PreviewJson = {
        "schedule": schedule_json(preview.schedule),
        "schedule_words": preview.schedule.in_words(),
        "next": [instant(moment) for moment in preview.next],
    }
    return answer(fields)


async def read(request: Request) -> Response:
    navi, user = await identify_user(request)
    automation = await navi.automations.get(user, request.path_params["id"])
    return answer(automation_json(automation, query_parameters.timezone(request)))


async def change(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    timezone = query_parameters.timezone(request)
    body = await request_bodies.read(request, AutomationChange)
    changes, automation_id = body.values(), request.path_params["id"]
    if changes.keys() & request_bodies.PERSON_ONLY:
        caller.require_person()
    if "budget" in changes:
        owner = await navi.budgets.of_automation(caller.user, automation_id)
        await change_budget(navi, caller, owner, body.budget)
    if changes.keys() == {"budget"}:
        automation = await navi.automations.get(caller.user, automation_id)
    else:
        automation = await navi.automations.change(
            caller.user, automation_id, body, calling_session(request, caller)
        )
    return answer(automation_json(automation, timezone))


async def remove(request: Request) -> Response:
    navi, user = await identify_user(request)
    await navi.automations.remove(user, request.path_params["id"])
    return answer({"deleted": True})


async def list_runs(request: Request) -> Response:
    navi, user = await identify_user(request)
    runs = await navi.automations.list_runs(user, request.path_params["id"])
    return answer([run_json(each) for each in runs])


async def read_run(request: Request) -> Response:
    navi, user = await identify_user(request)
    return answer(run_json(await navi.automations.get_run(user, request.path_params["id"])))
