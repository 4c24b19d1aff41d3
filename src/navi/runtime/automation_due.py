"""Automations on the clock: planned outside of any transaction, fired one by one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from navi.domain.automation import Automation, Category, Kind, Plan, Run, RunState, plan, run_id
from navi.domain.clock import Clock
from navi.domain.errors import NotFound
from navi.domain.input import NewInput, Origin
from navi.runtime.prompts import Prompt, render
from navi.runtime.system_jobs import SystemJobs
from navi.runtime.turns import TIME_LIMIT
from navi.store import automation_runs, automations
from navi.store.store import Store

log = logging.getLogger("navi.automations")

BATCH = 256
LATE_SECONDS = 120
"""Less is not worth a word to the agent."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What the agent is told."""

    prompt: Prompt
    variables: Mapping[str, Any]


class AutomationsDue:
    coming = automations.COMING

    def __init__(self, store: Store, clock: Clock, system_jobs: SystemJobs, keep_runs: int) -> None:
        self._store = store
        self._clock = clock
        self._system_jobs = system_jobs
        self._keep_runs = keep_runs

    async def make_ready(self, next_at: datetime) -> None:
        """Planning takes no time that would matter."""

    async def fire(self) -> int:
        now = self._clock.now()
        due = await self._store.transact(automations.due, now, BATCH)
        # In a thread: counting what a minutely one missed in a month takes a moment.
        plans = await asyncio.to_thread(lambda: [_plan(each, now) for each in due])
        fired = await asyncio.gather(
            *(self._fire(each, its, now) for each, its in zip(due, plans, strict=True))
        )
        return sum(fired)

    async def _fire(self, automation: Automation, its: Plan | str, now: datetime) -> bool:
        if isinstance(its, str):
            await self._store.transact(automation_runs.give_up, automation, its, now)
            return True
        told = None if its.run_due_at is None else await self._told(automation, its, now)
        try:
            if told is None and its.run_due_at is not None:
                return await self._store.transact(automation_runs.pass_over, automation, its, now)
            run = _run(automation, its, told, now)
            new = None if told is None else _input(automation, run, told)
            return await self._store.transact(
                automation_runs.fire, automation, its, run, new, self._keep_runs, now
            )
        except NotFound:
            # Its session was deleted in the meantime, and it with that.
            return False

    async def _told(self, automation: Automation, its: Plan, now: datetime) -> _Told | None:
        """None if a system job finds nothing to do."""
        if automation.kind in (Kind.HEARTBEAT, Kind.DREAM):
            found = await self._system_jobs.prompt(automation, now)
            return None if found is None else _Told(*found)
        assert its.run_due_at is not None
        variables = {
            "name": automation.name,
            "due_at": _shown(its.run_due_at),
            "now": _shown(now),
            "lateness": _lateness(its.run_due_at, now, its.missed),
            "message": automation.message,
        }
        is_bound = automation.category is Category.BOUND
        template = "cron.agent_turn.reminder" if is_bound else "cron.agent_turn.unbound"
        return _Told(render(template, 1, variables), variables)


def _plan(automation: Automation, now: datetime) -> Plan | str:
    """Or why there can't be one: its time zone may have vanished. The others go on."""
    try:
        return plan(automation, now)
    except Exception as error:
        log.exception("automation %s can't be planned", automation.id)
        return f"it can't be planned: {error}"


def _run(automation: Automation, its: Plan, told: _Told | None, now: datetime) -> Run:
    due_at = its.run_due_at or automation.next_run_at
    assert due_at is not None
    is_missed = told is None
    return Run(
        id=run_id(automation.id, due_at),
        automation_id=automation.id,
        session_id=automation.session_id,
        user_id=automation.user_id,
        state=RunState.MISSED if is_missed else RunState.QUEUED,
        due_at=due_at,
        queued_at=now,
        ended_at=now if is_missed else None,
        prompt_ref=None if told is None else told.prompt.reference,
        rendered_prompt=None if told is None else told.prompt.text,
        prompt_variables=None if told is None else told.variables,
        missed_count=its.missed,
    )


def _input(automation: Automation, run: Run, told: _Told) -> NewInput:
    """Readable in the transcript, complete for the agent. Its id is the run's: never twice."""
    limit = automation.guards.time_limit_seconds
    return NewInput(
        id=run.id,
        session_id=automation.session_id,
        text=f"Scheduled automation triggered: {automation.name}\n\n{automation.message}".strip(),
        origin=Origin.AUTOMATION,
        metadata={
            "_automation_trigger": True,
            "automation_id": automation.id,
            "automation_name": automation.name,
            "automation_run_id": run.id,
            "automation_prompt_ref": told.prompt.reference,
            "due_at": run.due_at.isoformat(),
            "missed_count": run.missed_count,
            **({} if limit is None else {TIME_LIMIT: limit}),
        },
        prompt=told.prompt.text,
    )


def _lateness(due_at: datetime, now: datetime, missed: int) -> str:
    late = (now - due_at).total_seconds()
    words = f" ({int(late // 60)} minutes late)" if late >= LATE_SECONDS else ""
    if missed:
        words += f"\nMissed before, not run: {missed}"
    return words


def _shown(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
