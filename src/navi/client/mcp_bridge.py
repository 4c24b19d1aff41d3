"""MCP over standard input and output: forwards each line to the server with the caller's session.

Imports little, because agents start this process in every session.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any

from navi import __version__
from navi.base.errors import NaviError
from navi.client import Client

NO_SERVER_CODE = -32000
OLDEST_PROTOCOL = "2024-11-05"


def run(
    find_client: Callable[[], Client],
    environment: Mapping[str, str],
    session_variables: Iterable[str],
    requests: IO[str] = sys.stdin,
    write: Callable[[str], None] = lambda line: None,
) -> None:
    """Forward requests until the agent closes the pipe.

    Each request looks up the server again, which may start or move while the agent runs.
    """
    headers = caller_headers(environment, session_variables)
    for line in requests:
        if not line.strip():
            continue
        answer = _answer(find_client, headers, line)
        if answer is not None:
            write(json.dumps(answer, ensure_ascii=False))


def caller_headers(
    environment: Mapping[str, str], session_variables: Iterable[str]
) -> dict[str, str]:
    """The headers that name the calling session, from its agent's environment variables."""
    if session_id := environment.get("NAVI_SESSION_ID"):
        return {"Navi-Session": session_id}
    for name in session_variables:
        if agent_session_id := environment.get(name):
            return {"Navi-Agent-Session": agent_session_id}
    return {}


def _answer(find_client: Callable[[], Client], headers: Mapping[str, str], line: str) -> Any:
    try:
        return find_client().ask_mcp(line, headers)
    except NaviError as error:
        return _error_answer(line, error)


def _error_answer(line: str, error: NaviError) -> Any:
    """The answer if the server can't be reached or refuses the token.

    An agent that starts while no server is running gets no tools, rather than an error that it
    would report. A tool call gets the error that a person would see.
    """
    try:
        request = json.loads(line)
        request_id, method = request["id"], request.get("method")
    except (ValueError, KeyError, TypeError):
        return None  # nothing to answer
    match method:
        case "initialize":
            result = _initialize_result(request, f"Navi's tools are unavailable: {error.sentence}")
        case "ping":
            result = {}
        case "tools/list":
            result = {"tools": []}
        case "tools/call":
            result = {"content": [{"type": "text", "text": error.sentence}], "isError": True}
        case _:
            problem = {"code": NO_SERVER_CODE, "message": error.sentence}
            return {"jsonrpc": "2.0", "id": request_id, "error": problem}
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def _initialize_result(request: Mapping[str, Any], instructions: str) -> dict[str, Any]:
    params = request.get("params")
    version = params.get("protocolVersion") if isinstance(params, dict) else None
    return {
        "protocolVersion": version or OLDEST_PROTOCOL,
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "navi", "title": "Navi", "version": __version__},
        "instructions": instructions,
    }
