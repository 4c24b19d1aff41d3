"""What agents themselves call their sessions."""

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
    """The agent's own name for what a session sees now, and what its turns have used."""

    agent_session_id: str
    spent: Usage


def conversation(connection: Connection, session: Session) -> Conversation | None:
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
    """Our session of that name; the newest, should two agents ever choose the same one."""
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


@dataclass(frozen=True, slots=True)
class Open:
    """A session that somebody has open in a terminal."""

    driver: str
    agent_session_id: str
    session_id: str


def is_open(connection: Connection, session: Session) -> bool:
    """Whether its next input has to wait for a terminal: two writers would fork it."""
    return bool(connection.execute(_IS_OPEN, {"session_id": session.id}).scalar())


def all_open(connection: Connection) -> list[Open]:
    rows = connection.execute(select(agent_sessions).where(agent_sessions.c.is_open))
    return [Open(row.driver, row.agent_session_id, row.session_id) for row in rows]


def adopt(
    connection: Connection,
    user: User,
    agent_session_id: str,
    new: Session,
    now: datetime,
    most: int | None = None,
) -> Session:
    """Our session of that name. If there is none, it becomes one of ours: `new`."""
    session_id = session_of(connection, agent_session_id)
    if session_id is None:
        sessions.create(connection, new, most)
        remember(connection, new, agent_session_id, now)
        return new
    session = lock(connection, session_id).session
    if not user.may_touch(session.user_id):
        raise NotYours(session_id)
    return session


def require_reporter(sender: Caller, session: Session) -> None:
    """Hooks report for their own user only, and those of an agent of ours for its session only.

    That holds for admins, too. Anybody can be the first to report a session, and what waits in it
    is handed to the terminal that reports it next: strangers must not speak into that one.
    """
    if session.user_id != sender.user.id:
        raise NotYours(session.id)
    sender.acting_session(session.id)


def report(
    connection: Connection,
    sender: Caller,
    news: HookReport,
    new: Session,
    now: datetime,
    most: int | None = None,
) -> Session:
    """Keep what a hook said. Its session becomes `new` if the user has fewer than `most`."""
    session = adopt(connection, sender.user, news.agent_session_id, new, now, most)
    require_reporter(sender, session)
    session_id = session.id
    lane = lock(connection, session_id)
    name = agent_sessions.c.agent_session_id == news.agent_session_id
    known_at = connection.execute(select(agent_sessions.c.news_at).where(name)).scalar()
    if known_at is not None and news.emitted_at < known_at:
        return lane.session  # older news never overrides newer
    # A session that another driver runs, in a pane for one, does not wait for a person's terminal.
    is_open = news.is_open and news.driver == session.driver
    connection.execute(
        update(agent_sessions)
        .where(name)
        .values(is_open=is_open, news_at=news.emitted_at, transcript_path=news.transcript_path)
    )
    if news.prompt is not None:
        typed = [(news.prompt, Origin.USER)]
        session = sessions.open_with(connection, lane.session, typed, lane.not_before(now))
        lane = replace(lane, session=session)
    _tell_reminders(connection, lane, news, now)
    if news.state is None or (lane.turn_id is not None and news.state is SessionState.IDLE):
        return lane.session  # a turn of ours says itself when it has ended
    return sessions.bring_to(connection, lane, news.state, now)


def report_compaction(connection: Connection, sender: Caller, news: HookReport) -> None:
    """Keep what the hook of an agent said that Navi runs: its driver tells everything else."""
    session_id = session_of(connection, news.agent_session_id)
    if session_id is None:
        return
    require_reporter(sender, lock(connection, session_id).session)
    _tell_compaction(connection, session_id, news)


def _tell_compaction(connection: Connection, session_id: str, news: HookReport) -> None:
    if news.began_compaction:
        compactions.begin(connection, session_id, news.emitted_at)
    else:
        reminders.compaction_ended(connection, session_id, news.emitted_at)


def _tell_reminders(connection: Connection, lane: Lane, news: HookReport, now: datetime) -> None:
    session_id = lane.session.id
    _tell_compaction(connection, session_id, news)
    if news.asks_what_next and lane.turn_id is None:
        # At rest, outside of a turn of ours, which would say so itself.
        reminders.cancel(connection, session_id, now, known_at=news.emitted_at)


def mark_open(connection: Connection, session: Session, agent_session_id: str) -> None:
    """Somebody has it open, though no hook said so."""
    lock(connection, session.id)
    connection.execute(
        update(agent_sessions)
        .where(
            agent_sessions.c.session_id == session.id,
            agent_sessions.c.agent_session_id == agent_session_id,
        )
        .values(is_open=True)
    )


def close(connection: Connection, gone: Open, now: datetime) -> None:
    """Its terminal is gone, though no hook said so. What waits for it may go on."""
    lane = lock(connection, gone.session_id)
    connection.execute(
        update(agent_sessions)
        .where(
            agent_sessions.c.driver == gone.driver,
            agent_sessions.c.agent_session_id == gone.agent_session_id,
        )
        .values(is_open=False)
    )
    if lane.turn_id is None:
        sessions.bring_to(connection, lane, SessionState.IDLE, now)


def set_aside_terminal(connection: Connection, bad: Open, why: str, now: datetime) -> None:
    """The report of this terminal makes no sense: nothing waits for it any more."""
    reference = set_aside.Reference(bad.agent_session_id, bad.session_id)
    set_aside.record(connection, "terminal", reference, why, now)
    name = agent_sessions.c.agent_session_id == bad.agent_session_id
    connection.execute(update(agent_sessions).where(name).values(is_open=False))
    set_aside.show(connection, "terminal", reference, why, now)
