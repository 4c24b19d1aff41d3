"""Whether a session needs a person, and whether a person has seen its latest output."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from navi.live.model.input import NewInput, Origin
from navi.live.model.session import Session, SessionState
from navi.live.model.turn import Outcome


class Attention(StrEnum):
    WAITING = "waiting"
    """The agent is asking a person."""
    FAILED = "failed"
    """Its last turn failed, and no person has looked since."""
    FINISHED = "finished"
    """Its last turn ended, nothing is queued, and no person has looked since."""
    UNREAD = "unread"
    """It has new output, and is still working."""


NEEDS_PERSON = frozenset({Attention.WAITING, Attention.FAILED, Attention.FINISHED})
FAILURES = frozenset({Outcome.ERROR, Outcome.DENIED, Outcome.MAX_ITERATIONS, Outcome.LIMIT})


def attention_of(session: Session) -> Attention | None:
    """What a person should know about the session; None if there is nothing new.

    Answers of a child session are for its parent, unless a person asked to be notified.
    """
    if session.state is SessionState.WAITING or session.waiting_for is not None:
        return Attention.WAITING
    if session.state is SessionState.STOPPED or not session.unread:
        return None
    if session.state is SessionState.IDLE and _has_failed(session):
        return Attention.FAILED
    if session.parent_id is not None and not session.notify_person:
        return None
    is_working = session.state is SessionState.RUNNING or session.has_queue
    return Attention.UNREAD if is_working else Attention.FINISHED


def is_listed(session: Session) -> bool:
    """Whether lists show the session. They show an archived one only while it needs a person."""
    return not session.archived or attention_of(session) in NEEDS_PERSON


def after_input(session: Session, new: NewInput) -> Session:
    """The session after this input. One from a person marks it as read and un-archives it."""
    if new.origin not in (Origin.USER, Origin.ANSWER) or new.is_continuation:
        return session
    return replace(session, unread=False, notify_person=False, archived=False)


def after_turn(
    session: Session,
    outcome: Outcome,
    *,
    has_messages: bool,
    notifies_person: bool,
    retry_at: datetime | None = None,
) -> Session:
    """The session after a turn. A turn that somebody stopped does not mark it as unread.

    `retry_at` is set if the turn met a usage limit and its work continues later.
    """
    has_failed = outcome in FAILURES and retry_at is None
    is_news = outcome is not Outcome.STOPPED and (has_messages or has_failed)
    return replace(
        session,
        last_outcome=outcome,
        limit_until=retry_at or session.limit_until,
        unread=session.unread or is_news,
        notify_person=session.notify_person or notifies_person,
    )


def _has_failed(session: Session) -> bool:
    """Whether its last turn failed. One that met a limit has not failed if it will be retried."""
    is_retried = session.last_outcome is Outcome.LIMIT and session.limited_until is not None
    return session.last_outcome in FAILURES and not is_retried
