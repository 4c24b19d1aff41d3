"""/hooks/{driver}: what agents' hooks report, and what they are answered."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.api import bodies
from navi.api.access import caller
from navi.api.answers import answer
from navi.domain.news import News

LATEST = datetime(3000, 1, 1, tzinfo=UTC).timestamp()


class Hook(bodies.Body):
    """The agents' own words; all that is not named here is of no interest."""

    model_config = ConfigDict(extra="ignore", strict=True)

    hook_event_name: str
    session_id: str = Field(min_length=1, max_length=200)
    cwd: str = ""
    transcript_path: str | None = None
    notification_type: str | None = None


class Report(bodies.Body):
    hook: Hook
    emitted_at: float = Field(ge=0, le=LATEST)
    is_run_by_navi: bool = False
    """Then the agent is none of somebody's terminal, and only its compactions are of interest."""


def routes() -> list[Route]:
    return [Route("/hooks/{driver}", report, methods=["POST"])]


async def report(request: Request) -> Response:
    navi, user = await caller(request)
    body = await bodies.read(request, Report)
    hook = body.hook
    news = News(
        driver=request.path_params["driver"],
        agent_session_id=hook.session_id,
        event=hook.hook_event_name,
        cwd=hook.cwd,
        transcript_path=hook.transcript_path,
        notification=hook.notification_type,
        emitted_at=datetime.fromtimestamp(body.emitted_at, UTC),
    )
    if body.is_run_by_navi:
        await navi.adoption.report_compaction(user, news)
        return answer({})
    text = await navi.adoption.report(user, news)
    # Both agents take this as what to do next, instead of stopping.
    said: dict[str, Any] = {} if text is None else {"decision": "block", "reason": text}
    return answer(said)
