"""Lets an agent cancel, skip and list recalls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.arguments import Arguments

ACTIONS = ("cancel", "skip", "list")


class Book(Protocol):
    async def manage_for(
        self,
        context: ToolContext,
        action: str,
        session_id: str,
        *,
        tz: str | None = None,
        timezone_offset: str | None = None,
    ) -> str:
        """Do it, and say what is true afterwards."""


@dataclass(frozen=True, slots=True)
class ManageRecall:
    book: Book

    name: ClassVar[str] = "manage_recall"
    description: ClassVar[str] = (
        "Manages this session's recalls. `cancel` the pending one (do so before you schedule "
        "another), `skip` the next beat of a recurring one, `list` all with how they ended."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(ACTIONS)},
            "session_id": {"type": "string", "description": "Another session than this one."},
            "tz": {"type": "string", "description": "IANA zone in which times are shown."},
            "timezone_offset": {"type": "string", "description": "±HH:MM, in place of tz."},
        },
        "required": ["action"],
        "additionalProperties": False,
    }

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        given = Arguments(arguments, self.parameters)
        action = given.choice("action", ACTIONS)
        session_id = given.line("session_id", context.session_id)
        zone = {name: given.text(name, "") or None for name in ("tz", "timezone_offset")}
        return ToolResult(await self.book.manage_for(context, action, session_id, **zone))
