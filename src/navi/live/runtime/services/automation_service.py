"""Adds, lists, changes and removes automations, and shows their runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from navi.base.clock import Clock
from navi.base.errors import InvalidInput, NotYours
from navi.base.ids import new_id
from navi.base.time_expressions import parse_when
from navi.base.timezone import request_timezone
from navi.live.model.access.quota import Limits
from navi.live.model.access.user import User
from navi.live.model.input import Origin
from navi.live.model.question_deadline import QUESTION_DEADLINE, require_question_deadline
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
from navi.live.model.scheduling.automation_request import AutomationChange, AutomationRequest
from navi.live.model.scheduling.schedule import (
    At,
    Cron,
    Schedule,
    is_equivalent,
    is_instant_of,
    preview,
    require_cron,
    require_schedule,
)
from navi.live.model.scheduling.schedule_request import SCHEDULE_FIELDS, ScheduleRequest
from navi.live.runtime.services.session_service import SessionService
from navi.live.runtime.settings import Settings, timezone_of
from navi.live.store import lanes
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import automation_runs, automations

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
    automations = settings.automations
    return Defaults(timezone_of(settings), automations.max_failures, automations.time_limit_seconds)


class AutomationService:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        sessions: SessionService,
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
        request: AutomationRequest,
        calling_session_id: str | None = None,
    ) -> Automation:
        session = await self._sessions.get_not_hidden(user, session_id)
        await self._require_unscheduled(calling_session_id)
        now = self._clock.now()
        schedule = require_schedule(now, self._defaults.timezone, request)
        guards = self._guards(request, now)
        next_run_at = first_run(schedule, now)
        automation = Automation(
            id=new_id(),
            user_id=session.user_id,
            name=require_name(request.name),
            kind=Kind.AGENT_TURN,
            session_key=session_id,
            schedule=schedule,
            message=require_message(request.message),
            enabled=True,
            catch_up=request.catch_up or CatchUp.ONCE,
            guards=guards,
            target=Target(),
            next_run_at=next_run_at,
            created_at=now,
            updated_at=now,
            on_permission=request.on_permission,
            question_deadline_minutes=require_question_deadline(request.question_deadline_minutes),
        )
        require_open_guards(automation, next_run_at)
        return await self._store.transact(automations.add, automation, self._limits.of(user))

    def preview(self, request: ScheduleRequest, count: int) -> Preview:
        """Compute when an automation with this schedule would run, without storing anything."""
        now = self._clock.now()
        schedule = require_schedule(now, self._defaults.timezone, request)
        return Preview(schedule, preview(schedule, now, count))

    async def list_automations(self, user: User, session_id: str | None = None) -> list[Automation]:
        """One session's automations, or all that the user may see; admins also see Navi's own."""
        if session_id is not None:
            await self._sessions.get(user, session_id)
            return await self._store.transact(automations.list_automations, session_id=session_id)
        owner = None if user.is_admin else user.id
        return await self._store.transact(automations.list_automations, user_id=owner)

    async def get(self, user: User, automation_id: str) -> Automation:
        automation = await self._store.transact(automations.get, automation_id)
        if not user.may_touch(automation.user_id):
            raise NotYours(automation.session_id)
        return automation

    async def list_runs(self, user: User, automation_id: str) -> list[Run]:
        """The automation's runs, even if it has been removed."""
        runs = await self._store.transact(automation_runs.list_runs, automation_id)
        if not runs:
            await self.get(user, automation_id)
        for run in runs:
            if not user.may_touch(run.user_id):
                raise NotYours(run.session_id)
        return runs

    async def get_run(self, user: User, run_id: str) -> Run:
        run = await self._store.transact(automation_runs.get, run_id)
        if not user.may_touch(run.user_id):
            raise NotYours(run.session_id)
        return run

    async def change(
        self,
        user: User,
        automation_id: str,
        change: AutomationChange,
        calling_session_id: str | None = None,
    ) -> Automation:
        automation = await self._require_editable(user, automation_id)
        changes = change.values()
        if changes.get("enabled") or changes.keys() & SCHEDULE_FIELDS:
            await self._require_unscheduled(calling_session_id)
        if not changes:
            raise InvalidInput("nothing to change", hint="give name, message, enabled, …")
        now = self._clock.now()
        values = self._changed_values(automation, changes, now)
        return await self._store.transact(automation_runs.amend, automation_id, values, now)

    async def _require_unscheduled(self, calling_session_id: str | None) -> None:
        """Refuse a call from a scheduled turn: schedules can't create schedules."""
        if calling_session_id is None:
            return
        origin = await self._store.transact(lanes.running_origin, calling_session_id)
        if origin in (Origin.AUTOMATION, Origin.RECALL):
            raise InsideScheduledTurn

    async def remove(self, user: User, automation_id: str) -> Automation:
        """Remove the automation and cancel its queued run; a running one may finish."""
        await self._require_editable(user, automation_id)
        return await self._store.transact(automation_runs.discard, automation_id, self._clock.now())

    async def _require_editable(self, user: User, automation_id: str) -> Automation:
        automation = await self.get(user, automation_id)
        if automation.is_built_in:
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
            values["catch_up"] = changes["catch_up"] or CatchUp.ONCE
        if "on_permission" in changes:
            values["on_permission"] = changes["on_permission"]
        if QUESTION_DEADLINE in changes:
            values[QUESTION_DEADLINE] = require_question_deadline(changes[QUESTION_DEADLINE])
        if GUARD_FIELDS & changes.keys():
            values["guards"] = self._changed_guards(automation.guards, changes, now)
        schedule = automation.schedule
        if changes.keys() & SCHEDULE_FIELDS:
            schedule = self._changed_schedule(automation.schedule, changes, now)
        elif "tz" in changes and "expires_at" not in changes:
            schedule = self._moved_schedule(automation.schedule, changes["tz"], now)
        if schedule != automation.schedule:
            values["schedule"] = schedule
        # The same instant in another zone is not a new time.
        is_new_time = not is_equivalent(schedule, automation.schedule)
        # An ended automation that gets a new time starts again.
        is_revived = is_new_time and automation.ended is not None
        is_enabled = changes.get("enabled", automation.enabled or is_revived)
        if not is_enabled:
            if "enabled" in changes:
                values |= {"enabled": False, "next_run_at": None, "held_at": None}
            return values
        next_run_at = automation.next_run_at
        # An enabled automation without a next time is in its last run, which may finish.
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
        """The new schedule, or the old one if the request only repeats it, as forms do."""
        fields = {name: changes.get(name) for name in SCHEDULE_FIELDS}
        tz = changes.get("tz")
        set_fields = [name for name, value in fields.items() if value is not None]
        if isinstance(schedule, At) and set_fields == ["at"]:
            zone = request_timezone(self._defaults.timezone, tz)
            if is_instant_of(schedule, changes["at"], zone):
                return replace(schedule, tz=tz) if tz else schedule
        if isinstance(schedule, Cron) and set_fields == ["cron_expr"]:
            tz = tz or schedule.tz
        request = ScheduleRequest(**fields, tz=tz)
        changed = require_schedule(now, self._defaults.timezone, request)
        # An unchanged interval keeps its anchor.
        return schedule if is_equivalent(schedule, changed) else changed

    def _moved_schedule(self, schedule: Schedule, tz: str | None, now: datetime) -> Schedule:
        """The same cron expression in another time zone."""
        if not isinstance(schedule, Cron):
            raise InvalidInput(
                "tz alone changes nothing", hint="send it with at, cron_expr or expires_at"
            )
        return schedule if tz is None else require_cron(schedule.expr, tz, now)

    def _guards(self, request: AutomationRequest, now: datetime) -> Guards:
        defaults = self._defaults
        failures, time_limit = request.max_failures, request.time_limit_seconds
        return require_guards(
            now,
            max_runs=request.max_runs,
            expires_at=self._instant(request.expires_at, now, request.tz),
            max_failures=defaults.max_failures if failures is None else failures,
            time_limit_seconds=defaults.time_limit_seconds if time_limit is None else time_limit,
        )

    def _changed_guards(self, guards: Guards, changes: Mapping[str, Any], now: datetime) -> Guards:
        new_guards = {name: changes[name] for name in GUARD_FIELDS & changes.keys()}
        if "expires_at" in new_guards:
            new_guards["expires_at"] = self._instant(
                new_guards["expires_at"], now, changes.get("tz")
            )
        changed = replace(guards, **new_guards)
        # Check only a new expires_at: the old one may have passed since it was set.
        require_guards(
            now,
            max_runs=changed.max_runs,
            expires_at=new_guards.get("expires_at"),
            max_failures=changed.max_failures,
            time_limit_seconds=changed.time_limit_seconds,
        )
        return changed

    def _instant(self, text: str | None, now: datetime, tz: str | None) -> datetime | None:
        timezone = request_timezone(self._defaults.timezone, tz)
        return None if text is None else parse_when(text, now, timezone)
