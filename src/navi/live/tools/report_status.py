"""Lets an agent say what it is doing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from pydantic import Field

from navi.live.model.access.user import User
from navi.live.model.session import Session
from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.argument_types import Arguments, NonBlank


class ReportStatusArguments(Arguments):
    text: NonBlank = Field(description="for example: found 2 call sites, testing the fix")


class Messages(Protocol):
    """The part of the message service that this tool uses."""

    async def report(self, user: User, session_id: str, text: str | None) -> Session: ...


@dataclass(frozen=True, slots=True)
class ReportStatus:
    messages: Messages

    name: ClassVar[str] = "report_status"
    description: ClassVar[str] = (
        "Tells your supervisor in one line what you are doing right now. Report when you start "
        "something new, when you find something out, and whenever `[sm remind]` asks: a report "
        "answers the reminder and restarts its timer."
    )
    arguments: ClassVar[type[ReportStatusArguments]] = ReportStatusArguments

    async def run(self, context: ToolContext, arguments: ReportStatusArguments) -> ToolResult:
        session = await self.messages.report(context.user, context.session_id, arguments.text)
        return ToolResult(f"Your status is now: {session.agent_status_text}")
