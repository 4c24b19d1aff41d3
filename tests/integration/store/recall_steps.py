"""Recalls in a store."""

from __future__ import annotations

from datetime import timedelta

from navi.base.ids import new_id
from navi.live.model.scheduling.recall import CallType, Recall, RecallStatus
from navi.live.model.session import Session
from tests.store_world import World

MINUTE = timedelta(minutes=1)


def a_recall(world: World, session: Session, interval: int | None = None) -> Recall:
    """A recall that is due in a minute."""
    return Recall(
        id=new_id(),
        session_id=session.id,
        call_type=CallType.ONCE if interval is None else CallType.RECURRING,
        trigger_at=world.now + MINUTE,
        due_at=world.now + MINUTE,
        interval_seconds=interval,
        internal_comment=None,
        additional_context_message="Read build.log",
        status=RecallStatus.PENDING,
        outcome=None,
        error=None,
        missed_count=0,
        created_at=world.now,
        updated_at=world.now,
    )
