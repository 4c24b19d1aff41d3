"""Lets an agent schedule its own future work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from navi.live.model.access.user import User
from navi.live.model.scheduling.recall import ScheduledRecall, Scheduler
from navi.live.model.scheduling.recall_request import RecallRequest
from navi.live.model.tool import ToolContext, ToolResult

DESCRIPTION = """\
Schedules a wake-up of this session. When the time comes you get a turn of your own, with all your \
tools and this session's history, but nobody at the keyboard. Use it to continue later or at \
intervals, not to talk: "check the build in 30 minutes", "poll the API every 5 minutes", "answer \
now and do the long migration in a turn of its own". Messages that the person writes during that \
turn wait until it ends.

call_type: `once` (a single wake-up at `when`), `recurring` (first at `when`, then every \
`interval_seconds`), `immediate` (as soon as this turn is over).
when: `30m`, `2h 15m`, `1d 6h`, `in 3 hours`, `tomorrow at 09:00`, `monday at 9`, or ISO 8601. \
Prefer relative times. For absolute times set `tz` if you know the person's zone (`Europe/Paris`), \
or `timezone_offset` if you know only the offset from UTC (`+02:00`).
additional_context_message: what you will read when you wake. You will have lost your short-term \
memory, so write it as a task, with the tools, files and URLs it involves. \
Good: "Read /tmp/build.log with filesystem. If it failed, report the last 50 lines." \
Bad: "Tell the user that two hours have passed."

A session can have one pending recall. To schedule another, cancel it first with manage_recall, or \
let each wake-up schedule the next. For several timers, use one recurring recall and a file.\
"""


OPEN_IN_TERMINAL = """\
This session is open in a terminal. If it is still open then, you wake when the person leaves it \
or when their next turn there ends. Tell them that.\
"""


class Recalls(Protocol):
    """The part of the recall service that this tool uses."""

    async def schedule(
        self, user: User, session_id: str, request: RecallRequest, scheduled_by: Scheduler
    ) -> ScheduledRecall: ...


@dataclass(frozen=True, slots=True)
class ScheduleRecall:
    recalls: Recalls

    name: ClassVar[str] = "schedule_recall"
    description: ClassVar[str] = DESCRIPTION
    arguments: ClassVar[type[RecallRequest]] = RecallRequest

    async def run(self, context: ToolContext, arguments: RecallRequest) -> ToolResult:
        scheduled = await self.recalls.schedule(
            context.user, context.session_id, arguments, Scheduler.AGENT
        )
        lines = [f"Scheduled: {scheduled.reading}."]
        if (interval := scheduled.recall.interval_seconds) is not None:
            lines.append(
                "Then every second." if interval == 1 else f"Then every {interval} seconds."
            )
        if scheduled.is_open_in_terminal:
            lines.append(OPEN_IN_TERMINAL)
        if scheduled.warning is not None:
            lines.append(scheduled.warning)
        return ToolResult("\n".join(lines))
