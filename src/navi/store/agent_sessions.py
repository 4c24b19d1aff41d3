"""What agents themselves call their sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, insert, select

from navi.domain.event import Usage
from navi.domain.session import Session
from navi.store.lanes import lock
from navi.store.tables import agent_sessions, turns


@dataclass(frozen=True, slots=True)
class Known:
    """The agent's own name for what a session sees now, and what its turns have used."""

    agent_session_id: str
    spent: Usage


def known(connection: Connection, session: Session) -> Known | None:
    row = connection.execute(
        select(agent_sessions.c.agent_session_id, agent_sessions.c.created_at).where(
            agent_sessions.c.session_id == session.id,
            agent_sessions.c.driver == session.driver,
            agent_sessions.c.context_from_idx == session.context_from_idx,
        )
    ).one_or_none()
    if row is None:
        return None
    spent = connection.execute(
        select(
            *(
                func.coalesce(func.sum(column), 0)
                for column in (
                    turns.c.input_tokens,
                    turns.c.output_tokens,
                    turns.c.cache_read_tokens,
                    turns.c.cache_creation_tokens,
                )
            )
        ).where(turns.c.session_id == session.id, turns.c.ended_at >= row.created_at)
    ).one()
    return Known(row.agent_session_id, Usage(*(int(tokens) for tokens in spent)))


def session_of(connection: Connection, agent_session_id: str) -> str | None:
    """Our session of that name; the newest, should two agents ever choose the same one."""
    found: str | None = connection.execute(
        select(agent_sessions.c.session_id)
        .where(agent_sessions.c.agent_session_id == agent_session_id)
        .order_by(agent_sessions.c.created_at.desc())
        .limit(1)
    ).scalar()
    return found


def remember(
    connection: Connection, session: Session, agent_session_id: str, now: datetime
) -> None:
    """Keep the name. The first one stays: an agent that is woken is woken by its own name."""
    lock(connection, session.id)
    known_name = connection.execute(
        select(agent_sessions.c.session_id).where(
            agent_sessions.c.session_id == session.id,
            agent_sessions.c.driver == session.driver,
            agent_sessions.c.context_from_idx == session.context_from_idx,
        )
    ).one_or_none()
    if known_name is not None:
        return
    connection.execute(
        insert(agent_sessions).values(
            driver=session.driver,
            agent_session_id=agent_session_id,
            session_id=session.id,
            context_from_idx=session.context_from_idx,
            is_open=False,
            created_at=now,
        )
    )
