"""Questions that agents also ask in dialogs of their own terminals. The first answer counts.

While the dialog is open, the agent's hook repeats its request, so it survives a restart of the
server. An answer given in Navi closes the dialog through the hook's response. If the person has
answered in the dialog first, the agent ignores that response.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from navi.base.clock import Clock
from navi.live.agents.driver import Driver
from navi.live.model.hook_report import HookReport
from navi.live.model.question import (
    Decision,
    NewQuestion,
    Question,
    QuestionNotFound,
    question_id,
)
from navi.live.model.session import SessionState
from navi.live.runtime.turns.turn_runner import TurnRunner
from navi.live.store import terminals
from navi.live.store.engine.transactions import Store

POLL_SECONDS = 20.0
"""How long a hook waits for one response; less than `POLL_SECONDS` in hook.py."""
CHECK_SECONDS = 0.5
"""How often to check whether the person has answered in the terminal."""
CHECKS = 2
"""How many checks in a row must find no open dialog. One is not enough: the agent records its
dialog only at about the time at which it starts its hook."""
SILENCE = timedelta(minutes=1)
"""A hook that has sent no request for this long is dead, and could not pass on an answer."""


class TerminalQuestions:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        turns: TurnRunner,
        drivers: Mapping[str, Driver],
    ) -> None:
        self._store = store
        self._clock = clock
        self._turns = turns
        self._questions = turns.questions
        self._drivers = drivers
        self._last_asked_at: dict[str, datetime] = {}
        """When a hook last asked each open question, by id."""

    async def ask(
        self, session_id: str, report: HookReport, new: Sequence[NewQuestion]
    ) -> Sequence[Question] | None:
        """The closed questions; empty if the hook need not answer; None while they are open."""
        ids = [question_id(session_id, each.call_id, each.fingerprint) for each in new]
        tasks = [asyncio.create_task(self._turns.ask_in_terminal(session_id, each)) for each in new]
        self._record_request(ids)
        try:
            return await self._closed(ids, session_id, report, tasks)
        finally:
            self._record_request(ids)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def are_open(self) -> bool:
        """Whether any hook is waiting, or was a moment ago."""
        return bool(self._last_asked_at)

    async def withdraw_abandoned(self) -> None:
        """Withdraw the questions whose hooks have died."""
        now = self._clock.now()
        for id, last_asked_at in list(self._last_asked_at.items()):
            if now - last_asked_at > SILENCE:
                del self._last_asked_at[id]
                with suppress(QuestionNotFound):
                    await self._questions.withdraw(id)

    def _record_request(self, ids: Sequence[str]) -> None:
        self._last_asked_at.update(dict.fromkeys(ids, self._clock.now()))

    async def _closed(
        self,
        ids: Sequence[str],
        session_id: str,
        report: HookReport,
        tasks: Sequence[asyncio.Task[Question]],
    ) -> Sequence[Question] | None:
        loop = asyncio.get_running_loop()
        ends_at, checks = loop.time() + POLL_SECONDS, 0
        still_open = set(tasks)
        while loop.time() < ends_at:
            done, still_open = await asyncio.wait(
                still_open, timeout=CHECK_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if not still_open:
                return _answers([task.result() for task in tasks])
            if any(_is_refusal(task.result()) for task in done):
                # The agent gets no answer to the others.
                for id in ids:
                    await self._questions.withdraw(id)
                continue
            state = await self._state(report)
            checks = 0 if done or state in (None, SessionState.WAITING) else checks + 1
            if checks == CHECKS:
                now = self._clock.now()
                await self._store.transact(terminals.settle, session_id, state, now)
                return ()
        return None

    async def _state(self, report: HookReport) -> SessionState | None:
        driver = self._drivers.get(report.driver)
        if driver is None:
            return None
        return await asyncio.to_thread(driver.state_in_terminal, report.agent_session_id)


def _answers(closed: Sequence[Question]) -> Sequence[Question]:
    """The answers for the agent; empty if a person has answered in the terminal."""
    is_answered = all(each.answer is not None for each in closed)
    return closed if is_answered or any(map(_is_refusal, closed)) else ()


def _is_refusal(question: Question) -> bool:
    return question.answer is not None and question.answer.decision is Decision.DENY
