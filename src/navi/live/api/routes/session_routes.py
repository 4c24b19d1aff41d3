"""/sessions: create, read, change, stop, clear, kill, delete."""

from __future__ import annotations

from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.live.api import request_bodies
from navi.live.api.access import caller, identify
from navi.live.api.responses import answer
from navi.live.model.scheduling.automation import BlockedByAutomations
from navi.live.model.wire_format import error_json, input_json, message_json, session_json

SNAPSHOT_MESSAGES = 100


def routes() -> list[Route]:
    return [
        Route("/sessions", list_sessions, methods=["GET"]),
        Route("/sessions", create, methods=["POST"]),
        Route("/sessions/{id}", read, methods=["GET"]),
        Route("/sessions/{id}", change, methods=["PATCH"]),
        Route("/sessions/{id}", remove, methods=["DELETE"]),
        Route("/sessions/{id}/messages", messages, methods=["GET"]),
        Route("/sessions/{id}/snapshot", snapshot, methods=["GET"]),
        Route("/sessions/{id}/children", children, methods=["GET"]),
        Route("/sessions/{id}/wait", wait, methods=["GET"]),
        Route("/sessions/{id}/agent-status", report_status, methods=["POST"]),
        Route("/sessions/{id}/task-complete", complete_task, methods=["POST"]),
        Route("/sessions/{id}/stop", stop, methods=["POST"]),
        Route("/sessions/{id}/clear", clear, methods=["POST"]),
        Route("/sessions/{id}/kill", kill, methods=["POST"]),
    ]


async def list_sessions(request: Request) -> Response:
    navi, user = await caller(request)
    sessions = await navi.sessions.list_sessions(
        user,
        request.query_params.get("parent_id"),
        with_recall=request_bodies.flag(request, "pending_recall"),
    )
    return answer([session_json(session) for session in sessions])


async def create(request: Request) -> Response:
    navi, who = await identify(request)
    body = await request_bodies.read(request, request_bodies.NewSession)
    fields = {**body.model_dump(), "parent_id": who.acting_session(body.parent_id)}
    return answer(session_json(await navi.sessions.create(who.user, **fields)), 201)


async def read(request: Request) -> Response:
    navi, user = await caller(request)
    return answer(session_json(await navi.sessions.get(user, request.path_params["id"])))


async def change(request: Request) -> Response:
    navi, user = await caller(request)
    body = await request_bodies.read(request, request_bodies.SessionChange)
    changes = body.model_dump(exclude_unset=True)
    session = await navi.sessions.change(user, request.path_params["id"], changes)
    return answer(session_json(session))


async def remove(request: Request) -> Response:
    navi, who = await identify(request)
    with_automations = request_bodies.flag(request, "delete_automations")
    requester = who.acting_session(request.query_params.get("requester_session_id"))
    try:
        await navi.sessions.remove(
            who.user, request.path_params["id"], requester, with_automations=with_automations
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


async def messages(request: Request) -> Response:
    navi, user = await caller(request)
    messages = await navi.sessions.messages(
        user,
        request.path_params["id"],
        request_bodies.number(request, "after_idx", -1),
        request_bodies.optional_number(request, "before_idx"),
        request_bodies.limit(request),
    )
    return answer([message_json(message) for message in messages])


async def snapshot(request: Request) -> Response:
    navi, user = await caller(request)
    limit = request_bodies.limit(request)
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


async def children(request: Request) -> Response:
    navi, user = await caller(request)
    recursive = request_bodies.flag(request, "recursive")
    children = await navi.sessions.children(user, request.path_params["id"], recursive=recursive)
    return answer([session_json(session) for session in children])


async def wait(request: Request) -> Response:
    navi, user = await caller(request)
    seconds = request_bodies.seconds(request, "seconds")
    result = await navi.long_poll.wait_until_idle(user, request.path_params["id"], seconds)
    return answer({"idle": result.is_idle, "session": session_json(result.session)})


async def report_status(request: Request) -> Response:
    navi, who = await identify(request)
    session_id = request.path_params["id"]
    who.acting_session(session_id)
    body = await request_bodies.read(request, request_bodies.StatusReport)
    session = await navi.messages.report(who.user, session_id, body.text)
    return answer(session_json(session))


async def complete_task(request: Request) -> Response:
    navi, who = await identify(request)
    session_id = request.path_params["id"]
    who.acting_session(session_id)
    body = await request_bodies.read(request, request_bodies.Completion)
    is_parent_notified = await navi.messages.complete_task(who.user, session_id, body.text)
    return answer({"parent_told": is_parent_notified})


async def stop(request: Request) -> Response:
    navi, user = await caller(request)
    return answer({"stopped": await navi.sessions.stop(user, request.path_params["id"])})


async def clear(request: Request) -> Response:
    navi, who = await identify(request)
    body = await request_bodies.read(request, request_bodies.Requester)
    requester = who.acting_session(body.requester_session_id)
    session = await navi.sessions.clear(who.user, request.path_params["id"], requester)
    return answer(session_json(session))


async def kill(request: Request) -> Response:
    navi, who = await identify(request)
    body = await request_bodies.read(request, request_bodies.Requester)
    requester = who.acting_session(body.requester_session_id)
    session = await navi.sessions.kill(who.user, request.path_params["id"], requester)
    return answer(session_json(session))
