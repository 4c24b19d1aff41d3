"""The answers of background automations, and the sessions in which they are posted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, or_, select

from navi.live.model.input import Origin
from navi.live.model.message import Message, MessageRole, Notice
from navi.live.model.scheduling.automation import (
    HIDDEN_PREFIX,
    Automation,
    Category,
    Delivery,
    Run,
    RunState,
)
from navi.live.model.session import SessionState
from navi.live.store import transcript
from navi.live.store.engine.tables import sessions
from navi.live.store.lanes import lock
from navi.live.store.scheduling import automation_runs, automations


@dataclass(frozen=True, slots=True)
class PendingAnswer:
    """An answer that has been neither posted nor dropped yet."""

    run: Run
    automation: Automation | None
    answer: Message | None
    target_id: str | None
    """The session in which to post it; None if there is no such session."""

    @property
    def text(self) -> str:
        """The text to post: the answer, or the error of a failed run."""
        if self.run.state is RunState.FAILED and self.automation is not None:
            why = (self.run.error or "").strip().splitlines()[-1:]
            return f"Automation {self.automation.name} failed: {''.join(why)}"
        return "" if self.answer is None else self.answer.content


def list_pending(connection: Connection) -> list[PendingAnswer]:
    return [_pending(connection, run) for run in automation_runs.to_deliver(connection)]


def deliver(connection: Connection, pending: PendingAnswer, now: datetime) -> bool:
    """Post the answer in its target session. False if another process has already done so."""
    assert pending.answer is not None
    assert pending.automation is not None
    assert pending.target_id is not None
    lane = lock(connection, pending.target_id)
    if not automation_runs.settle_delivery(connection, pending.run.id, Delivery.DELIVERED):
        return False
    now = lane.clamp(now)
    metadata = {
        "automation_id": pending.automation.id,
        "automation_name": pending.automation.name,
        "automation_run_id": pending.run.id,
    }
    notice = Notice(
        f"{pending.run.id}.delivered",
        pending.text,
        Origin.AUTOMATION,
        metadata,
        role=MessageRole.ASSISTANT,
    )
    transcript.post(connection, lane, notice, now)
    return True


def _pending(connection: Connection, run: Run) -> PendingAnswer:
    automation = automations.find(connection, run.automation_id)
    answer = transcript.find(connection, run.response_message_id or "")
    target_id = None if automation is None else _target(connection, automation)
    return PendingAnswer(run, automation, answer, target_id)


def _target(connection: Connection, automation: Automation) -> str | None:
    """The session that a legacy automation names; for any other, the user's latest session."""
    query = (
        select(sessions.c.id)
        .where(
            sessions.c.user_id == automation.user_id,
            sessions.c.id.not_like(f"{HIDDEN_PREFIX}%"),
            sessions.c.state != SessionState.STOPPED.value,
        )
        .order_by(sessions.c.updated_at.desc())
        .limit(1)
    )
    if automation.category is Category.LEGACY:
        channel, to = automation.target.channel or "", automation.target.to or ""
        ids_or_names = [text for text in (to, f"{channel}:{to}") if text.strip(":")]
        query = query.where(or_(sessions.c.id.in_(ids_or_names), sessions.c.name.in_(ids_or_names)))
    session_id: str | None = connection.execute(query).scalar()
    return session_id
