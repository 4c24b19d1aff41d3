"""/agenda."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.live.api import query_parameters
from navi.live.api.access import identify_user
from navi.live.api.responses import answer
from navi.live.model.wire_format import agenda_json


def routes() -> list[Route]:
    return [Route("/agenda", upcoming, methods=["GET"])]


async def upcoming(request: Request) -> Response:
    navi, user = await identify_user(request)
    entries = await navi.agenda.upcoming(
        user, request.query_params.get("until"), query_parameters.timezone(request)
    )
    return answer([agenda_json(each) for each in entries])
