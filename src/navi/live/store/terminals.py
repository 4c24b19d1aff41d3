"""Agents' own ids for sessions, and the terminals in which people run agents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, bindparam, exists, func, insert, select, update

from navi.base.errors import NotYours
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import User
from navi.live.model.event import Usage
from navi.live.model.hook_report import HookReport
from navi.live.model.input import Origin
from navi.live.model.session import Session, SessionState
from navi.live.store import sessions
from navi.live.store.damage import set_aside
from navi.live.store.engine.tables import agent_sessions, turns
from navi.live.store.lanes import Lane, lock
from navi.live.store.scheduling import compactions, reminders

_IS_OPEN = select(
    exists().where(agent_sessions.c.session_id == bindparam("session_id"), agent_sessions.c.is_open)
)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The agent's id for the session's current context, and the usage of its turns."""

    agent_session_id: str
    spent: Usage


def conversation(connection: Connection, session: Session) -> Conversation | None:
    """None if the agent has no id for the current context yet."""
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
    return Conversation(row.agent_session_id, Usage(*(int(tokens) for tokens in spent)))


def session_of(connection: Connection, agent_session_id: str) -> str | None:
    """The id of our session for this agent id; the newest if two agents use the same one."""
    session_id: str | None = connection.execute(
        select(agent_sessions.c.session_id)
        .where(agent_sessions.c.agent_session_id == agent_session_id)
        .order_by(agent_sessions.c.created_at.desc())
        .limit(1)
    ).scalar()
    return session_id


def remember(
    connection: Connection, session: Session, agent_session_id: str, now: datetime
) -> None:
    """Store the agent's id for the session, unless there is one: waking an agent keeps its id."""
    lock(connection, session.id)
    existing = connection.execute(
        select(agent_sessions.c.session_id).where(
            agent_sessions.c.session_id == session.id,
            agent_sessions.c.driver == session.driver,
            agent_sessions.c.context_from_idx == session.context_from_idx,
        )
    ).one_or_none()
    if existing is not None:
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


@dataclass(frozen=True, slots=True)
class OpenTerminal:
    """A session that is open in a person's terminal."""

    driver: str
    agent_session_id: str
    session_id: str


def is_open(connection: Connection, session: Session) -> bool:
    """Whether the session is open in a terminal.

    Its inputs then wait for that terminal, because two writers would fork the conversation.
    """
    return bool(connection.execute(_IS_OPEN, {"session_id": session.id}).scalar())


def list_open(connection: Connection) -> list[OpenTerminal]:
    rows = connection.execute(select(agent_sessions).where(agent_sessions.c.is_open))
    return [OpenTerminal(row.driver, row.agent_session_id, row.session_id) for row in rows]


def adopt(
    connection: Connection,
    user: User,
    agent_session_id: str,
    new: Session,
    now: datetime,
    limit: int | None = None,
) -> Session:
    """Return our session for this agent id. If there is none, create `new`."""
    session_id = session_of(connection, agent_session_id)
    if session_id is None:
        sessions.create(connection, new, limit)
        remember(connection, new, agent_session_id, now)
        return new
    session = lock(connection, session_id).session
    if not user.may_touch(session.user_id):
        raise NotYours(session_id)
    return session


def require_reporter(sender: Caller, session: Session) -> None:
    """Allow hooks to report only for their own user, and Navi's agents only for their own session.

    This applies to admins too. Anyone can be the first to report a session, and its queued inputs
    go to the terminal that reports next, so strangers must not be able to write there.
    """
    if session.user_id != sender.user.id:
        raise NotYours(session.id)
    sender.acting_session(session.id)


def report(
    connection: Connection,
    sender: Caller,
    report: HookReport,
    new: Session,
    now: datetime,
    limit: int | None = None,
) -> Session:
    """Store a hook's report. An unknown session becomes `new`, if the user's `limit` allows it."""
    session = adopt(connection, sender.user, report.agent_session_id, new, now, limit)
    require_reporter(sender, session)
    session_id = session.id
    lane = lock(connection, session_id)
    has_id = agent_sessions.c.agent_session_id == report.agent_session_id
    latest_at = connection.execute(select(agent_sessions.c.news_at).where(has_id)).scalar()
    if latest_at is not None and report.emitted_at < latest_at:
        return lane.session  # an older report never overrides a newer one
    # A session that another driver runs, such as tmux, does not wait for a person's terminal.
    is_open = report.is_open and report.driver == session.driver
    connection.execute(
        update(agent_sessions)
        .where(has_id)
        .values(is_open=is_open, news_at=report.emitted_at, transcript_path=report.transcript_path)
    )
    if report.prompt is not None:
        texts = [(report.prompt, Origin.USER)]
        session = sessions.set_opening(connection, lane.session, texts, lane.clamp(now))
        lane = replace(lane, session=session)
    _update_reminders(connection, lane, report, now)
    if report.state is None or (lane.turn_id is not None and report.state is SessionState.IDLE):
        return lane.session  # our own turn reports its end itself
    return sessions.bring_to(connection, lane, report.state, now)


def report_compaction(connection: Connection, sender: Caller, report: HookReport) -> None:
    """Store a compaction report from an agent run by Navi; its driver reports everything else."""
    session_id = session_of(connection, report.agent_session_id)
    if session_id is None:
        return
    require_reporter(sender, lock(connection, session_id).session)
    _record_compaction(connection, session_id, report)


def _record_compaction(connection: Connection, session_id: str, report: HookReport) -> None:
    if report.began_compaction:
        compactions.begin(connection, session_id, report.emitted_at)
    else:
        reminders.compaction_ended(connection, session_id, report.emitted_at)


def _update_reminders(
    connection: Connection, lane: Lane, report: HookReport, now: datetime
) -> None:
    session_id = lane.session.id
    _record_compaction(connection, session_id, report)
    if report.asks_what_next and lane.turn_id is None:
        # Outside our turns: a turn reports itself that its agent is idle.
        reminders.cancel(connection, session_id, now, as_of=report.emitted_at)


def mark_open(connection: Connection, session: Session, agent_session_id: str) -> None:
    """Mark the session as open in a terminal, although no hook reported it."""
    lock(connection, session.id)
    connection.execute(
        update(agent_sessions)
        .where(
            agent_sessions.c.session_id == session.id,
            agent_sessions.c.agent_session_id == agent_session_id,
        )
        .values(is_open=True)
    )


def close(connection: Connection, terminal: OpenTerminal, now: datetime) -> None:
    """Mark a terminal as closed although no hook reported it, and release its session's queue."""
    lane = lock(connection, terminal.session_id)
    connection.execute(
        update(agent_sessions)
        .where(
            agent_sessions.c.driver == terminal.driver,
            agent_sessions.c.agent_session_id == terminal.agent_session_id,
        )
        .values(is_open=False)
    )
    if lane.turn_id is None:
        sessions.bring_to(connection, lane, SessionState.IDLE, now)


def set_aside_terminal(
    connection: Connection, terminal: OpenTerminal, why: str, now: datetime
) -> None:
    """Set aside a terminal that can't be checked, so that nothing waits for it."""
    reference = set_aside.Reference(terminal.agent_session_id, terminal.session_id)
    set_aside.record(connection, "terminal", reference, why, now)
    has_id = agent_sessions.c.agent_session_id == terminal.agent_session_id
    connection.execute(update(agent_sessions).where(has_id).values(is_open=False))
    set_aside.show(connection, "terminal", reference, why, now)
