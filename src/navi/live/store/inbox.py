"""Reads what waits for a person from sessions, questions and automations, and stores snoozes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, tzinfo

from sqlalchemy import Connection, and_, delete, func, insert, or_, select

from navi.live.model.inbox import InboxItem, LastTurn, Snooze, find, inbox_of, without_snoozed
from navi.live.model.question import QuestionState
from navi.live.model.scheduling.automation import Ended
from navi.live.model.session import Session, SessionState
from navi.live.store import questions
from navi.live.store.engine.mappers import SESSIONS, session_of
from navi.live.store.engine.tables import inbox_snoozes, sessions, turns
from navi.live.store.scheduling import automations


def items(
    connection: Connection,
    *,
    owner_id: str | None,
    reader_id: str,
    now: datetime,
    timezone: tzinfo,
    with_snoozed: bool = False,
) -> list[InboxItem]:
    """The items of one user's sessions, or of everyone's if `owner_id` is None.

    Leaves out items that `reader_id` has snoozed.
    """
    snoozes = _snoozes(connection, reader_id)
    all_items = _all_items(connection, owner_id, now, timezone)
    return without_snoozed(all_items, snoozes, now, keep_snoozed=with_snoozed)


def get(
    connection: Connection,
    item_id: str,
    *,
    owner_id: str | None,
    now: datetime,
    timezone: tzinfo,
) -> InboxItem:
    """The item, even if it is snoozed. Raises `InboxItemNotFound` if it no longer waits."""
    return find(_all_items(connection, owner_id, now, timezone), item_id)


def snooze(connection: Connection, user_id: str, new: Snooze) -> None:
    """Store the snooze, replacing an earlier one of the same item, and delete expired ones."""
    is_theirs = inbox_snoozes.c.user_id == user_id
    is_over = inbox_snoozes.c.until <= new.snoozed_at
    is_replaced = inbox_snoozes.c.item_id == new.item_id
    connection.execute(delete(inbox_snoozes).where(is_theirs, or_(is_over, is_replaced)))
    connection.execute(
        insert(inbox_snoozes).values(
            user_id=user_id, item_id=new.item_id, snoozed_at=new.snoozed_at, until=new.until
        )
    )


def _snoozes(connection: Connection, user_id: str) -> list[Snooze]:
    query = select(inbox_snoozes).where(inbox_snoozes.c.user_id == user_id)
    return [Snooze(row.item_id, row.snoozed_at, row.until) for row in connection.execute(query)]


def _all_items(
    connection: Connection, owner_id: str | None, now: datetime, timezone: tzinfo
) -> list[InboxItem]:
    open_questions = questions.list_questions(
        connection, user_id=owner_id, state=QuestionState.OPEN
    )
    switched_off = [
        automation
        for automation in automations.list_automations(connection, user_id=owner_id)
        if automation.ended is Ended.FAILED
    ]
    session_ids = {question.session_id for question in open_questions}
    session_ids |= {automation.session_id for automation in switched_off}
    relevant = _sessions(connection, owner_id, session_ids)
    last_turns = _last_turns(connection, [each.id for each in relevant if each.unread])
    return inbox_of(relevant, open_questions, switched_off, last_turns, now, timezone)


def _sessions(
    connection: Connection, owner_id: str | None, session_ids: Iterable[str]
) -> list[Session]:
    needs_person = or_(
        sessions.c.unread,
        sessions.c.state == SessionState.WAITING.value,
        sessions.c.paused_by.is_not(None),
    )
    query = SESSIONS.where(or_(needs_person, sessions.c.id.in_(list(session_ids))))
    if owner_id is not None:
        query = query.where(sessions.c.user_id == owner_id)
    return [session_of(row) for row in connection.execute(query)]


def _last_turns(connection: Connection, session_ids: list[str]) -> dict[str, LastTurn]:
    latest = (
        select(turns.c.session_id, func.max(turns.c.ended_at).label("ended_at"))
        .where(turns.c.session_id.in_(session_ids))
        .group_by(turns.c.session_id)
        .subquery()
    )
    query = select(turns.c.session_id, turns.c.error, turns.c.ended_at).join(
        latest,
        and_(turns.c.session_id == latest.c.session_id, turns.c.ended_at == latest.c.ended_at),
    )
    return {row.session_id: LastTurn(row.error, row.ended_at) for row in connection.execute(query)}
