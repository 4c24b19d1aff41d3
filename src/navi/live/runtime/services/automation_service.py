"""What people and agents do with automations: add, list, change, remove, look at runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from navi.base.clock import Clock
from navi.base.errors import InvalidInput, NotYours
from navi.base.ids import new_id
from navi.base.time_expressions import describe, parse_when
from navi.base.timezone import request_timezone, timezone_or_utc
from navi.live.model.access.quota import Limits
from navi.live.model.access.user import User
from navi.live.model.input import Origin
from navi.live.model.scheduling.automation import (
    Automation,
    CatchUp,
    Guards,
    InsideScheduledTurn,
    Kind,
    Run,
    SystemAutomation,
    Target,
    first_run,
    require_guards,
    require_message,
    require_name,
    require_open_guards,
)
from navi.live.model.scheduling.schedule import (
    At,
    Cron,
    Schedule,
    is_same_beat,
    preview,
    require_cron,
    require_schedule,
    says_again,
)
from navi.live.model.tool import ToolContext
from navi.live.runtime.services.session_service import Sessions
from navi.live.runtime.settings import Settings, timezone_of
from navi.live.store import lanes
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import automation_runs
from navi.live.store.scheduling import automations as stored

SCHEDULE_FIELDS = frozenset({"at", "every_seconds", "cron_expr"})
GUARD_FIELDS = frozenset({"max_runs", "expires_at", "max_failures", "time_limit_seconds"})


@dataclass(frozen=True, slots=True)
class Preview:
    schedule: Schedule
    next: list[datetime]


@dataclass(frozen=True, slots=True)
class Defaults:
    timezone: tzinfo
    max_failures: int
    time_limit_seconds: int | None


def defaults_of(settings: Settings) -> Defaults:
    chosen = settings.automations
    return Defaults(timezone_of(settings), chosen.max_failures, chosen.time_limit_seconds)


class Automations:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        sessions: Sessions,
        defaults: Defaults,
        limits: Limits,
    ) -> None:
        self._limits = limits
        self._store = store
        self._clock = clock
        self._sessions = sessions
        self._defaults = defaults

    async def add(
        self,
        user: User,
        session_id: str,
        *,
        name: str,
        message: str,
        at: str | None = None,
        every_seconds: int | None = None,
        cron_expr: str | None = None,
        tz: str | None = None,
        catch_up: str | None = None,
        max_runs: int | None = None,
        expires_at: str | None = None,
        max_failures: int | None = None,
        time_limit_seconds: int | None = None,
        calling_session_id: str | None = None,
    ) -> Automation:
        session = await self._sessions.open_to(user, session_id)
        await self._require_unscheduled(calling_session_id)
        now = self._clock.now()
        schedule = self._schedule(now, at, every_seconds, cron_expr, tz)
        guards = require_guards(
            now,
            max_runs=max_runs,
            expires_at=self._instant(expires_at, now, tz),
            max_failures=self._defaults.max_failures if max_failures is None else max_failures,
            time_limit_seconds=(
                self._defaults.time_limit_seconds
                if time_limit_seconds is None
                else time_limit_seconds
            ),
        )
        next_run_at = first_run(schedule, now)
        automation = Automation(
            id=new_id(),
            user_id=session.user_id,
            name=require_name(name),
            kind=Kind.AGENT_TURN,
            session_key=session_id,
            schedule=schedule,
            message=require_message(message),
            enabled=True,
            catch_up=_catch_up(catch_up),
            guards=guards,
            target=Target(),
            next_run_at=next_run_at,
            created_at=now,
            updated_at=now,
        )
        require_open_guards(automation, next_run_at)
        return await self._store.transact(stored.add, automation, self._limits.of(user))

    def preview(
        self,
        *,
        at: str | None = None,
        every_seconds: int | None = None,
        cron_expr: str | None = None,
        tz: str | None = None,
        count: int = 5,
    ) -> Preview:
        """What a schedule would mean; nothing is stored."""
        now = self._clock.now()
        schedule = self._schedule(now, at, every_seconds, cron_expr, tz)
        return Preview(schedule, preview(schedule, now, count))

    async def listing(self, user: User, session_id: str | None = None) -> list[Automation]:
        """Those of a session, or all that the user may see: also Navi's own, for an admin."""
        if session_id is not None:
            await self._sessions.get(user, session_id)
            return await self._store.transact(stored.listing, session_id=session_id)
        owner = None if user.may_touch("") else user.id
        return await self._store.transact(stored.listing, user_id=owner)

    async def get(self, user: User, automation_id: str) -> Automation:
        automation = await self._store.transact(stored.get, automation_id)
        if not user.may_touch(automation.user_id):
            raise NotYours(automation.session_id)
        return automation

    async def runs(self, user: User, automation_id: str) -> list[Run]:
        """Those of a removed automation, too."""
        runs = await self._store.transact(automation_runs.listing, automation_id)
        if not runs:
            await self.get(user, automation_id)
        for run in runs:
            if not user.may_touch(run.user_id):
                raise NotYours(run.session_id)
        return runs

    async def run(self, user: User, run_id: str) -> Run:
        run = await self._store.transact(automation_runs.get, run_id)
        if not user.may_touch(run.user_id):
            raise NotYours(run.session_id)
        return run

    async def change(
        self,
        user: User,
        automation_id: str,
        changes: Mapping[str, Any],
        calling_session_id: str | None = None,
    ) -> Automation:
        automation = await self._editable(user, automation_id)
        if changes.get("enabled") or SCHEDULE_FIELDS & set(changes):
            await self._require_unscheduled(calling_session_id)
        if not changes:
            raise InvalidInput("nothing to change", hint="give name, message, enabled, …")
        now = self._clock.now()
        values = self._changed_values(automation, changes, now)
        return await self._store.transact(automation_runs.amend, automation_id, values, now)

    async def _require_unscheduled(self, calling_session_id: str | None) -> None:
        """Schedules can't create schedules, whichever way their agents call."""
        if calling_session_id is None:
            return
        origin = await self._store.transact(lanes.running_origin, calling_session_id)
        if origin in (Origin.AUTOMATION, Origin.RECALL):
            raise InsideScheduledTurn

    async def remove(self, user: User, automation_id: str) -> Automation:
        """A run that waits is cancelled; one that runs goes on to its end."""
        await self._editable(user, automation_id)
        return await self._store.transact(automation_runs.discard, automation_id, self._clock.now())

    async def cron_for(self, context: ToolContext, action: str, given: Mapping[str, Any]) -> str:
        """For the tool: an agent manages the automations of its own session."""
        if not context.session_id:
            raise InvalidInput(
                "there is no session that the automation would belong to",
                hint="call cron from inside a session of Navi",
            )
        user = context.user
        match action:
            case "add":
                made = await self.add(
                    user, context.session_id, **given, calling_session_id=context.session_id
                )
                return f"Added {made.name} ({made.id}): {self._in_words(made, given.get('tz'))}."
            case "remove":
                job_id = given.get("job_id")
                if not job_id:
                    raise InvalidInput("job_id is missing", hint="action=list shows the ids")
                own = await self.listing(user, context.session_id)
                chosen = next((each for each in own if each.id == job_id), None)
                if chosen is None:
                    raise InvalidInput(
                        f"this session has no automation {job_id}", hint="action=list shows its own"
                    )
                await self.remove(user, job_id)
                return f"Removed {chosen.name}."
        tz = given.get("tz")
        own = await self.listing(user, context.session_id)
        lines = [f"{each.id} {each.name}: {self._in_words(each, tz)}" for each in own]
        return "\n".join(lines) or "This session has no automations."

    def _in_words(self, automation: Automation, tz: str | None) -> str:
        """Its times in the reader's zone, or in its own."""
        timezone = request_timezone(self._own_timezone(automation.schedule), tz)
        words = automation.schedule.in_words(timezone)
        if automation.next_run_at is not None:
            words += f"; next {describe(automation.next_run_at, self._clock.now(), timezone)}"
        elif not automation.enabled:
            words += "; switched off"
        return (
            words if automation.last_status is None else f"{words}; last {automation.last_status}"
        )

    def _own_timezone(self, schedule: Schedule) -> tzinfo:
        match schedule:
            case At(tz=tz) | Cron(tz=tz):
                return timezone_or_utc(tz)
        return self._defaults.timezone

    async def _editable(self, user: User, automation_id: str) -> Automation:
        automation = await self.get(user, automation_id)
        if automation.is_own:
            raise SystemAutomation(automation.name)
        return automation

    def _changed_values(
        self, automation: Automation, changes: Mapping[str, Any], now: datetime
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        if "name" in changes:
            values["name"] = require_name(changes["name"])
        if "message" in changes:
            values["message"] = require_message(changes["message"])
        if "catch_up" in changes:
            values["catch_up"] = _catch_up(changes["catch_up"])
        if GUARD_FIELDS & changes.keys():
            values["guards"] = self._changed_guards(automation.guards, changes, now)
        schedule = automation.schedule
        if SCHEDULE_FIELDS & changes.keys():
            schedule = self._changed_schedule(automation.schedule, changes, now)
        elif "tz" in changes and "expires_at" not in changes:
            schedule = self._moved_schedule(automation.schedule, changes["tz"], now)
        if schedule != automation.schedule:
            values["schedule"] = schedule
        # A time shown in another zone stays the same time.
        is_new_time = not is_same_beat(schedule, automation.schedule)
        # A new time for an automation that has ended means: run it again.
        is_revived = is_new_time and automation.ended is not None
        is_enabled = changes.get("enabled", automation.enabled or is_revived)
        if not is_enabled:
            if "enabled" in changes:
                values |= {"enabled": False, "next_run_at": None, "held_at": None}
            return values
        next_run_at = automation.next_run_at
        # Without a next time its run is under way, and goes on.
        is_resumed = not automation.enabled or ("enabled" in changes and next_run_at is not None)
        if is_resumed or is_new_time:
            next_run_at = first_run(schedule, now)
            values |= {"enabled": True, "ended": None, "next_run_at": next_run_at, "held_at": None}
            if not automation.enabled:
                values["failures_in_row"] = 0
        if next_run_at is not None and ("guards" in values or "next_run_at" in values):
            require_open_guards(replace(automation, **values), next_run_at)
        return values

    def _changed_schedule(
        self, schedule: Schedule, changes: Mapping[str, Any], now: datetime
    ) -> Schedule:
        """A form that sends everything as it was shown changes nothing."""
        fields = {name: changes.get(name) for name in SCHEDULE_FIELDS}
        tz = changes.get("tz")
        named = {name for name, value in fields.items() if value is not None}
        if isinstance(schedule, At) and named == {"at"}:
            zone = request_timezone(self._defaults.timezone, tz)
            if says_again(schedule, changes["at"], zone):
                return replace(schedule, tz=tz) if tz else schedule
        if isinstance(schedule, Cron) and named == {"cron_expr"}:
            tz = tz or schedule.tz
        changed = self._schedule(now, **fields, tz=tz)
        # An interval goes on counting from where it began.
        return schedule if is_same_beat(schedule, changed) else changed

    def _moved_schedule(self, schedule: Schedule, tz: str | None, now: datetime) -> Schedule:
        """The same calendar in another zone."""
        if not isinstance(schedule, Cron):
            raise InvalidInput(
                "tz alone changes nothing", hint="send it with at, cron_expr or expires_at"
            )
        return schedule if tz is None else require_cron(schedule.expr, tz, now)

    def _changed_guards(self, guards: Guards, changes: Mapping[str, Any], now: datetime) -> Guards:
        given = {name: changes[name] for name in GUARD_FIELDS & changes.keys()}
        if "expires_at" in given:
            given["expires_at"] = self._instant(given["expires_at"], now, changes.get("tz"))
        changed = replace(guards, **given)
        # Not the old expires_at: it may have passed, and is nobody's mistake.
        require_guards(
            now,
            max_runs=changed.max_runs,
            expires_at=given.get("expires_at"),
            max_failures=changed.max_failures,
            time_limit_seconds=changed.time_limit_seconds,
        )
        return changed

    def _schedule(
        self,
        now: datetime,
        at: str | None,
        every_seconds: int | None,
        cron_expr: str | None,
        tz: str | None,
    ) -> Schedule:
        return require_schedule(
            now,
            self._defaults.timezone,
            at=at,
            every_seconds=every_seconds,
            cron_expr=cron_expr,
            tz=tz,
        )

    def _instant(self, text: str | None, now: datetime, tz: str | None) -> datetime | None:
        timezone = request_timezone(self._defaults.timezone, tz)
        return None if text is None else parse_when(text, now, timezone)


def _catch_up(text: str | None) -> CatchUp:
    try:
        return CatchUp(text or CatchUp.ONCE)
    except ValueError as error:
        raise InvalidInput(
            f"unknown catch_up {text!r}", hint=f"one of: {', '.join(CatchUp)}"
        ) from error
