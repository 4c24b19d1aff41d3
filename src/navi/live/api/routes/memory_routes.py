"""/search, /stats and /archive: the memory, in the format of `recall … --json`.

/index: how up to date the index is.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.live.api import query_parameters
from navi.live.api.access import identify_user
from navi.live.api.responses import answer
from navi.live.model.wire_format import session_json
from navi.live.runtime.index_follower import index_state_json
from navi.live.runtime.services.memory_service import MemoryFilters, MemoryService

DEFAULT_SEARCH_LIMIT = 20
DEFAULT_LIST_LIMIT = 50
HIGHEST_SEARCH_LIMIT = 1000


def routes() -> list[Route]:
    return [
        Route("/index", index_state, methods=["GET"]),
        Route("/search", search, methods=["GET"]),
        Route("/archive/sessions", list_sessions, methods=["GET"]),
        Route("/archive/sessions/{id}", read, methods=["GET"]),
        Route("/archive/sessions/{id}/adopt", adopt, methods=["POST"]),
        Route("/archive/digest", digest, methods=["GET"]),
        Route("/archive/digest/summary", summarise_digest, methods=["POST"]),
        Route("/stats", overview_stats, methods=["GET"]),
        Route("/stats/tools", tool_stats, methods=["GET"]),
        Route("/stats/bash", bash_stats, methods=["GET"]),
        Route("/stats/tokens", token_stats, methods=["GET"]),
        Route("/stats/projects", project_stats, methods=["GET"]),
        Route("/stats/activity", activity_stats, methods=["GET"]),
    ]


async def index_state(request: Request) -> Response:
    """How up to date the index is."""
    navi, _ = await identify_user(request)
    memory, _ = await _memory(request)  # refuses users who may not search
    state = index_state_json(navi.index_follower.state)
    return answer({**state, "meaning": await memory.meaning()})


async def search(request: Request) -> Response:
    memory, filters = await _memory(request)
    query = request.query_params.get("q", "")
    limit = query_parameters.limit(request)
    if limit is None:
        limit = DEFAULT_SEARCH_LIMIT
    return answer(await memory.search(query, filters, max(1, min(HIGHEST_SEARCH_LIMIT, limit))))


async def list_sessions(request: Request) -> Response:
    memory, filters = await _memory(request)
    limit = query_parameters.limit(request)
    return answer(await memory.sessions(filters, DEFAULT_LIST_LIMIT if limit is None else limit))


async def read(request: Request) -> Response:
    memory, _ = await _memory(request)
    return answer(await memory.session(request.path_params["id"]))


async def adopt(request: Request) -> Response:
    """Import another agent's session, so that Navi can wake it like any other."""
    navi, user = await identify_user(request)
    memory, _ = await _memory(request)
    past = await memory.resumable(request.path_params["id"])
    return answer(session_json(await navi.terminals.adopt(user, past)))


async def digest(request: Request) -> Response:
    memory, filters = await _memory(request)
    return answer(await memory.digest(filters))


async def summarise_digest(request: Request) -> Response:
    """Summarise the digest with the configured model."""
    memory, filters = await _memory(request)
    return answer(await memory.digest_summary(filters))


async def overview_stats(request: Request) -> Response:
    memory, filters = await _memory(request)
    return answer(await memory.overview(filters))


async def tool_stats(request: Request) -> Response:
    memory, filters = await _memory(request)
    return answer(await memory.tools(filters))


async def bash_stats(request: Request) -> Response:
    memory, filters = await _memory(request)
    if query_parameters.flag(request, "suggest"):
        return answer(await memory.suggestions(filters))
    return answer(await memory.bash_commands(filters))


async def token_stats(request: Request) -> Response:
    memory, filters = await _memory(request)
    by = request.query_params.get("by", "project,day,model")
    return answer(await memory.tokens(filters, by))


async def project_stats(request: Request) -> Response:
    memory, filters = await _memory(request)
    return answer(await memory.projects(filters))


async def activity_stats(request: Request) -> Response:
    memory, filters = await _memory(request)
    return answer(await memory.activity(filters))


async def _memory(request: Request) -> tuple[MemoryService, MemoryFilters]:
    """The memory and the request's filters. Refuses users who may not search."""
    navi, user = await identify_user(request)
    return navi.memory, navi.memory.authorized_filters(user, request.query_params)
