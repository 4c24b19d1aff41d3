"""Lets an agent say what it is doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.arguments import Arguments


class Desk(Protocol):
    async def report_for(self, context: ToolContext, text: str) -> str:
        """Keep the status and say it back."""


@dataclass(frozen=True, slots=True)
class ReportStatus:
    desk: Desk

    name: ClassVar[str] = "report_status"
    description: ClassVar[str] = (
        "Says in a line what you are doing right now, for whoever supervises you. Report when you "
        "begin something new, when you find something out, and whenever `[sm remind]` asks for it: "
        "a report answers the reminder and restarts its timer."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "like: found 2 call sites, testing the fix"}
        },
        "required": ["text"],
        "additionalProperties": False,
    }

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        text = Arguments(arguments, self.parameters).line("text")
        return ToolResult(await self.desk.report_for(context, text))
