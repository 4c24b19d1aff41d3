"""/hooks/{driver}: reports from agents' hooks, and the answers to them."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from pydantic import Field
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from navi.live.api import request_bodies
from navi.live.api.access import identify
from navi.live.api.responses import answer
from navi.live.model.validation import validate

LATEST_EMISSION = datetime(3000, 1, 1, tzinfo=UTC).timestamp()
EARLY_READ_LIMIT_BYTES = 256 * 1024
"""Larger bodies are read only once the sender is identified. Nearly every report is smaller."""


class Report(request_bodies.Body):
    hook: dict[str, Any]
    """What the agent passed to its hook."""
    emitted_at: float = Field(ge=0, le=LATEST_EMISSION)
    is_run_by_navi: bool = False
    """If true, its driver reports everything else; only compactions and nudges need the hook."""


def routes() -> list[Route]:
    return [Route("/hooks/{driver}", report, methods=["POST"])]


async def report(request: Request) -> Response:
    await _read_early(request)
    navi, who = await identify(request)
    dialect = navi.terminals.dialect(request.path_params["driver"])
    body = await request_bodies.read(request, Report)
    hook = validate(dialect.fields, body.hook)
    hook_report = dialect.report(hook, datetime.fromtimestamp(body.emitted_at, UTC))
    prompt = None
    if not body.is_run_by_navi:
        prompt = await navi.terminals.report(who, hook_report)
    elif not hook_report.takes_nudges:
        await navi.terminals.report_compaction(who, hook_report)
    if prompt is not None:
        return answer(dialect.next_input(prompt))
    if nudges := await navi.terminals.nudges(who, hook_report):
        return answer(dialect.with_tool_result(nudges))
    return answer({})


async def _read_early(request: Request) -> None:
    """Read a small body first: hooks may hang up after sending it, and unread data is lost."""
    content_length = request.headers.get("content-length", "")
    if content_length.isdecimal() and int(content_length) <= EARLY_READ_LIMIT_BYTES:
        with suppress(ClientDisconnect):  # raised again when the body is used
            await request.body()
