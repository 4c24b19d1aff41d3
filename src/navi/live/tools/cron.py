"""Lets an agent schedule turns of its own session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any, ClassVar, Literal, Protocol

from pydantic.json_schema import SkipJsonSchema

from navi.base.clock import Clock
from navi.base.errors import InvalidInput
from navi.base.time_expressions import describe
from navi.base.timezone import request_timezone, timezone_or_utc
from navi.live.model.access.user import User
from navi.live.model.scheduling.automation import Automation
from navi.live.model.scheduling.automation_request import AutomationRequest
from navi.live.model.scheduling.schedule import At, Schedule
from navi.live.model.scheduling.schedule import Cron as CronSchedule
from navi.live.model.scheduling.schedule_request import ScheduleRequest
from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.argument_types import require

DESCRIPTION = """\
Manages this session's automations: turns that run on a schedule, in this session, where the \
person reads the answer and can reply. Use it for what the person wants done regularly or at a set \
time ("every weekday at 9, check the error log"). To continue your own work later, use \
schedule_recall instead.

add: `name` (a few words), `message` (what to do each time, with the files, tools and URLs it \
involves), and one of `cron_expr` (five fields), `every_seconds` (10 or more) or `at` (once: ISO \
8601, or "tomorrow at 09:00"). With `cron_expr` or `at`, set `tz` to the person's IANA zone, like \
Europe/Paris.
list: all automations of this session, with their ids.
remove: the automation with `job_id`.
You can't add automations during the turn of an automation or a recall.\
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CronArguments(ScheduleRequest):
    action: Literal["add", "list", "remove"]
    name: str | None = None
    message: str | None = field(default=None, metadata={"description": "What to do each time."})
    job_id: str | None = field(default=None, metadata={"description": "For remove."})
    deliver: SkipJsonSchema[Any] = None
    """Accepted from older agents, and ignored: a turn always answers in its session."""


class Automations(Protocol):
    """The part of the automation service that this tool uses."""

    async def add(
        self,
        user: User,
        session_id: str,
        request: AutomationRequest,
        calling_session_id: str | None = ...,
    ) -> Automation: ...

    async def list_automations(
        self, user: User, session_id: str | None = ...
    ) -> Sequence[Automation]: ...

    async def remove(self, user: User, automation_id: str) -> Automation: ...


@dataclass(frozen=True, slots=True)
class Cron:
    """Shows times in the zone that the agent names, else the schedule's own, else `timezone`."""

    automations: Automations
    clock: Clock
    timezone: tzinfo

    name: ClassVar[str] = "cron"
    description: ClassVar[str] = DESCRIPTION
    arguments: ClassVar[type[CronArguments]] = CronArguments

    async def run(self, context: ToolContext, arguments: CronArguments) -> ToolResult:
        if not context.session_id:
            raise InvalidInput(
                "an automation must belong to a session", hint="call cron from a Navi session"
            )
        match arguments.action:
            case "add":
                return ToolResult(await self._add(context, arguments))
            case "remove":
                return ToolResult(await self._remove(context, arguments.job_id))
            case "list":
                return ToolResult(await self._list(context, arguments.tz))

    async def _add(self, context: ToolContext, arguments: CronArguments) -> str:
        request = AutomationRequest(
            name=require("name", arguments.name),
            message=require("message", arguments.message),
            at=arguments.at,
            every_seconds=arguments.every_seconds,
            cron_expr=arguments.cron_expr,
            tz=arguments.tz,
        )
        session_id = context.session_id
        automation = await self.automations.add(context.user, session_id, request, session_id)
        words = self._in_words(automation, arguments.tz)
        return f"Added {automation.name} ({automation.id}): {words}."

    async def _remove(self, context: ToolContext, job_id: str | None) -> str:
        if not job_id:
            raise InvalidInput("job_id is missing", hint="action=list shows the ids")
        for automation in await self.automations.list_automations(context.user, context.session_id):
            if automation.id == job_id:
                await self.automations.remove(context.user, job_id)
                return f"Removed {automation.name}."
        raise InvalidInput(
            f"this session has no automation {job_id}", hint="action=list shows the ids"
        )

    async def _list(self, context: ToolContext, tz: str | None) -> str:
        automations = await self.automations.list_automations(context.user, context.session_id)
        lines = [
            f"{automation.id} {automation.name}: {self._in_words(automation, tz)}"
            for automation in automations
        ]
        return "\n".join(lines) or "This session has no automations."

    def _in_words(self, automation: Automation, tz: str | None) -> str:
        """The schedule, the next run and how the last one ended."""
        timezone = request_timezone(self._timezone_of(automation.schedule), tz)
        words = automation.schedule.in_words(timezone)
        if automation.next_run_at is not None:
            words += f"; next {describe(automation.next_run_at, self.clock.now(), timezone)}"
        elif not automation.enabled:
            words += "; switched off"
        if automation.last_status is not None:
            words += f"; last {automation.last_status}"
        return words

    def _timezone_of(self, schedule: Schedule) -> tzinfo:
        match schedule:
            case At(tz=tz) | CronSchedule(tz=tz):
                return timezone_or_utc(tz)
        return self.timezone
