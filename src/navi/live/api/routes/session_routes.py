"""/sessions: create, read, change, stop, clear, kill, delete."""

from __future__ import annotations

from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.live.api import query_parameters, request_bodies
from navi.live.api.access import calling_session, identify_caller, identify_user
from navi.live.api.responses import answer
from navi.live.api.routes.budget_routes import change_budget
from navi.live.model.budget import Scope
from navi.live.model.scheduling.automation import BlockedByAutomations
from navi.live.model.wire_format import error_json, input_json, message_json, session_json
from navi.live.runtime.services.budget_service import Owner

SNAPSHOT_MESSAGES = 100


def routes() -> list[Route]:
    return [
        Route("/sessions", list_sessions, methods=["GET"]),
        Route("/sessions", create, methods=["POST"]),
        Route("/sessions/{id}", read, methods=["GET"]),
        Route("/sessions/{id}", change, methods=["PATCH"]),
        Route("/sessions/{id}", remove, methods=["DELETE"]),
        Route("/sessions/{id}/messages", list_messages, methods=["GET"]),
        Route("/sessions/{id}/snapshot", read_snapshot, methods=["GET"]),
        Route("/sessions/{id}/children", list_children, methods=["GET"]),
        Route("/sessions/{id}/wait", wait, methods=["GET"]),
        Route("/sessions/{id}/agent-status", report_status, methods=["POST"]),
        Route("/sessions/{id}/task-complete", complete_task, methods=["POST"]),
        Route("/sessions/{id}/stop", stop, methods=["POST"]),
        Route("/sessions/{id}/clear", clear, methods=["POST"]),
        Route("/sessions/{id}/kill", kill, methods=["POST"]),
    ]


async def list_sessions(request: Request) -> Response:
    navi, user = await identify_user(request)
    sessions = await navi.sessions.list_sessions(
        user,
        request.query_params.get("parent_id"),
        with_recall=query_parameters.flag(request, "pending_recall"),
        with_archived=query_parameters.flag(request, "archived"),
    )
    return answer([session_json(session) for session in sessions])


async def create(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    body = await request_bodies.read(request, request_bodies.NewSession)
    if body.model_dump(exclude_none=True).keys() & request_bodies.PERSON_ONLY:
        caller.require_person()
    fields = {**body.model_dump(), "parent_id": caller.acting_session(body.parent_id)}
    del fields["budget"]
    if body.budget is not None:
        # Check the budget first, so that an invalid one does not leave a session behind.
        owner = Owner(Scope.SESSION, "", "", body.model, body.driver)
        navi.budgets.check(owner, body.budget.amount, body.budget.per)
    session = await navi.sessions.create(caller.user, **fields)
    if body.budget is not None:
        owner = await navi.budgets.of_session(caller.user, session.id)
        await navi.budgets.set(caller, owner, body.budget.amount, body.budget.per)
    return answer(session_json(session), 201)


async def read(request: Request) -> Response:
    navi, user = await identify_user(request)
    return answer(session_json(await navi.sessions.get(user, request.path_params["id"])))


async def change(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    body = await request_bodies.read(request, request_bodies.SessionChange)
    changes = body.model_dump(exclude_unset=True)
    if changes.keys() & request_bodies.PERSON_ONLY:
        caller.require_person()
    session_id = request.path_params["id"]
    if changes.pop("budget", body) is not body:
        owner = await navi.budgets.of_session(caller.user, session_id)
        await change_budget(navi, caller, owner, body.budget)
        if not changes:
            return answer(session_json(await navi.sessions.get(caller.user, session_id)))
    session = await navi.sessions.change(
        caller.user, session_id, changes, calling_session(request, caller)
    )
    return answer(session_json(session))


async def remove(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    with_automations = query_parameters.flag(request, "delete_automations")
    requester = caller.acting_session(request.query_params.get("requester_session_id"))
    try:
        await navi.sessions.remove(
            caller.user, request.path_params["id"], requester, with_automations=with_automations
        )
    except BlockedByAutomations as blocked:
        automations = [asdict(each) for each in blocked.automations]
        return answer(
            {
                "deleted": False,
                "blocked_by_automations": True,
                "automations": automations,
                "error": error_json(blocked),
            },
            409,
        )
    return answer({"deleted": True})


async def list_messages(request: Request) -> Response:
    navi, user = await identify_user(request)
    messages = await navi.sessions.messages(
        user,
        request.path_params["id"],
        query_parameters.number(request, "after_idx", -1),
        query_parameters.optional_number(request, "before_idx"),
        query_parameters.limit(request),
    )
    return answer([message_json(message) for message in messages])


async def read_snapshot(request: Request) -> Response:
    navi, user = await identify_user(request)
    limit = query_parameters.limit(request)
    snapshot = await navi.sessions.snapshot(
        user, request.path_params["id"], SNAPSHOT_MESSAGES if limit is None else limit
    )
    return answer(
        {
            "session": session_json(snapshot.session),
            "messages": [message_json(message) for message in snapshot.messages],
            "queue": [input_json(queued) for queued in snapshot.queue],
            "after": snapshot.after,
        }
    )


async def list_children(request: Request) -> Response:
    navi, user = await identify_user(request)
    recursive = query_parameters.flag(request, "recursive")
    children = await navi.sessions.children(user, request.path_params["id"], recursive=recursive)
    return answer([session_json(session) for session in children])


async def wait(request: Request) -> Response:
    navi, user = await identify_user(request)
    seconds = query_parameters.seconds(request, "seconds")
    result = await navi.long_poll.wait_until_idle(user, request.path_params["id"], seconds)
    return answer({"idle": result.is_idle, "session": session_json(result.session)})


async def report_status(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    session_id = request.path_params["id"]
    caller.acting_session(session_id)  # refuses other sessions' agents
    body = await request_bodies.read(request, request_bodies.StatusReport)
    session = await navi.messages.report(caller.user, session_id, body.text)
    return answer(session_json(session))


async def complete_task(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    session_id = request.path_params["id"]
    caller.acting_session(session_id)  # refuses other sessions' agents
    body = await request_bodies.read(request, request_bodies.Completion)
    is_parent_notified = await navi.messages.complete_task(caller.user, session_id, body.text)
    return answer({"parent_told": is_parent_notified})


async def stop(request: Request) -> Response:
    navi, user = await identify_user(request)
    return answer({"stopped": await navi.sessions.stop(user, request.path_params["id"])})


async def clear(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    body = await request_bodies.read(request, request_bodies.Requester)
    requester = caller.acting_session(body.requester_session_id)
    session = await navi.sessions.clear(caller.user, request.path_params["id"], requester)
    return answer(session_json(session))


async def kill(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    body = await request_bodies.read(request, request_bodies.Requester)
    requester = caller.acting_session(body.requester_session_id)
    session = await navi.sessions.kill(caller.user, request.path_params["id"], requester)
    return answer(session_json(session))
