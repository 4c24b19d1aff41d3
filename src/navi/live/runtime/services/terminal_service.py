"""Makes Navi sessions for agents that people started in their own terminals.

An agent gets its session when its hooks report to the server, or when a person adopts a past
session from the memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from navi.base.clock import Clock
from navi.base.errors import Conflict, InvalidInput, NaviError, UsageLimit
from navi.base.ids import new_id
from navi.live.agents.driver import Driver
from navi.live.agents.usage_limits import is_usage_limit, limit_kind
from navi.live.model.access.caller import Caller
from navi.live.model.access.quota import Limits
from navi.live.model.access.user import User
from navi.live.model.hook_report import HookReport
from navi.live.model.question import NewQuestion, Question, question_id
from navi.live.model.session import Session, generated_name
from navi.live.model.turn import Ending, Outcome
from navi.live.model.usage_limit import Account
from navi.live.runtime.service import Service
from navi.live.runtime.services.memory_service import Resumable
from navi.live.runtime.services.terminal_questions import TerminalQuestions
from navi.live.runtime.turns.admission import AdmissionService
from navi.live.runtime.turns.turn_runner import TurnRunner, limit_ending
from navi.live.store import questions, steering, terminals
from navi.live.store.damage.set_aside import reason_of
from navi.live.store.engine.transactions import Store
from navi.vendors import registry
from navi.vendors.hooks import HookDialect

CHECK_SECONDS = 3.0
"""How long a terminal that closed without a report may hold up its session's inputs."""

LONGEST_FOLDER_NAME = 100
"""How many characters of its folder's name are used in a session's name."""

NUDGE_TIMEOUT = timedelta(seconds=0.5)
"""A hook that reported longer ago may have timed out (`NUDGE_SECONDS` in hook.py). Its nudges would
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
        limits: Limits,
    ) -> None:
        super().__init__()
        self._store = store
        self._clock = clock
        self._turns = turns
        self._admission = admission
        self._drivers = drivers
        self._vendors = registry.vendors()
        self._dialects = {
            name: dialect
            for name, vendor in self._vendors.items()
            if (dialect := vendor.hooks()) is not None
        }
        self._limits = limits
        self._questions = TerminalQuestions(store, clock, turns, drivers)

    def dialect(self, driver: str) -> HookDialect:
        """The hook protocol of this driver's agent."""
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

    async def ask(
        self,
        sender: Caller,
        report: HookReport,
        new: Sequence[NewQuestion],
        *,
        is_run_by_navi: bool,
    ) -> Sequence[Question] | None:
        """Pass the questions of an agent's dialog to a person, and wait as long as its hook may.

        Returns the closed questions; empty if the hook need not answer; None while they are open.
        """
        session = await self._store.transact(terminals.find_reported, sender, report)
        if is_run_by_navi:
            if session is None or session.driver == report.driver:
                return ()  # no dialog: the agent's driver asks instead
        elif session is None or not await self._has_asked(session, new[0]):
            session = await self._store_report(sender, replace(report, state=None))
        return await self._questions.ask(session.id, report, new)

    async def _has_asked(self, session: Session, new: NewQuestion) -> bool:
        id = question_id(session.id, new.call_id, new.fingerprint)
        return await self._store.transact(questions.find, id) is not None

    async def _store_report(self, sender: Caller, report: HookReport) -> Session:
        now = self._clock.now()
        new = _new_session(sender.user, report.driver, report.cwd, now)
        limit = self._limits.of(sender.user).sessions
        failure = await self._failure(report, new)
        return await self._store.transact(
            terminals.report, sender, report, new, now, limit, failure
        )

    async def _failure(self, report: HookReport, new: Session) -> terminals.Failure | None:
        """How the agent's turn failed, if it did. The transcript says more than the report."""
        if report.failure is None:
            return None
        driver, error = self._drivers.get(report.driver), None
        if driver is not None:
            error = await asyncio.to_thread(driver.last_failure, report.agent_session_id)
        if error is None and is_usage_limit(None, report.failure):
            error = UsageLimit(report.failure, limit_kind=limit_kind(None, report.failure))
        if isinstance(error, UsageLimit):
            ending = limit_ending(error, self._clock.now())
        else:
            ending = Ending(Outcome.ERROR, report.failure if error is None else error.sentence)
        account = Account.of(new) if driver is None else driver.account_of(new)
        return terminals.Failure(ending, account, self._turns.retry)

    async def report(self, sender: Caller, report: HookReport) -> str | None:
        """Store a hook's report. Returns the next prompt if the agent asks for one; else None."""
        if await self._ends_unknown_session(sender, report):
            return None
        session = await self._store_report(sender, report)
        if report.failure is not None:
            self._turns.mark_terminal_stopped(session.id)
        if report.asks_what_next:
            self._turns.mark_terminal_stopped(session.id)
            return await self._turns.hand_over(session)
        if not report.is_open:
            self._admission.wake()
        return None

    async def _ends_unknown_session(self, sender: Caller, report: HookReport) -> bool:
        """Whether this is the end of a session that never existed.

        Claude Code reports such an end for every command that starts no session, such as
        `claude mcp list`.
        """
        if report.is_open or report.transcript_path is None:
            return False
        if await self._store.transact(terminals.find_reported, sender, report) is not None:
            return False
        return not await asyncio.to_thread(Path(report.transcript_path).exists)

    async def report_compaction(self, sender: Caller, report: HookReport) -> None:
        """Record that an agent run by Navi has begun or ended a compaction."""
        await self._store.transact(terminals.report_compaction, sender, report)

    async def take_nudges(self, sender: Caller, report: HookReport) -> list[str]:
        """Deliver queued nudges to an agent that has just used a tool. Returns their texts."""
        now = self._clock.now()
        if report.finished_call is not None and self._questions.are_open:
            await self._store.transact(terminals.settle_call, sender, report, now)
        if not report.takes_nudges or now - report.emitted_at > NUDGE_TIMEOUT:
            return []
        return await self._store.transact(steering.take_for_agent, sender, report, new_id(), now)

    async def adopt(self, user: User, past: Resumable) -> Session:
        """Return the Navi session for a past session from the memory; create it if necessary."""
        driver = self._drivers.get(past.source)
        if driver is None or not driver.shares_sessions or past.agent_session_id is None:
            shared = [name for name, each in self._drivers.items() if each.shares_sessions]
            raise Conflict(
                f"Navi can't continue this session of {past.source}",
                hint="it can continue most sessions of " + " and ".join(shared),
            )
        if past.is_archived:
            raise Conflict("the session's file is gone, so its agent can't continue it")
        if past.cwd is None or not await asyncio.to_thread(Path(past.cwd).is_dir):
            raise Conflict(
                f"the session's folder ({past.cwd or 'unknown'}) is gone",
                hint="recreate the folder",
            )
        now = self._clock.now()
        new = _new_session(user, past.source, past.cwd, now)
        limit = self._limits.of(user).sessions
        return await self._store.transact(
            terminals.adopt, user, past.agent_session_id, new, now, limit
        )

    async def step(self) -> None:
        """Release the inputs of sessions whose terminals closed without a report."""
        await self._wake.wait(CHECK_SECONDS)
        await self._questions.withdraw_abandoned()
        for terminal in await self._store.transact(terminals.list_open):
            try:
                await self._close_if_gone(terminal)
            except NaviError:
                raise
            except Exception as error:
                log.exception("can't check terminal %s", terminal.agent_session_id)
                reason, now = reason_of(error), self._clock.now()
                await self._store.transact(terminals.set_aside_terminal, terminal, reason, now)

    async def _close_if_gone(self, terminal: terminals.OpenTerminal) -> None:
        driver = self._drivers.get(terminal.driver)
        if driver is None:
            raise LookupError(f"there is no driver {terminal.driver!r}")
        if not await asyncio.to_thread(driver.is_open_elsewhere, terminal.agent_session_id):
            await self._store.transact(terminals.close, terminal, self._clock.now())
            self._admission.wake()


def _new_session(user: User, driver: str, cwd: str, now: datetime) -> Session:
    """A session for a terminal that may not have one yet."""
    session_id = new_id()
    name = generated_name(session_id, Path(cwd).name[:LONGEST_FOLDER_NAME] or "terminal")
    return Session.new(user.id, driver, cwd, now, id=session_id, name=name)
