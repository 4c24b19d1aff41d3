"""Agents' own ids for sessions, and the terminals in which people run agents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, bindparam, exists, func, insert, select, update

from navi.base.errors import NotYours
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import User
from navi.live.model.event import Usage
from navi.live.model.hook_report import FinishedCall, HookReport
from navi.live.model.input import Origin
from navi.live.model.notification import of_turn
from navi.live.model.question import TERMINAL
from navi.live.model.session import Session, SessionState
from navi.live.model.turn import Ending, Outcome
from navi.live.model.usage_limit import Account, RetryPolicy
from navi.live.store import notifications, questions, sessions, usage_limits
from navi.live.store.damage import set_aside
from navi.live.store.engine.tables import agent_sessions, turns
from navi.live.store.lanes import Lane, lock
from navi.live.store.scheduling import compactions, reminders


@dataclass(frozen=True, slots=True)
class Failure:
    """How an agent's turn in a person's terminal failed, and the account it belongs to."""

    ending: Ending
    account: Account
    retry: RetryPolicy


_IS_OPEN = select(
    exists().where(agent_sessions.c.session_id == bindparam("session_id"), agent_sessions.c.is_open)
)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The agent's id for the session's current context, and the usage of its turns."""

    agent_session_id: str
    usage: Usage


def conversation(connection: Connection, session: Session) -> Conversation | None:
    """The session's current conversation; None if the agent has no id for it yet."""
    row = connection.execute(
        select(agent_sessions.c.agent_session_id, agent_sessions.c.created_at).where(
            agent_sessions.c.session_id == session.id,
            agent_sessions.c.driver == session.driver,
            agent_sessions.c.context_from_idx == session.context_from_idx,
        )
    ).one_or_none()
    if row is None:
        return None
    sums = connection.execute(
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
    fresh, output, read, written = (int(tokens) for tokens in sums)
    return Conversation(row.agent_session_id, Usage(fresh, output, read, written))


def session_id_of(connection: Connection, agent_session_id: str) -> str | None:
    """The id of the session with this agent's own id; the newest if two agents use the same id."""
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
    """Store the agent's id for the session's current context, unless one is stored already."""
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
    """A person's terminal, and the session that is open in it."""

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
    """Return the session with this agent's own id. If there is none, create `new`."""
    session_id = session_id_of(connection, agent_session_id)
    if session_id is None:
        sessions.create(connection, new, limit)
        remember(connection, new, agent_session_id, now)
        return new
    session = lock(connection, session_id).session
    if not user.may_touch(session.user_id):
        raise NotYours(session_id)
    return session


def find_reported(connection: Connection, sender: Caller, report: HookReport) -> Session | None:
    """The session that the report is about; None if it is unknown."""
    session_id = session_id_of(connection, report.agent_session_id)
    if session_id is None:
        return None
    session = lock(connection, session_id).session
    require_reporter(sender, session)
    return session


def require_reporter(sender: Caller, session: Session) -> None:
    """Allow hooks to report only for their own user, and Navi's agents only for their own session.

    This applies to admins too. A session belongs to the user who reports it first, and that user's
    inputs go to the terminal that reports it next. That must not be somebody else's terminal.
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
    failure: Failure | None = None,
) -> Session:
    """Store a hook's report. Creates `new` if the session is unknown and `limit` allows it.

    `failure` is what ended the agent's turn, if it failed.
    """
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
        if lane.turn_id is None:  # During Navi's turns, Navi writes the prompts.
            session = sessions.mark_seen(connection, session, lane.clamp(now))
        lane = replace(lane, session=session)
    if failure is not None and lane.turn_id is None:  # Navi's own turn reports its failure itself
        lane = _fail(connection, lane, report, failure, now)
    _update_reminders(connection, lane, report, now)
    if report.finished_call is not None or report.shows_no_dialog:
        via = TERMINAL if report.is_open else None
        lane = _settle(connection, lane, now, via, report.finished_call)
    if lane.session.waiting_for is not None:
        return lane.session  # it waits for an answer, whatever else the agent does
    if report.state is None or (lane.turn_id is not None and report.state is SessionState.IDLE):
        return lane.session  # Navi's own turn reports its end itself
    return sessions.bring_to(connection, lane, report.state, now)


def report_compaction(connection: Connection, sender: Caller, report: HookReport) -> None:
    """Store a compaction report from an agent run by Navi; its driver reports everything else."""
    session_id = session_id_of(connection, report.agent_session_id)
    if session_id is None:
        return
    require_reporter(sender, lock(connection, session_id).session)
    _record_compaction(connection, session_id, report)


def _record_compaction(connection: Connection, session_id: str, report: HookReport) -> None:
    if report.began_compaction:
        compactions.begin(connection, session_id, report.emitted_at)
    else:
        reminders.end_compaction(connection, session_id, report.emitted_at)


def _update_reminders(
    connection: Connection, lane: Lane, report: HookReport, now: datetime
) -> None:
    session_id = lane.session.id
    _record_compaction(connection, session_id, report)
    if report.asks_what_next and lane.turn_id is None:
        # During Navi's turns, the end of the turn cancels reminders.
        reminders.cancel(connection, session_id, now, as_of=report.emitted_at)


def _fail(
    connection: Connection, lane: Lane, report: HookReport, failure: Failure, now: datetime
) -> Lane:
    """Record that the agent's own turn failed, and its account's usage limit if it met one."""
    ending, session_id, now = failure.ending, lane.session.id, lane.clamp(now)
    if ending.outcome is Outcome.LIMIT:
        usage_limits.record_limit_in_terminal(
            connection, lane.session, failure.account, ending, failure.retry, now
        )
    changes = {"last_outcome": ending.outcome, "unread": True}
    session = sessions.change(connection, session_id, changes, now)
    failed = replace(session, state=SessionState.IDLE)
    key = f"{session_id}.{report.emitted_at.timestamp():.6f}"
    if (notification := of_turn(failed, key, ending.error or "", now)) is not None:
        notifications.add(connection, notification)
    return replace(lane, session=session)


def settle(
    connection: Connection, session_id: str, state: SessionState | None, now: datetime
) -> None:
    """Close the questions that a person has answered in the session's terminal.

    `state` is the agent's current state, if it is known.
    """
    lane = _settle(connection, lock(connection, session_id), now, TERMINAL)
    if state is not None and lane.turn_id is None and lane.session.waiting_for is None:
        sessions.bring_to(connection, lane, state, now)


def settle_call(connection: Connection, sender: Caller, report: HookReport, now: datetime) -> None:
    """Close the question about a call that has run: the person has allowed it in the terminal."""
    session = find_reported(connection, sender, report)
    if session is not None and report.finished_call is not None:
        _settle(connection, lock(connection, session.id), now, TERMINAL, report.finished_call)


def _settle(
    connection: Connection,
    lane: Lane,
    now: datetime,
    via: str | None,
    call: FinishedCall | None = None,
) -> Lane:
    """Close the question about a call that has run, or all that were asked in the terminal."""
    if lane.session.waiting_for is None:
        return lane
    dialogs = questions.open_questions(connection, lane.session.id)
    dialogs = [each for each in dialogs if each.is_in_terminal]
    if call is not None:
        content = (call.tool_name, call.tool_input)
        dialogs = [each for each in dialogs if (each.tool_name, each.tool_input) == content][:1]
    for question in dialogs:
        lane = questions.withdraw_all(connection, lane, now, only=question.id, via=via)
    return lane


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
    lane = _settle(connection, lane, now, None)
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
