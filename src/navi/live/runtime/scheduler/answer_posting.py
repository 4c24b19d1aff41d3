"""Posts background automations' answers to a person's session, if they are worth reading.

A background automation runs in a hidden session, where nobody would see its answers.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from navi.base.clock import Clock
from navi.base.errors import NotFound
from navi.live.model.event import Event
from navi.live.model.message import NOTHING_TO_REPORT as NO_ANSWER
from navi.live.model.scheduling.automation import (
    Automation,
    Category,
    Delivery,
    RunState,
    is_hidden,
)
from navi.live.runtime.service import Service
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import automation_runs, background_answers

CHECK_SECONDS = 30.0
SILENT_ANSWER = "NOTHING_TO_REPORT"
"""The answer of a background agent that has nothing to report to a person."""

Judge = Callable[[str, str], Awaitable[bool]]
"""Decides whether an answer is worth reading. Called with the task and the answer."""

log = logging.getLogger("navi.automations")


async def evaluate_response(task: str, response: str, judge: Judge) -> bool:
    """Whether to post the response to a person. If in doubt, post it."""
    text = response.strip()
    if not text or text == NO_ANSWER or text.strip("`*. ") == SILENT_ANSWER:
        return False
    try:
        return await judge(task, text)
    except Exception:
        log.exception("can't judge an answer, so it is posted")
        return True


class AnswerPosting(Service):
    name = "answer posting"

    def __init__(self, store: Store, clock: Clock, judge: Judge) -> None:
        super().__init__()
        self._store = store
        self._clock = clock
        self._judge = judge

    def on_events(self, events: Sequence[Event]) -> None:
        """Called with every event this process has stored."""
        if any(event.type == "stream_end" and is_hidden(event.session_id) for event in events):
            self._wake.set()

    async def step(self) -> None:
        self._wake.clear()
        await self.settle_all()
        await self._wake.wait(CHECK_SECONDS)

    async def settle_all(self) -> None:
        """Post each pending answer, or record that it was not posted."""
        while answers := await self._store.transact(background_answers.list_pending):
            for pending in answers:
                # If the session to post to has just been deleted, the next round decides again.
                with suppress(NotFound):
                    await self._settle(pending)

    async def _settle(self, pending: background_answers.PendingAnswer) -> None:
        delivery, reason = await self._decide(pending)
        if delivery is Delivery.DELIVERED:
            await self._store.transact(background_answers.deliver, pending, self._clock.now())
        else:
            await self._store.transact(
                automation_runs.settle_delivery, pending.run.id, delivery, reason
            )

    async def _decide(
        self, pending: background_answers.PendingAnswer
    ) -> tuple[Delivery, str | None]:
        automation = pending.automation
        if automation is None or pending.answer is None:
            return Delivery.IMPOSSIBLE, "the automation or its answer is gone"
        is_wanted = automation.category is Category.SYSTEM or automation.target.deliver
        if not is_wanted or not await self._is_worth_posting(pending, automation):
            return Delivery.NOT_WORTH_IT, None
        if pending.target_id is None:
            target = automation.target
            name = f"session {target.channel}:{target.to}" if target.to else "session to post it in"
            return Delivery.IMPOSSIBLE, f"there is no {name}"
        return Delivery.DELIVERED, None

    async def _is_worth_posting(
        self, pending: background_answers.PendingAnswer, automation: Automation
    ) -> bool:
        if pending.run.state is RunState.FAILED:
            return True
        task = pending.run.rendered_prompt or automation.message
        return await evaluate_response(task, pending.text, self._judge)
