"""/sessions/{id}/input and /sessions/{id}/queue."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.live.api import query_parameters, request_bodies
from navi.live.api.access import calling_session, identify_caller, identify_user
from navi.live.api.responses import answer
from navi.live.model.access.caller import Caller
from navi.live.model.input import Admission
from navi.live.model.wire_format import admission_json, answer_json, input_json
from navi.live.runtime.app import Navi


def routes() -> list[Route]:
    return [
        Route("/sessions/{id}/input", send, methods=["POST"]),
        Route("/sessions/{id}/input/{input_id}", read_progress, methods=["GET"]),
        Route("/sessions/{id}/queue", list_queue, methods=["GET"]),
        Route("/sessions/{id}/queue/{input_id}", edit, methods=["PATCH"]),
        Route("/sessions/{id}/queue/{input_id}", remove, methods=["DELETE"]),
    ]


async def send(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    body = await request_bodies.read(request, request_bodies.InputBody)
    admission = await admit(navi, caller, request.path_params["id"], body)
    return answer(admission_json(admission), 202)


async def read_progress(request: Request) -> Response:
    navi, user = await identify_user(request)
    path = request.path_params
    wait = query_parameters.seconds(request, "wait")
    progress = await navi.long_poll.wait_for_answer(user, path["id"], path["input_id"], wait)
    return answer(answer_json(progress))


async def list_queue(request: Request) -> Response:
    navi, user = await identify_user(request)
    inputs = await navi.sessions.queue(user, request.path_params["id"])
    return answer([input_json(each) for each in inputs])


async def edit(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    body = await request_bodies.read(request, request_bodies.InputChange)
    changes = body.model_dump(exclude_unset=True, exclude_none=True)
    path = request.path_params
    edited_input = await navi.sessions.edit_input(
        caller.user, path["id"], path["input_id"], changes, calling_session(request, caller)
    )
    return answer(input_json(edited_input))


async def remove(request: Request) -> Response:
    navi, user = await identify_user(request)
    await navi.sessions.remove_input(
        user, request.path_params["id"], request.path_params["input_id"]
    )
    return answer({"removed": True})


async def admit(
    navi: Navi, caller: Caller, session_id: str, body: request_bodies.InputBody
) -> Admission:
    """Admit an input that came by HTTP or WebSocket."""
    sender = caller.acting_session(body.sender_session_id)
    fields = {**body.model_dump(), "sender_session_id": sender}
    return await navi.messages.send(caller.user, session_id, **fields)
