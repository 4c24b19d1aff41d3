"""Lets an agent schedule turns of its own session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.arguments import Arguments

ACTIONS = ("add", "list", "remove")
DESCRIPTION = """\
Manages this session's automations: turns that run on a schedule, in this session, where the \
person reads the answer and can reply. Use it for what the person wants done regularly or at a set \
time ("every weekday at 9, look at the error log"). To go on with your own work later, use \
schedule_recall instead.

add: `name` (a few words), `message` (what to do each time; name files, tools and URLs), and one \
of `cron_expr` (five fields), `every_seconds` (10 or more) or `at` (once: ISO 8601, or "tomorrow \
at 09:00"). With `cron_expr` and `at` give `tz`, the person's IANA zone such as Europe/Paris.
list: all automations of this session, with their ids.
remove: the one with `job_id`.
Not possible inside an automation's own turn: add.\
"""


class Book(Protocol):
    """Where automations are kept."""

    async def cron_for(self, context: ToolContext, action: str, given: Mapping[str, Any]) -> str:
        """Do it, and say what is true afterwards."""


@dataclass(frozen=True, slots=True)
class Cron:
    book: Book

    name: ClassVar[str] = "cron"
    description: ClassVar[str] = DESCRIPTION
    parameters: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(ACTIONS)},
            "name": {"type": "string"},
            "message": {"type": "string", "description": "What to do each time."},
            "at": {"type": "string"},
            "every_seconds": {"type": "integer"},
            "cron_expr": {"type": "string"},
            "tz": {
                "type": "string",
                "description": "IANA zone of cron_expr and at, and of times shown.",
            },
            "job_id": {"type": "string", "description": "For remove."},
        },
        "required": ["action"],
        "additionalProperties": False,
    }

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        # An older version took `deliver`; a scheduled turn always answers in its session.
        known = {name: value for name, value in arguments.items() if name != "deliver"}
        given = Arguments(known, self.parameters)
        action = given.choice("action", ACTIONS)
        asked: dict[str, Any] = {
            name: given.text(name)
            for name in self.parameters["properties"]
            if name not in ("action", "every_seconds") and known.get(name) is not None
        }
        if known.get("every_seconds") is not None:
            asked["every_seconds"] = given.whole_number("every_seconds", None)
        if action == "add":
            given.text("name")
            given.text("message")
            asked.pop("job_id", None)
        return ToolResult(await self.book.cron_for(context, action, asked))
