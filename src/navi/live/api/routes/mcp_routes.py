"""/mcp: Navi's tools for other agents, through the Model Context Protocol over HTTP.

The protocol's simple mode is enough: each request is answered with one JSON value, and the server
sends nothing on its own.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi import __version__
from navi.base.errors import InvalidInput, NaviError
from navi.base.stored_text import require_storable
from navi.live.api.access import identify_caller
from navi.live.api.request_bodies import parse_json, read_bytes
from navi.live.api.responses import answer
from navi.live.model.access.caller import Caller
from navi.live.model.session import Session
from navi.live.model.tool import Tool, ToolContext, ToolResult
from navi.live.model.tool_call import call
from navi.live.model.validation import schema
from navi.live.runtime.app import Navi

PROTOCOL_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Newest first. A client that asks for an unsupported version is offered the newest."""
INSTRUCTIONS = (
    "Navi is this session's clock and memory. Use schedule_recall to wake yourself later, even "
    "after this process has ended. search_sessions finds what any agent said and did before, "
    "read_session reads it, and sessions_of_file lists who touched a file."
)
BATCH_LIMIT = 50
PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602

Json = dict[str, Any]
log = logging.getLogger("navi.mcp")


def routes() -> list[Route]:
    return [Route("/mcp", handle, methods=["POST"])]


async def handle(request: Request) -> Response:
    navi, caller = await identify_caller(request)
    try:
        message = parse_json(await read_bytes(request))
    except (ValueError, RecursionError):
        return answer(_error(None, PARSE_ERROR, "this is not JSON"), 400)
    if isinstance(message, list):
        if len(message) > BATCH_LIMIT:
            problem = f"a batch may have at most {BATCH_LIMIT} requests"
            return answer(_error(None, INVALID_REQUEST, problem), 400)
        responses = [await _respond(navi, caller, request.headers, each) for each in message]
        batch = [response for response in responses if response is not None]
        return answer(batch) if batch else Response(status_code=202)
    single = await _respond(navi, caller, request.headers, message)
    return Response(status_code=202) if single is None else answer(single)


async def _respond(
    navi: Navi, caller: Caller, headers: Mapping[str, str], message: Any
) -> Json | None:
    """The response to a message; None for a notification, which gets no response."""
    if not isinstance(message, dict) or not isinstance(method := message.get("method"), str):
        return _error(None, INVALID_REQUEST, "this is not a request")
    if "id" not in message:
        return None
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    match method:
        case "initialize":
            result = _initialize(params)
        case "ping":
            result = {}
        case "tools/list":
            result = {"tools": [_tool_json(tool) for tool in navi.tools.values()]}
        case "tools/call":
            name, arguments = params.get("name"), params.get("arguments") or {}
            if not isinstance(name, str) or name not in navi.tools:
                problem = f"there is no tool {name!r}; the tools are {', '.join(navi.tools)}"
                return _error(message["id"], INVALID_PARAMS, problem)
            if not isinstance(arguments, dict):
                return _error(message["id"], INVALID_PARAMS, "the arguments must be a JSON object")
            meta = params.get("_meta")
            result = await _call_tool(navi, caller, headers, navi.tools[name], arguments, meta)
        case _:
            return _error(message["id"], UNKNOWN_METHOD, f"there is no method {method}")
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def _initialize(params: Mapping[str, Any]) -> Json:
    requested = params.get("protocolVersion")
    return {
        "protocolVersion": requested if requested in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[0],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "navi", "title": "Navi", "version": __version__},
        "instructions": INSTRUCTIONS,
    }


def _tool_json(tool: Tool[Any]) -> Json:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": schema(tool.arguments),
    }


async def _call_tool(
    navi: Navi,
    caller: Caller,
    headers: Mapping[str, str],
    tool: Tool[Any],
    arguments: Mapping[str, Any],
    meta: object,
) -> Json:
    """Call the tool. Errors are returned as results, so that the agent can read them."""
    try:
        session = await _session(navi, caller, headers, meta)
        # An agent has the rights of its session's user, even if it called with an admin's token.
        user = await navi.accounts.owner(session)
        context = ToolContext(session.id, Path(session.cwd), user.id, user.role, user.info)
    except NaviError as refusal:
        return _result(ToolResult(refusal.sentence, is_error=True))
    except Exception as error:
        log.exception("the caller of the tool %s could not be identified", tool.name)
        return _result(ToolResult(f"the tool {tool.name} failed: {error}", is_error=True))
    return _result(await call(tool, context, arguments))


async def _session(navi: Navi, caller: Caller, headers: Mapping[str, str], meta: object) -> Session:
    """The calling session. The request has either Navi's id for it or the agent's own."""
    user = caller.user
    if session_id := caller.session_id or headers.get("navi-session"):
        return await navi.sessions.get(user, session_id)
    agent_session_id = headers.get("navi-agent-session") or navi.terminals.calling_session(meta)
    if agent_session_id is None:
        raise InvalidInput(
            "Navi can't tell which session this call comes from",
            hint="`navi setup claude-code` or `navi setup codex` connects your agents",
        )
    return await navi.sessions.get_by_agent_id(
        user, require_storable("session_id", agent_session_id)
    )


def _result(result: ToolResult) -> Json:
    return {"content": [{"type": "text", "text": result.text}], "isError": result.is_error}


def _error(request_id: object, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}
