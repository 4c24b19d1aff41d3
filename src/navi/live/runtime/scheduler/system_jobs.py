"""Navi's own automations (jobs): the heartbeat, and the nightly dream that updates MEMORY.md."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from navi.base.clock import Clock
from navi.base.errors import Conflict
from navi.base.time_expressions import describe_moment
from navi.base.timezone import zone_name
from navi.live.model.access.user import LOCAL_USER_ID
from navi.live.model.scheduling.automation import Automation, CatchUp, Guards, Kind, Target
from navi.live.model.scheduling.prompts import render
from navi.live.model.scheduling.schedule import Cron, Every, Schedule
from navi.live.model.scheduling.scheduled_prompt import ScheduledPrompt
from navi.live.model.session import Session
from navi.live.model.tool import ToolContext
from navi.live.runtime import server_files
from navi.live.runtime.settings import Settings, timezone_of
from navi.live.store import transcript
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import hidden_sessions

HEARTBEAT_FILE = "HEARTBEAT.md"
MEMORY_FILE = "MEMORY.md"
DAY = timedelta(days=1)
DAY_LIMIT = 60_000
"""How many characters of the day's messages a dream reads. The limits below are characters too."""
MESSAGE_LIMIT = 2_000
NOTES_LIMIT = 20_000
UNLIMITED_FAILURES = 1_000_000


@dataclass(frozen=True, slots=True)
class SystemSchedules:
    """When the jobs run; None switches a job off."""

    heartbeat: timedelta | None
    dream: Cron | None


def schedules_of(settings: Settings) -> SystemSchedules:
    automations = settings.automations
    return SystemSchedules(
        timedelta(minutes=automations.heartbeat_minutes) if automations.heartbeat else None,
        Cron(automations.dream_at, zone_name(timezone_of(settings))) if automations.dream else None,
    )


class SystemJobs:
    def __init__(
        self, store: Store, clock: Clock, workspace: Path, driver: str, zone: tzinfo
    ) -> None:
        self._zone = zone
        self._store = store
        self._clock = clock
        self._workspace = workspace
        self._driver = driver

    async def set_up(self, schedules: SystemSchedules) -> None:
        """Create the jobs, or adapt them to the current settings."""
        now = self._clock.now()
        interval = schedules.heartbeat or timedelta(minutes=30)
        heartbeat = Every(int(interval.total_seconds()), now)
        dream = schedules.dream or Cron("0 3 * * *", "UTC")
        await self._create_or_update(
            Kind.HEARTBEAT, heartbeat, schedules.heartbeat is not None, now
        )
        await self._create_or_update(Kind.DREAM, dream, schedules.dream is not None, now)

    async def prompt(self, job: str, now: datetime) -> ScheduledPrompt | None:
        """The job's prompt; None if the job has nothing to do."""
        if job == Kind.HEARTBEAT:
            return await asyncio.to_thread(self._heartbeat_prompt, now)
        if job == Kind.DREAM:
            return await self._dream_prompt(now)
        return None

    def _heartbeat_prompt(self, now: datetime) -> ScheduledPrompt | None:
        notes = read_notes(self._workspace / HEARTBEAT_FILE)
        if not has_tasks(notes):
            return None
        variables = {
            "folder": str(self._workspace),
            "now": describe_moment(now, self._zone),
            "notes": notes,
        }
        return ScheduledPrompt(render("system.heartbeat", 1, variables), variables)

    async def _dream_prompt(self, now: datetime) -> ScheduledPrompt | None:
        since = now - DAY
        messages = await self._store.transact(
            transcript.messages_since, LOCAL_USER_ID, since, DAY_LIMIT, MESSAGE_LIMIT
        )
        if not messages:
            return None
        memory = await asyncio.to_thread(read_notes, self._workspace / MEMORY_FILE)
        variables = {
            "folder": str(self._workspace),
            "since": describe_moment(since, self._zone),
            "memory": memory or "(empty)",
            # Otherwise the scripted model would run a script that a conversation quotes.
            "day": messages.replace("[[", "[ ["),
        }
        return ScheduledPrompt(render("system.dream", 1, variables), variables)

    async def _create_or_update(
        self, kind: Kind, schedule: Schedule, is_enabled: bool, now: datetime
    ) -> None:
        job = Automation(
            id=kind.value,
            user_id=LOCAL_USER_ID,
            name=kind.value,
            kind=kind,
            session_key=None,
            schedule=schedule,
            message="",
            enabled=is_enabled,
            catch_up=CatchUp.SKIP,
            guards=Guards(max_failures=UNLIMITED_FAILURES),
            target=Target(deliver=True),
            next_run_at=schedule.next_after(now) if is_enabled else None,
            created_at=now,
            updated_at=now,
        )
        session = hidden_session(job, str(self._workspace), self._driver, now)
        try:
            await self._store.transact(hidden_sessions.add_or_update, session, job, now)
        except Conflict:
            # Another server that is starting has just created it.
            await self._store.transact(hidden_sessions.add_or_update, session, job, now)


def hidden_session(automation: Automation, cwd: str, driver: str, now: datetime) -> Session:
    """The hidden session for an automation that belongs to no visible session."""
    return Session.new(
        automation.user_id, driver, cwd, now, id=automation.session_id, name=automation.name
    )


def dream_summary(context: ToolContext) -> str:
    """The summary that dreams write; empty in sessions of users other than `local`."""
    if context.current_user_id != LOCAL_USER_ID:
        return ""
    return read_notes(server_files.workspace() / MEMORY_FILE)


def read_notes(file: Path) -> str:
    """The beginning of a notes file; empty if the file can't be read."""
    try:
        return file.read_text(errors="replace")[:NOTES_LIMIT].strip()
    except OSError:
        return ""


def has_tasks(notes: str) -> bool:
    """Whether the notes have more than headings and comments."""
    without_comments = re.sub(r"<!--.*?-->", "", notes, flags=re.DOTALL)
    lines = (line.strip() for line in without_comments.splitlines())
    return any(line and not line.startswith("#") for line in lines)
