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

LATEST = datetime(3000, 1, 1, tzinfo=UTC).timestamp()
EARLY_BYTES = 256 * 1024
"""How much to read before the sender is identified. Nearly every report is smaller."""


class Report(request_bodies.Body):
    hook: dict[str, Any]
    """What the agent passed to its hook."""
    emitted_at: float = Field(ge=0, le=LATEST)
    is_run_by_navi: bool = False
    """If so, its driver reports all the rest: only compactions and nudges need the hook."""


def routes() -> list[Route]:
    return [Route("/hooks/{driver}", report, methods=["POST"])]


async def report(request: Request) -> Response:
    await _read_early(request)
    navi, who = await identify(request)
    dialect = navi.terminals.dialect(request.path_params["driver"])
    body = await request_bodies.read(request, Report)
    hook = validate(dialect.fields, body.hook)
    hook_report = dialect.report(hook, datetime.fromtimestamp(body.emitted_at, UTC))
    text = None
    if not body.is_run_by_navi:
        text = await navi.terminals.report(who, hook_report)
    elif not hook_report.takes_nudges:
        await navi.terminals.report_compaction(who, hook_report)
    if text is not None:
        return answer(dialect.next_input(text))
    if nudges := await navi.terminals.nudges(who, hook_report):
        return answer(dialect.with_tool_result(nudges))
    return answer({})


async def _read_early(request: Request) -> None:
    """Most hooks hang up right after sending. What we have not read by then is lost."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) <= EARLY_BYTES:
        with suppress(ClientDisconnect):  # raised again when the body is used
            await request.body()
