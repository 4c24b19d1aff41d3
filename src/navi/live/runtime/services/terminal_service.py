"""Sessions that people started in their own terminals become sessions of Navi: by their hooks, or
because somebody wants one woken that the memory knows."""

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
from navi.live.runtime.turns.admission import Queue
from navi.live.runtime.turns.turn_runner import Turns
from navi.live.store import steering
from navi.live.store import terminals as stored
from navi.live.store.damage.set_aside import reason_of
from navi.live.store.engine.transactions import Store
from navi.vendors.hooks import HookDialect
from navi.vendors.vendor import Vendor

LOOK_SECONDS = 3.0
"""How long a terminal that was closed without a word may keep its session's inputs waiting."""

LONGEST_FOLDER_NAME = 100
"""Characters of a folder's name in the name of its session."""

NUDGE_PATIENCE = timedelta(seconds=0.5)
"""A hook that reported longer ago may have given up (`NUDGE_SECONDS` in hook.py). What it was
given would be lost, so it waits for the next report."""

log = logging.getLogger("navi.adoption")


class Adoption(Service):
    name = "adoption"

    def __init__(
        self,
        store: Store,
        clock: Clock,
        turns: Turns,
        queue: Queue,
        drivers: Mapping[str, Driver],
        vendors: Mapping[str, Vendor],
        limits: Limits,
    ) -> None:
        super().__init__()
        self._store = store
        self._clock = clock
        self._turns = turns
        self._queue = queue
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
        """The agent's name for the session that calls a tool, if the call's metadata has it."""
        if not isinstance(metadata, dict):
            return None
        names = (vendor.calling_session(metadata) for vendor in self._vendors.values())
        return next((name for name in names if name is not None), None)

    async def report(self, sender: Caller, news: HookReport) -> str | None:
        """Keep what a hook said. If its agent asks what to do next: what waits for it."""
        now = self._clock.now()
        new = _session(sender.user, news.driver, news.cwd, now)
        most = self._limits.of(sender.user).sessions
        session = await self._store.transact(stored.report, sender, news, new, now, most)
        if news.asks_what_next:
            self._turns.terminal_stopped(session.id)
            return await self._turns.hand_over(session)
        if not news.is_open:
            self._queue.poke()
        return None

    async def report_compaction(self, sender: Caller, news: HookReport) -> None:
        """Of an agent that Navi runs: whether it summarises its history."""
        await self._store.transact(stored.report_compaction, sender, news)

    async def nudges(self, sender: Caller, news: HookReport) -> list[str]:
        """What the agent should read with the result of the tool that it has just used."""
        now = self._clock.now()
        if not news.takes_nudges or now - news.emitted_at > NUDGE_PATIENCE:
            return []
        return await self._store.transact(steering.take_for_agent, sender, news, new_id(), now)

    async def adopt(self, user: User, past: Resumable) -> Session:
        """A session that the memory knows; the one of ours that it is already, if so."""
        driver = self._drivers.get(past.source)
        if driver is None or not driver.shares_sessions or past.agent_session_id is None:
            shared = [name for name, each in self._drivers.items() if each.shares_sessions]
            raise Conflict(
                f"Navi can't continue sessions of {past.source}",
                hint="one of: " + ", ".join(shared),
            )
        if past.is_archived:
            raise Conflict("its file is gone, so its agent no longer knows this session")
        if past.cwd is None or not await asyncio.to_thread(Path(past.cwd).is_dir):
            raise Conflict(f"its folder {past.cwd or ''} is gone", hint="recreate the folder")
        now = self._clock.now()
        new = _session(user, past.source, past.cwd, now)
        name, most = past.agent_session_id, self._limits.of(user).sessions
        return await self._store.transact(stored.adopt, user, name, new, now, most)

    async def step(self) -> None:
        """Notice terminals that were closed without a report."""
        await self._wake.wait(LOOK_SECONDS)
        for each in await self._store.transact(stored.all_open):
            try:
                await self._look(each)
            except NaviError:
                raise
            except Exception as error:
                log.exception("can't look after terminal %s", each.agent_session_id)
                why, now = reason_of(error), self._clock.now()
                await self._store.transact(stored.set_aside_terminal, each, why, now)

    async def _look(self, each: stored.Open) -> None:
        driver = self._drivers.get(each.driver)
        if driver is None:
            raise LookupError(f"there is no driver {each.driver!r}")
        if not await asyncio.to_thread(driver.is_open_elsewhere, each.agent_session_id):
            await self._store.transact(stored.close, each, self._clock.now())
            self._queue.poke()


def _session(user: User, driver: str, cwd: str, now: datetime) -> Session:
    """What becomes of a terminal that nobody knew."""
    session_id = new_id()
    name = generated_name(session_id, Path(cwd).name[:LONGEST_FOLDER_NAME] or "terminal")
    return Session.new(user.id, driver, cwd, now, id=session_id, name=name)
