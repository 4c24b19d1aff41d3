"""/sessions/{id}/recall, /sessions/{id}/recalls and /recalls/preview."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.live.api import request_bodies
from navi.live.api.access import calling_session, identify_caller, identify_user
from navi.live.api.responses import answer
from navi.live.model.scheduling.recall import Scheduler
from navi.live.model.scheduling.recall_request import RecallRequest, RecallTime
from navi.live.model.wire_format import instant, recall_json


def routes() -> list[Route]:
    return [
        Route("/sessions/{id}/recall", read, methods=["GET"]),
        Route("/sessions/{id}/recall", schedule, methods=["POST"]),
        Route("/sessions/{id}/recall", cancel, methods=["DELETE"]),
        Route("/sessions/{id}/recall/skip", skip, methods=["POST"]),
        Route("/sessions/{id}/recalls", list_recalls, methods=["GET"]),
        Route("/recalls/preview", preview, methods=["POST"]),
    ]


async def read(request: Request) -> Response:
    navi, user = await identify_user(request)
    return answer(recall_json(await navi.recalls.pending(user, request.path_params["id"])))


async def schedule(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    body = await request_bodies.read(request, RecallRequest)
    session_id = request.path_params["id"]
    match calling_session(request, caller):
        case None:
            scheduled_by = Scheduler.PERSON
        case agent_session:
            scheduled_by = Scheduler.AGENT if agent_session == session_id else Scheduler.OTHER_AGENT
    scheduled = await navi.recalls.schedule(caller.user, session_id, body, scheduled_by)
    remarks = {"reading": scheduled.reading, "warning": scheduled.warning}
    return answer({**recall_json(scheduled.recall), **remarks}, 201)


async def cancel(request: Request) -> Response:
    navi, user = await identify_user(request)
    return answer(recall_json(await navi.recalls.cancel(user, request.path_params["id"])))


async def skip(request: Request) -> Response:
    navi, user = await identify_user(request)
    return answer(recall_json(await navi.recalls.skip(user, request.path_params["id"])))


async def preview(request: Request) -> Response:
    navi, _ = await identify_user(request)
    body = await request_bodies.read(request, RecallTime)
    readings = navi.recalls.preview(body)
    first, *later = [{"trigger_at": instant(each.at), "reading": each.reading} for each in readings]
    return answer({**first, "interval_seconds": body.interval_seconds, "beats": later})


async def list_recalls(request: Request) -> Response:
    navi, user = await identify_user(request)
    recalls = await navi.recalls.list_recalls(user, request.path_params["id"])
    return answer([recall_json(recall) for recall in recalls])
