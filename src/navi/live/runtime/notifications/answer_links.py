"""Links in notifications. Anyone who has such a link can answer its question, once."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from navi.base.clock import Clock
from navi.base.errors import InvalidInput
from navi.live.model.access.caller import Caller
from navi.live.model.question import Decision, Question, QuestionAnswer
from navi.live.runtime.services.question_service import QuestionService
from navi.live.runtime.services.server_token import TOKEN_BYTES, digest
from navi.live.store.access import answer_links, users
from navi.live.store.engine.transactions import Store

VIA = "notification"


class AnswerLinks:
    def __init__(
        self, store: Store, clock: Clock, questions: QuestionService, public_url: str | None
    ) -> None:
        self._store = store
        self._clock = clock
        self._questions = questions
        self._public_url = None if public_url is None else public_url.rstrip("/")

    def page(self, session_id: str | None) -> str | None:
        """The address of the session on the page; None if the server has no public address."""
        if self._public_url is None:
            return None
        return f"{self._public_url}/" + ("" if session_id is None else f"#/sessions/{session_id}")

    async def make(self, question_ids: Iterable[str], user_id: str) -> dict[str, str]:
        """A new link for each question; none if the server has no public address."""
        if self._public_url is None:
            return {}
        tokens = {each: secrets.token_urlsafe(TOKEN_BYTES) for each in question_ids}
        if tokens:
            by_digest = {digest(token): each for each, token in tokens.items()}
            now = self._clock.now()
            await self._store.transact(answer_links.add, by_digest, user_id, now)
        return {each: f"{self._public_url}/a/{token}" for each, token in tokens.items()}

    async def question(self, token: str) -> Question:
        """The question that the link answers, open or not."""
        caller, question_id = await self._find(token)
        return await self._questions.get(caller.user, question_id)

    async def answer(self, token: str, answer: QuestionAnswer) -> Question:
        """Answer through a link. A link can't write rules or change a tool's input."""
        if answer.decision is Decision.ALLOW_ALWAYS or answer.updated_input is not None:
            raise InvalidInput(
                "this link can only allow, deny, choose or reply",
                hint="open Navi's page for everything else",
            )
        caller, question_id = await self._find(token)
        return await self._questions.answer(caller, question_id, answer, VIA)

    async def _find(self, token: str) -> tuple[Caller, str]:
        question_id, user_id = await self._store.transact(answer_links.find, digest(token))
        user = await self._store.transact(users.get, user_id, self._clock.now())
        return Caller(user), question_id
