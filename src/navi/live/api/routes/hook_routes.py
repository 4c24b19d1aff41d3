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
from navi.live.api.access import identify_caller
from navi.live.api.responses import answer
from navi.live.model.question import TERMINAL_CALL
from navi.live.model.validation import validate

LATEST_EMISSION = datetime(3000, 1, 1, tzinfo=UTC).timestamp()
STILL_OPEN = 202
"""The status that tells a hook to ask again."""
EARLY_READ_LIMIT_BYTES = 256 * 1024
"""Larger bodies are read only after the sender is identified. Nearly every report is smaller."""


class Report(request_bodies.Body):
    hook: dict[str, Any]
    """The data that the agent passed to its hook."""
    emitted_at: float = Field(ge=0, le=LATEST_EMISSION)
    call: str | None = Field(None, pattern=f"^{TERMINAL_CALL}[0-9a-f]{{1,64}}$")
    """The hook's id for the question in the agent's dialog; set if it waits for a decision."""
    is_run_by_navi: bool = False
    """Whether Navi started the agent. If so, its driver reports the turns; the hook only reports
    compactions and takes nudges."""


def routes() -> list[Route]:
    return [Route("/hooks/{driver}", report, methods=["POST"])]


async def report(request: Request) -> Response:
    await _read_early(request)
    navi, caller = await identify_caller(request)
    dialect = navi.terminals.dialect(request.path_params["driver"])
    body = await request_bodies.read(request, Report)
    hook = validate(dialect.hook_class, body.hook)
    hook_report = dialect.report(hook, datetime.fromtimestamp(body.emitted_at, UTC))
    if body.call is not None and (new_questions := dialect.questions(hook, body.call)):
        closed = await navi.terminals.ask(
            caller, hook_report, new_questions, is_run_by_navi=body.is_run_by_navi
        )
        if closed is None:
            return answer({}, STILL_OPEN)
        return answer(dialect.decision_answer(hook, closed) if closed else {})
    prompt = None
    if not body.is_run_by_navi:
        prompt = await navi.terminals.report(caller, hook_report)
    elif not hook_report.takes_nudges:
        await navi.terminals.report_compaction(caller, hook_report)
    if prompt is not None:
        return answer(dialect.next_input_answer(prompt))
    if nudges := await navi.terminals.take_nudges(caller, hook_report):
        return answer(dialect.tool_result_answer(nudges))
    return answer({})


async def _read_early(request: Request) -> None:
    """Read a small body at once: hooks may hang up after sending it, and unread data is lost."""
    content_length = request.headers.get("content-length", "")
    if content_length.isdecimal() and int(content_length) <= EARLY_READ_LIMIT_BYTES:
        with suppress(ClientDisconnect):  # raised again when the body is used
            await request.body()
