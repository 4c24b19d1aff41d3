"""/agents and /folders: the choices for a new session."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.live.api import query_parameters
from navi.live.api.access import identify_user
from navi.live.api.responses import answer
from navi.live.model.wire_format import agent_json

DEFAULT_FOLDER_LIMIT = 50


def routes() -> list[Route]:
    return [
        Route("/agents", list_agents, methods=["GET"]),
        Route("/folders", list_folders, methods=["GET"]),
    ]


async def list_agents(request: Request) -> Response:
    navi, _ = await identify_user(request)
    return answer([agent_json(option) for option in navi.sessions.agents.options()])


async def list_folders(request: Request) -> Response:
    navi, user = await identify_user(request)
    limit = query_parameters.limit(request)
    return answer(await navi.folders.paths(user, DEFAULT_FOLDER_LIMIT if limit is None else limit))
