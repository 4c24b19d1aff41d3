"""What people and agents do with automations: add, list, change, remove, look at runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from navi.domain.automation import (
    Automation,
    CatchUp,
    Category,
    Guards,
    InsideAutomation,
    Kind,
    Run,
    SystemAutomation,
    Target,
    first_run,
    require_guards,
    require_message,
    require_name,
)
from navi.domain.clock import Clock
from navi.domain.errors import InvalidInput, NotYours
from navi.domain.ids import new_id
from navi.domain.input import Origin
from navi.domain.schedule import At, Cron, Schedule, preview, require_schedule
from navi.domain.timezone import request_timezone, timezone_or_utc
from navi.domain.tool import ToolContext
from navi.domain.user import User
from navi.domain.when import describe, parse_when
from navi.runtime.sessions import Sessions
from navi.runtime.settings import Settings, timezone_of
from navi.store import automation_runs
from navi.store import automations as stored
from navi.store.store import Store

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
    def __init__(self, store: Store, clock: Clock, sessions: Sessions, defaults: Defaults) -> None:
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
    ) -> Automation:
        session = await self._sessions.get(user, session_id)
        now = self._clock.now()
        schedule = self._schedule(now, at, every_seconds, cron_expr, tz)
        guards = require_guards(
            now,
            max_runs=max_runs,
            expires_at=self._instant(expires_at, now, tz),
            max_failures=max_failures or self._defaults.max_failures,
            time_limit_seconds=time_limit_seconds or self._defaults.time_limit_seconds,
        )
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
            next_run_at=first_run(schedule, guards, now),
            created_at=now,
            updated_at=now,
        )
        return await self._store.transact(stored.add, automation)

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
        await self.get(user, automation_id)
        return await self._store.transact(automation_runs.listing, automation_id)

    async def run(self, user: User, run_id: str) -> Run:
        run = await self._store.transact(automation_runs.get, run_id)
        if not user.may_touch(run.user_id):
            raise NotYours(run.session_id)
        return run

    async def change(
        self, user: User, automation_id: str, changes: Mapping[str, Any]
    ) -> Automation:
        automation = await self._editable(user, automation_id)
        if not changes:
            raise InvalidInput("nothing to change", hint="give name, message, enabled, …")
        now = self._clock.now()
        values = self._changed_values(automation, changes, now)
        return await self._store.transact(automation_runs.amend, automation_id, values, now)

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
                if context.origin is Origin.AUTOMATION:
                    raise InsideAutomation
                made = await self.add(user, context.session_id, **given)
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
        if automation.category is Category.SYSTEM:
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
        if SCHEDULE_FIELDS & changes.keys():
            given = {name: changes.get(name) for name in SCHEDULE_FIELDS}
            values["schedule"] = self._schedule(now, **given, tz=changes.get("tz"))
        elif "tz" in changes and "expires_at" not in changes:
            raise InvalidInput(
                "tz alone changes nothing", hint="send it with at, cron_expr or expires_at"
            )
        is_enabled = changes.get("enabled", automation.enabled)
        if "enabled" in changes or "schedule" in values or "guards" in values:
            values |= {"enabled": is_enabled, "next_run_at": None, "held_at": None}
        if is_enabled and "next_run_at" in values:
            schedule = values.get("schedule", automation.schedule)
            guards = values.get("guards", automation.guards)
            if guards.max_runs is not None and automation.run_count >= guards.max_runs:
                raise InvalidInput(
                    f"it has run {automation.run_count} times already", hint="raise max_runs first"
                )
            values |= {"next_run_at": first_run(schedule, guards, now), "ended": None}
            if not automation.enabled:
                values["failures_in_row"] = 0
        return values

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
            f"there is no catch_up {text!r}", hint=f"one of: {', '.join(CatchUp)}"
        ) from error
