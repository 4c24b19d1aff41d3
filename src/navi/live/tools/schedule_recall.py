"""Lets an agent schedule its own future work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.arguments import Arguments

DESCRIPTION = """\
Schedules a wake-up of this session. When the time comes you get a turn of your own, with all your \
tools and this session's history, and nobody at the keyboard. Use it to go on later or on a beat, \
not to talk: "look at the build in 30 minutes", "poll the API every 5 minutes", "answer now and do \
the long migration in a turn of its own". What the person writes during that turn waits until it \
ends.

call_type: `once` (a single wake-up at `when`), `recurring` (first at `when`, then every \
`interval_seconds`), `immediate` (as soon as this turn is over).
when: `30m`, `2h 15m`, `1d 6h`, `in 3 hours`, `tomorrow at 09:00`, `monday at 9`, or ISO 8601. \
Prefer relative times. For absolute ones give `tz` if you know the person's zone (`Europe/Paris`), \
or `timezone_offset` if you only know the offset from UTC (`+02:00`).
additional_context_message: what you will find when you wake. Your short-term memory is gone then, \
so write a task, and name tools, files and URLs. \
Good: "Read /tmp/build.log with filesystem. If it failed, report the last 50 lines." \
Bad: "Tell the user that two hours have passed."

One recall per session can be pending. For another one, cancel it first with manage_recall, or let \
each wake-up schedule the next. For several timers use one recurring recall and a file.\
"""


class Book(Protocol):
    """Where recalls are kept."""

    async def schedule_for(self, context: ToolContext, arguments: Mapping[str, Any]) -> str:
        """Keep the recall and say back how its time was understood."""


@dataclass(frozen=True, slots=True)
class ScheduleRecall:
    book: Book

    name: ClassVar[str] = "schedule_recall"
    description: ClassVar[str] = DESCRIPTION
    parameters: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "call_type": {"type": "string", "enum": ["once", "recurring", "immediate"]},
            "when": {"type": "string", "description": "For once and recurring."},
            "tz": {"type": "string", "description": "The person's IANA zone, like Europe/Paris."},
            "timezone_offset": {"type": "string", "description": "±HH:MM, in place of tz."},
            "interval_seconds": {"type": "integer", "description": "For recurring."},
            "internal_comment": {"type": "string", "description": "Why, for people."},
            "additional_context_message": {"type": "string", "description": "What to do then."},
        },
        "required": ["call_type", "additional_context_message"],
        "additionalProperties": False,
    }

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        given = Arguments(arguments, self.parameters)
        asked: dict[str, Any] = {
            name: given.text(name)
            for name in self.parameters["properties"]
            if name != "interval_seconds" and arguments.get(name) is not None
        }
        asked["interval_seconds"] = given.whole_number("interval_seconds", None)
        for required in self.parameters["required"]:
            given.text(required)
        return ToolResult(await self.book.schedule_for(context, asked))
