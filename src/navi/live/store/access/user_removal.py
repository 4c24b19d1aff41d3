"""Removes a user's access and ends everything that the user has running. Transcripts stay."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, Table, delete, func, select

from navi.base.errors import UserNotFound
from navi.live.model.access.user import Belongings
from navi.live.model.scheduling.automation import Ended
from navi.live.model.session import SessionState
from navi.live.store import lanes, sessions
from navi.live.store.engine.mappers import IS_PENDING
from navi.live.store.engine.tables import (
    answer_links,
    inbox_snoozes,
    login_codes,
    logins,
    message_queue,
    session_recalls,
    users,
)
from navi.live.store.engine.tables import lanes as lane_rows
from navi.live.store.engine.tables import sessions as session_rows
from navi.live.store.scheduling import automation_runs, automations, reminder_list

ACCESS = (logins, login_codes, answer_links)
"""The tables, besides `users`, whose rows give access as the user in their `user_id`."""


def survey(connection: Connection, user_id: str) -> Belongings:
    """What the user has, counted before removing the user."""
    if connection.execute(select(users.c.id).where(users.c.id == user_id)).one_or_none() is None:
        raise UserNotFound(user_id)
    owned = select(session_rows.c.id).where(session_rows.c.user_id == user_id)
    is_waiting = message_queue.c.delivered_at.is_(None), message_queue.c.session_id.in_(owned)
    is_running = lane_rows.c.user_id == user_id, lane_rows.c.turn_id.is_not(None)
    of_user = automations.list_automations(connection, user_id=user_id)

    def count(table: Table, *conditions: object) -> int:
        query = select(func.count()).select_from(table).where(*conditions)  # type: ignore[arg-type]
        return int(connection.execute(query).scalar_one())

    return Belongings(
        sessions=count(session_rows, session_rows.c.user_id == user_id),
        turns=count(lane_rows, *is_running),
        inputs=count(message_queue, *is_waiting),
        recalls=count(session_recalls, IS_PENDING, session_recalls.c.session_id.in_(owned)),
        automations=sum(each.enabled for each in of_user),
        reminders=len(reminder_list.upcoming(connection, user_id=user_id)),
    )


def remove(connection: Connection, user_id: str, now: datetime) -> Belongings:
    """End the user's access, their sessions, and everything scheduled. Returns what they had."""
    belongings = survey(connection, user_id)
    connection.execute(delete(users).where(users.c.id == user_id))
    for table in (*ACCESS, inbox_snoozes):
        connection.execute(delete(table).where(table.c.user_id == user_id))
    alive = (
        select(session_rows.c.id)
        .where(session_rows.c.user_id == user_id)
        .where(session_rows.c.state != SessionState.STOPPED)
        .order_by(session_rows.c.id)
    )
    for session_id in connection.execute(alive).scalars().all():
        sessions.kill(connection, session_id, now)
    # Killing the sessions has not ended automations that have no `session_key`.
    for automation in automations.list_automations(connection, user_id=user_id):
        if automation.enabled:
            lanes.lock(connection, automation.session_id)
            automation_runs.end(connection, automation, Ended.SESSION_ENDED, now)
    return belongings
