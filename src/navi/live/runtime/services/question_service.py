"""Lists questions, accepts people's answers, and lets agents ask."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from navi.base.clock import Clock
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import User
from navi.live.model.question import (
    NewQuestion,
    Option,
    Question,
    QuestionAnswer,
    QuestionKind,
    QuestionState,
)
from navi.live.runtime.services.budget_service import BudgetService
from navi.live.runtime.services.session_service import SessionService
from navi.live.runtime.turns.admission import AdmissionService
from navi.live.runtime.turns.turn_questions import OpenQuestions
from navi.live.store import questions
from navi.live.store.engine.transactions import Store


class QuestionService:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        sessions: SessionService,
        admission: AdmissionService,
        open_questions: OpenQuestions,
        budgets: BudgetService,
    ) -> None:
        self._store = store
        self._clock = clock
        self._sessions = sessions
        self._admission = admission
        self._open_questions = open_questions
        self._budgets = budgets

    async def list_questions(
        self, user: User, session_id: str | None = None, state: QuestionState | None = None
    ) -> list[Question]:
        """The questions the user may see, newest first; of one session, or in one state."""
        if session_id is not None:
            await self._sessions.get(user, session_id)
        owner = None if user.is_admin else user.id
        return await self._store.transact(
            questions.list_questions, user_id=owner, session_id=session_id, state=state
        )

    async def get(self, user: User, question_id: str) -> Question:
        question = await self._store.transact(questions.get, question_id)
        await self._sessions.get(user, question.session_id)
        return question

    async def answer(
        self, caller: Caller, question_id: str, answer: QuestionAnswer, via: str
    ) -> Question:
        """Answer an open question. Only people can, and only the first answer counts."""
        caller.require_person()
        await self.get(caller.user, question_id)
        now, usual_day = self._clock.now(), self._budgets.usual_day
        question, admitted = await self._store.transact(
            questions.answer, question_id, answer, caller.user.id, via, now, usual_day
        )
        if question.is_about_budget:
            await self._budgets.show_released(question.call_id)
        if admitted is not None:
            self._admission.wake()
        return question

    async def ask_person(
        self,
        user: User,
        session_id: str,
        text: str,
        options: Sequence[str] = (),
        deadline: timedelta | None = None,
    ) -> Question:
        """Store an agent's question. Its answer is an input of the session."""
        title, _, detail = text.strip().partition("\n")
        new = NewQuestion(
            kind=QuestionKind.CHOICE if options else QuestionKind.TEXT,
            title=title,
            detail=detail.strip(),
            options=tuple(Option(label) for label in options),
            allow_free_text=True,
            outlives_turn=True,
            deadline=deadline,
        )
        return await self.ask(user, session_id, new)

    async def ask(self, user: User, session_id: str, new: NewQuestion) -> Question:
        """Store a question of the session's agent. The same call stores it only once."""
        await self._sessions.get_not_hidden(user, session_id)
        return await self._open_questions.store_question(session_id, None, new)

    async def withdraw(self, user: User, question_id: str) -> Question:
        """Close a question that the agent no longer asks."""
        await self.get(user, question_id)
        await self._open_questions.withdraw(question_id)
        return await self.get(user, question_id)
