from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from navi.live.model.attention import after_input, after_turn, attention_of, is_listed
from navi.live.model.input import NewInput, Origin
from navi.live.model.session import Session, SessionState
from navi.live.model.turn import Outcome

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
SESSION = Session.new("local", "builtin", "/", NOON)
IDLE, RUNNING, WAITING, STOPPED = SessionState
OK, DENIED, ERROR, BY_REQUEST, MAX_ITERATIONS, LIMIT = Outcome
CHILD = {"parent_id": "lead"}
WANTED = {"parent_id": "lead", "notify_person": True}
QUEUE = {"has_queue": True}


@pytest.mark.parametrize(
    ("state", "outcome", "unread", "more", "attention"),
    [
        # The agent asks a person, whatever happened before.
        (WAITING, None, False, {}, "waiting"),
        (WAITING, ERROR, True, {}, "waiting"),
        (WAITING, OK, False, CHILD, "waiting"),
        # It failed, and nobody has looked.
        (IDLE, ERROR, True, {}, "failed"),
        (IDLE, DENIED, True, {}, "failed"),
        (IDLE, MAX_ITERATIONS, True, {}, "failed"),
        (IDLE, LIMIT, True, {}, "failed"),
        (IDLE, ERROR, True, QUEUE, "failed"),
        (IDLE, ERROR, True, CHILD, "failed"),
        (IDLE, ERROR, False, {}, None),
        # It finished, and nobody has looked.
        (IDLE, OK, True, {}, "finished"),
        (IDLE, BY_REQUEST, True, {}, "finished"),
        (IDLE, None, True, {}, "finished"),
        (IDLE, OK, False, {}, None),
        # It said something new, and goes on.
        (IDLE, OK, True, QUEUE, "unread"),
        (RUNNING, OK, True, {}, "unread"),
        (RUNNING, ERROR, True, {}, "unread"),
        (RUNNING, OK, False, {}, None),
        # A parent reads the answers of its child, unless a person wants to.
        (IDLE, OK, True, CHILD, None),
        (RUNNING, OK, True, CHILD, None),
        (IDLE, OK, True, WANTED, "finished"),
        (RUNNING, OK, True, WANTED, "unread"),
        (IDLE, OK, False, WANTED, None),
        # It was killed.
        (STOPPED, ERROR, True, {}, None),
        (STOPPED, OK, True, {}, None),
    ],
)
def test_the_attention_of_a_session(state, outcome, unread, more, attention) -> None:
    session = replace(SESSION, state=state, last_outcome=outcome, unread=unread, **more)
    assert attention_of(session) == attention


@pytest.mark.parametrize(
    ("outcome", "has_messages", "unread"),
    [
        (OK, True, True),
        (OK, False, False),
        (ERROR, False, True),
        (LIMIT, False, True),
        (DENIED, True, True),
        (MAX_ITERATIONS, True, True),
        # Whoever stopped it knows.
        (BY_REQUEST, True, False),
    ],
)
def test_a_turn_is_news_if_it_said_something_or_failed(outcome, has_messages, unread) -> None:
    after = after_turn(SESSION, outcome, has_messages=has_messages, notifies_person=False)
    assert (after.unread, after.last_outcome) == (unread, outcome)


def test_what_was_unread_stays_so_when_the_next_turn_is_stopped() -> None:
    unread = replace(SESSION, unread=True)
    assert after_turn(unread, BY_REQUEST, has_messages=True, notifies_person=False).unread


def test_a_person_who_writes_has_seen_the_session_and_an_agent_has_not() -> None:
    session = replace(SESSION, unread=True, archived=True, notify_person=True)
    written = NewInput("input-1", session.id, "hello")
    from_people = {Origin.USER, Origin.ANSWER}
    for origin in from_people:
        seen = after_input(session, replace(written, origin=origin))
        assert (seen.unread, seen.archived, seen.notify_person) == (False, False, False)
    for origin in set(Origin) - from_people:
        assert after_input(session, replace(written, origin=origin)) == session


def test_an_archived_session_is_listed_only_while_it_needs_a_person() -> None:
    assert is_listed(SESSION)
    archived = replace(SESSION, archived=True)
    assert not is_listed(archived)
    assert is_listed(replace(archived, state=WAITING))
    assert is_listed(replace(archived, unread=True))
    assert not is_listed(replace(archived, unread=True, state=RUNNING))
