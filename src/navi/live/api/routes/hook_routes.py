"""/hooks/{driver}: what agents' hooks report, and what they are answered."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, field_validator
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from navi.base.ids import is_agent_session_id
from navi.live.api import request_bodies
from navi.live.api.access import identify
from navi.live.api.responses import answer
from navi.live.model.hook_report import News
from navi.live.model.session import first_line

LONGEST_PATH = 4_096
"""What Linux takes as a path."""
LATEST = datetime(3000, 1, 1, tzinfo=UTC).timestamp()
EARLY_BYTES = 256 * 1024
"""How much is read before the sender is known. Nearly every report is smaller."""


def _agent_session_id(name: str) -> str:
    if not is_agent_session_id(name):
        raise ValueError("this is not a valid agent session id")
    return name


class Hook(request_bodies.Body):
    """The agents' own words; all that is not named here is of no interest."""

    model_config = ConfigDict(extra="ignore", strict=True)

    hook_event_name: str = Field(max_length=200)
    session_id: Annotated[str, AfterValidator(_agent_session_id)]
    cwd: str = Field("", max_length=LONGEST_PATH)
    transcript_path: str | None = Field(None, max_length=LONGEST_PATH)
    notification_type: str | None = Field(None, max_length=200)
    tool_use_id: str | None = Field(None, max_length=200)
    agent_id: str | None = None
    """Of the sub-agent that used a tool."""
    prompt: str | None = None

    @field_validator("prompt", mode="before")
    @classmethod
    def _first_line(cls, value: object) -> str | None:
        """Whatever a person types, its report is not refused for it."""
        return first_line(value) if isinstance(value, str) else None


class Report(request_bodies.Body):
    hook: Hook
    emitted_at: float = Field(ge=0, le=LATEST)
    is_run_by_navi: bool = False
    """Then its driver tells everything but compactions, and that a nudge could be read now."""


def routes() -> list[Route]:
    return [Route("/hooks/{driver}", report, methods=["POST"])]


async def report(request: Request) -> Response:
    await _read_early(request)
    navi, who = await identify(request)
    body = await request_bodies.read(request, Report)
    hook = body.hook
    news = News(
        driver=request.path_params["driver"],
        agent_session_id=hook.session_id,
        event=hook.hook_event_name,
        cwd=hook.cwd,
        transcript_path=hook.transcript_path,
        notification=hook.notification_type,
        emitted_at=datetime.fromtimestamp(body.emitted_at, UTC),
        tool_call_id=hook.tool_use_id,
        is_of_subagent=hook.agent_id is not None,
        prompt=hook.prompt,
    )
    text = None
    if not body.is_run_by_navi:
        text = await navi.adoption.report(who, news)
    elif not news.takes_nudges:
        await navi.adoption.report_compaction(who, news)
    if text is not None:
        # Both agents take this as what to do next, instead of stopping.
        return answer({"decision": "block", "reason": text})
    if nudges := await navi.adoption.nudges(who, news):
        return answer(_read_with_result(news.event, nudges))
    return answer({})


async def _read_early(request: Request) -> None:
    """Most hooks hang up once they have sent their report. What is not read by then is lost."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) <= EARLY_BYTES:
        with suppress(ClientDisconnect):  # reported when the body is read in earnest
            await request.body()


def _read_with_result(event: str, texts: Sequence[str]) -> dict[str, Any]:
    """The agent reads it together with what its tool has answered."""
    context = {"hookEventName": event, "additionalContext": "\n\n".join(texts)}
    return {"hookSpecificOutput": context}
