"""Lets running turns ask a person, and wait for the answer without holding a slot."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from navi.base.clock import Clock
from navi.live.model.permission_policy import PermissionPolicy, policy_of
from navi.live.model.question import (
    TERMINAL,
    NewQuestion,
    Question,
    QuestionAnswer,
    QuestionState,
)
from navi.live.model.question_deadline import question_deadline
from navi.live.model.turn import Turn
from navi.live.runtime.settings import QuestionSettings
from navi.live.runtime.turns.turn_slots import TurnSlots
from navi.live.store import questions
from navi.live.store.engine.transactions import Store
from navi.permissions.tool_risk import is_listed, risk_of

CHECK_SECONDS = 30.0
"""How often to look for an answer whose signal was missed."""


class OpenQuestions:
    """The open questions that this process's turns wait for."""

    def __init__(
        self, store: Store, clock: Clock, slots: TurnSlots, settings: QuestionSettings
    ) -> None:
        self._store = store
        self._clock = clock
        self._slots = slots
        self._settings = settings
        self._closed: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._waiting: Counter[str] = Counter()
        """How many open questions each turn waits for."""
        self.on_free_slot: Callable[[], None] = lambda: None
        """Called when a waiting turn has freed its slot."""

    async def store_question(
        self, session_id: str, turn: Turn | None, new: NewQuestion
    ) -> Question:
        """Store the question, and return it. The same call stores it only once."""
        risk = None if new.tool_name is None else risk_of(new.tool_name, new.tool_input or {})
        now = self._clock.now()
        turn_id = None if turn is None else turn.id
        deadline = None if new.waits_forever else await self._deadline(session_id, turn, new)
        question = Question.create(new, session_id, turn_id, now, deadline, risk)
        answer = None if turn is None else self._decide(turn, new)
        if answer is not None:
            question = question.closed(QuestionState.ANSWERED, answer, None, "policy", now)
        return await self._store.transact(questions.ask, question, turn, now)

    async def _deadline(
        self, session_id: str, turn: Turn | None, new: NewQuestion
    ) -> timedelta | None:
        if turn is not None:
            session, metadata = turn.session, turn.input.metadata
        else:
            session, metadata = await self._store.transact(
                questions.session_and_metadata, session_id, self._clock.now()
            )
        minutes = session.question_deadline_minutes
        return question_deadline(new.deadline, minutes, metadata, self._settings.deadline)

    def policy_of(self, turn: Turn) -> PermissionPolicy:
        settings = self._settings
        return policy_of(
            turn.session.on_permission,
            turn.input.metadata,
            settings.on_permission,
            tuple(settings.allow),
        )

    def _decide(self, turn: Turn, new: NewQuestion) -> QuestionAnswer | None:
        """The answer that the turn's policy gives; None if a person is to decide."""
        policy, arguments = self.policy_of(turn), new.tool_input or {}
        listed = new.tool_name is not None and is_listed(policy.rules, new.tool_name, arguments)
        return policy.decide(new, is_listed=listed)

    async def ask(self, turn: Turn, new: NewQuestion) -> Question:
        """Ask, and return the question once it is closed. The turn holds no slot until then."""
        question = await self.store_question(turn.session.id, turn, new)
        if question.is_open:
            self._pause(turn.id)
            try:
                question = await self._wait(question.id)
            finally:
                self._resume(turn.id)
        return question

    async def ask_without_turn(self, session_id: str, new: NewQuestion) -> Question:
        """Ask, without a deadline, and return the question once it is closed."""
        new = replace(new, waits_forever=True)
        question = await self.store_question(session_id, None, new)
        return await self._wait(question.id) if question.is_open else question

    async def withdraw(self, question_id: str) -> None:
        """Close a question that the agent no longer asks."""
        await self._store.transact(questions.withdraw, question_id, self._clock.now())

    async def settle(self, question_id: str) -> None:
        """Close a question that a person has answered in the agent's terminal."""
        await self._store.transact(questions.withdraw, question_id, self._clock.now(), TERMINAL)

    def on_answer(self, question_id: str) -> None:
        """Check this question again. If the id is empty, signals may be lost: check them all."""
        ids = list(self._closed) if not question_id else [question_id]
        for each in ids:
            if each in self._closed:
                self._closed[each].set()

    async def _wait(self, question_id: str) -> Question:
        signal = self._closed[question_id]
        try:
            while True:
                signal.clear()
                question = await self._store.transact(questions.get, question_id)
                if not question.is_open:
                    return question
                try:
                    async with asyncio.timeout(CHECK_SECONDS):
                        await signal.wait()
                except TimeoutError:
                    pass
        finally:
            self._closed.pop(question_id, None)

    def _pause(self, turn_id: str) -> None:
        self._waiting[turn_id] += 1
        if self._waiting[turn_id] == 1:
            self._slots.pause(turn_id)
            self.on_free_slot()

    def _resume(self, turn_id: str) -> None:
        self._waiting[turn_id] -= 1
        if not self._waiting[turn_id]:
            del self._waiting[turn_id]
            self._slots.resume(turn_id)
