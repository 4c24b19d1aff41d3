"""Lets an agent cancel, skip and list recalls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import ClassVar, Literal, Protocol

from pydantic import Field

from navi.base.clock import Clock
from navi.base.time_expressions import describe, describe_length, describe_moment
from navi.base.timezone import request_timezone
from navi.live.model.access.user import User
from navi.live.model.scheduling.recall import Recall, RecallStatus
from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.argument_types import Arguments, NonBlank


class ManageRecallArguments(Arguments):
    action: Literal["cancel", "skip", "list"]
    session_id: NonBlank | None = Field(None, description="A session other than this one.")
    tz: str | None = Field(None, description="IANA zone for the times shown.")
    timezone_offset: str | None = Field(None, description="±HH:MM, instead of tz.")


class Recalls(Protocol):
    """The part of the recall service that this tool uses."""

    async def cancel(self, user: User, session_id: str) -> Recall: ...

    async def skip(self, user: User, session_id: str) -> Recall: ...

    async def list_recalls(self, user: User, session_id: str) -> Sequence[Recall]: ...


@dataclass(frozen=True, slots=True)
class ManageRecall:
    """Shows times in `timezone` unless the agent names another."""

    recalls: Recalls
    clock: Clock
    timezone: tzinfo

    name: ClassVar[str] = "manage_recall"
    description: ClassVar[str] = (
        "Manages recalls: this session's, or those of `session_id`. `cancel` the pending recall "
        "(before you schedule another), `skip` the next wake-up of a recurring one, or `list` all "
        "and how they ended."
    )
    arguments: ClassVar[type[ManageRecallArguments]] = ManageRecallArguments

    async def run(self, context: ToolContext, arguments: ManageRecallArguments) -> ToolResult:
        user = context.user
        session_id = arguments.session_id or context.session_id
        timezone = request_timezone(self.timezone, arguments.tz, arguments.timezone_offset)
        match arguments.action:
            case "cancel":
                recall = await self.recalls.cancel(user, session_id)
                return ToolResult(f"Cancelled: {recall.additional_context_message}")
            case "skip":
                recall = await self.recalls.skip(user, session_id)
                at = describe(recall.trigger_at, self.clock.now(), timezone)
                return ToolResult(f"Skipped; next {at}.")
            case "list":
                recalls = await self.recalls.list_recalls(user, session_id)
                lines = [_line(recall, self.clock.now(), timezone) for recall in recalls]
                return ToolResult("\n".join(lines) or "No recalls.")


def _line(recall: Recall, now: datetime, timezone: tzinfo) -> str:
    """A recall as a line of the list. Only a pending one shows how far away it is."""
    is_pending = recall.status is RecallStatus.PENDING
    at = recall.trigger_at
    line = f"{recall.id} {recall.status} {recall.call_type}, "
    line += describe(at, now, timezone) if is_pending else describe_moment(at, timezone)
    if recall.interval_seconds is not None:
        line += f", every {describe_length(timedelta(seconds=recall.interval_seconds))}"
    if recall.internal_comment:
        line += f" ({recall.internal_comment})"
    if recall.error:
        line += f" [{recall.outcome}: {recall.error}]"
    return f"{line}: {recall.additional_context_message}"
