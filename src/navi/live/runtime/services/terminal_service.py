"""Makes Navi sessions for agents that people started in their own terminals.

An agent gets its session when its hooks report to the server, or when a person adopts one from the
memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from navi.base.clock import Clock
from navi.base.errors import Conflict, InvalidInput, NaviError
from navi.base.ids import new_id
from navi.live.agents.driver import Driver
from navi.live.model.access.caller import Caller
from navi.live.model.access.quota import Limits
from navi.live.model.access.user import User
from navi.live.model.hook_report import HookReport
from navi.live.model.session import Session, generated_name
from navi.live.runtime.service import Service
from navi.live.runtime.services.memory_service import Resumable
from navi.live.runtime.turns.admission import AdmissionService
from navi.live.runtime.turns.turn_runner import TurnRunner
from navi.live.store import steering, terminals
from navi.live.store.damage.set_aside import reason_of
from navi.live.store.engine.transactions import Store
from navi.vendors.hooks import HookDialect
from navi.vendors.vendor import Vendor

CHECK_SECONDS = 3.0
"""How long a terminal that closed without a report may hold up its session's inputs."""

LONGEST_FOLDER_NAME = 100
"""How many characters of a folder's name the session's name takes."""

NUDGE_PATIENCE = timedelta(seconds=0.5)
"""A hook that reported longer ago may have given up (`NUDGE_SECONDS` in hook.py). Its nudges would
be lost, so they wait for the next report."""

log = logging.getLogger("navi.terminals")


class TerminalService(Service):
    name = "terminals"

    def __init__(
        self,
        store: Store,
        clock: Clock,
        turns: TurnRunner,
        admission: AdmissionService,
        drivers: Mapping[str, Driver],
        vendors: Mapping[str, Vendor],
        limits: Limits,
    ) -> None:
        super().__init__()
        self._store = store
        self._clock = clock
        self._turns = turns
        self._admission = admission
        self._drivers = drivers
        self._vendors = vendors
        self._dialects = {
            name: dialect
            for name, vendor in vendors.items()
            if (dialect := vendor.hooks()) is not None
        }
        self._limits = limits

    def dialect(self, driver: str) -> HookDialect:
        """The hook protocol of that agent."""
        if driver not in self._dialects:
            raise InvalidInput(
                f"there are no hooks for {driver!r}", hint=f"one of: {', '.join(self._dialects)}"
            )
        return self._dialects[driver]

    def calling_session(self, metadata: object) -> str | None:
        """The agent's id for the session that calls a tool, if the call's metadata has it."""
        if not isinstance(metadata, dict):
            return None
        ids = (vendor.calling_session(metadata) for vendor in self._vendors.values())
        return next((id for id in ids if id is not None), None)

    async def report(self, sender: Caller, report: HookReport) -> str | None:
        """Store a hook's report. Returns the next prompt if the agent asks what to do next."""
        now = self._clock.now()
        new = _new_session(sender.user, report.driver, report.cwd, now)
        limit = self._limits.of(sender.user).sessions
        session = await self._store.transact(terminals.report, sender, report, new, now, limit)
        if report.asks_what_next:
            self._turns.mark_terminal_stopped(session.id)
            return await self._turns.hand_over(session)
        if not report.is_open:
            self._admission.wake()
        return None

    async def report_compaction(self, sender: Caller, report: HookReport) -> None:
        """Record that an agent run by Navi has begun or ended a compaction."""
        await self._store.transact(terminals.report_compaction, sender, report)

    async def nudges(self, sender: Caller, report: HookReport) -> list[str]:
        """What to show the agent with the result of the tool it just used."""
        now = self._clock.now()
        if not report.takes_nudges or now - report.emitted_at > NUDGE_PATIENCE:
            return []
        return await self._store.transact(steering.take_for_agent, sender, report, new_id(), now)

    async def adopt(self, user: User, past: Resumable) -> Session:
        """The Navi session for a past one from the memory; created if there is none."""
        driver = self._drivers.get(past.source)
        if driver is None or not driver.shares_sessions or past.agent_session_id is None:
            shared = [name for name, each in self._drivers.items() if each.shares_sessions]
            raise Conflict(
                f"Navi can't continue sessions of {past.source}",
                hint="one of: " + ", ".join(shared),
            )
        if past.is_archived:
            raise Conflict("the session's file is gone, so its agent can't continue it")
        if past.cwd is None or not await asyncio.to_thread(Path(past.cwd).is_dir):
            raise Conflict(
                f"the session's folder {past.cwd or ''} is gone", hint="recreate the folder"
            )
        now = self._clock.now()
        new = _new_session(user, past.source, past.cwd, now)
        limit = self._limits.of(user).sessions
        return await self._store.transact(
            terminals.adopt, user, past.agent_session_id, new, now, limit
        )

    async def step(self) -> None:
        """Release the sessions of terminals that closed without a report."""
        await self._wake.wait(CHECK_SECONDS)
        for terminal in await self._store.transact(terminals.list_open):
            try:
                await self._check(terminal)
            except NaviError:
                raise
            except Exception as error:
                log.exception("can't check terminal %s", terminal.agent_session_id)
                why, now = reason_of(error), self._clock.now()
                await self._store.transact(terminals.set_aside_terminal, terminal, why, now)

    async def _check(self, terminal: terminals.OpenTerminal) -> None:
        driver = self._drivers.get(terminal.driver)
        if driver is None:
            raise LookupError(f"there is no driver {terminal.driver!r}")
        if not await asyncio.to_thread(driver.is_open_elsewhere, terminal.agent_session_id):
            await self._store.transact(terminals.close, terminal, self._clock.now())
            self._admission.wake()


def _new_session(user: User, driver: str, cwd: str, now: datetime) -> Session:
    """The new session for a terminal that has none."""
    session_id = new_id()
    name = generated_name(session_id, Path(cwd).name[:LONGEST_FOLDER_NAME] or "terminal")
    return Session.new(user.id, driver, cwd, now, id=session_id, name=name)
