"""The checker of the flow tests objects to every kind of damage: else it would prove nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, text

from navi.live.model.event import TextDelta, Usage
from navi.live.model.input import NewInput
from navi.live.model.message import drafts_of
from navi.live.model.session import Session, SessionState
from navi.live.model.turn import Ending, Outcome, RunningTurn
from navi.live.store import input_queue, sessions, turns
from navi.live.store.engine import schema
from navi.live.store.engine.connection import open_engine
from navi.live.store.engine.dialects.sqlite import sqlite_url
from navi.live.store.events import store_emitted
from tests.flows import ledger
from tests.flows.ledger import EventRow, Sent

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OWNER = "somebody"

SENT = [
    Sent(name, name[0], f"question {name}", f"answer {name}")
    for name in ("a-1", "a-2", "a-3", "b-1", "b-2")
]


@dataclass(frozen=True, slots=True)
class Books:
    """A small store in which everything adds up, until a test damages it."""

    url: str
    engine: Engine

    def damage(self, *statements: str) -> None:
        with self.engine.begin() as connection:
            for statement in statements:
                assert connection.execute(text(statement)).rowcount, f"changed nothing: {statement}"

    def complaints(self, sent: Sequence[Sent] = SENT) -> list[str]:
        return ledger.violations(ledger.read(self.url), sent)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions; in one a server died before its turn spoke, and another while it did."""
    path = tmp_path_factory.mktemp("ledger") / "books.sqlite3"
    schema.prepare(sqlite_url(path))
    engine = open_engine(sqlite_url(path))
    with engine.begin() as connection:
        for session_id in ("a", "b"):
            sessions.create(connection, session_row(session_id))
        for each in SENT:
            input_queue.admit(connection, NewInput(each.input_id, each.session_id, each.text), NOW)
        answer(connection, "a", "turn-1")
        die(connection, "a", "turn-2", said="")
        answer(connection, "a", "turn-3")
        die(connection, "a", "turn-4", said="half an ans")
        answer(connection, "b", "turn-5")
        answer(connection, "b", "turn-6")
        store_emitted(connection)
    engine.dispose()
    return path


@pytest.fixture
def books(original: Path, tmp_path: Path) -> Iterator[Books]:
    url = sqlite_url(Path(shutil.copy(original, tmp_path)))
    engine = open_engine(url)
    yield Books(url, engine)
    engine.dispose()


def test_books_that_add_up_raise_no_objection(books: Books) -> None:
    assert books.complaints() == []


# What is wrong: the objection that it must raise, and how it is brought about.
DAMAGE: dict[str, tuple[str, ...]] = {
    "an event is missing": (
        "turn-3 counts 1 events but has 0",
        "DELETE FROM events WHERE turn_id = 'turn-3' AND type LIKE '%delta'",
    ),
    "the last event is missing": (
        "the positions are not 1 to",
        "DELETE FROM events WHERE position = (SELECT last_position FROM feed)",
    ),
    "the last event is missing and the counters hide it": (
        "turn-6 does not begin and end as it should",
        "DELETE FROM events WHERE position = (SELECT last_position FROM feed)",
        "UPDATE feed SET last_position = last_position - 1",
        "UPDATE lanes SET last_seq = last_seq - 1 WHERE session_id = 'b'",
    ),
    "a number was left out in a session": (
        "session b: seq is not 1 to",
        "UPDATE lanes SET last_seq = last_seq + 1 WHERE session_id = 'b'",
        "UPDATE events SET seq = seq + 1 WHERE session_id = 'b' AND position = "
        "(SELECT last_position FROM feed)",
    ),
    "a number was left out over all sessions": (
        "the positions are not 1 to",
        "UPDATE feed SET last_position = last_position + 1",
        "UPDATE events SET position = position + 1 WHERE position = "
        "(SELECT last_position - 1 FROM feed)",
    ),
    "an end was told twice": (
        "turn-6 has 2 events stream_end",
        "UPDATE feed SET last_position = last_position + 1",
        "UPDATE lanes SET last_seq = last_seq + 1 WHERE session_id = 'b'",
        "INSERT INTO events SELECT (SELECT last_position FROM feed), session_id, "
        "(SELECT last_seq FROM lanes WHERE session_id = 'b'), user_id, turn_id, type, payload, "
        "created_at FROM events WHERE turn_id = 'turn-6' AND type = 'stream_end'",
    ),
    "an end was told that is not stored": (
        "turn-1 told an end that is not stored",
        "UPDATE turns SET outcome = 'max_iterations' WHERE id = 'turn-1'",
    ),
    "two turns were mixed": (
        "session b had two turns at once",
        "UPDATE events SET turn_id = 'turn-9' WHERE turn_id = 'turn-6' AND type = 'stream_start'",
        "UPDATE events SET turn_id = 'turn-6' WHERE turn_id = 'turn-5' AND type = 'session_sync'",
        "UPDATE events SET turn_id = 'turn-5' WHERE turn_id = 'turn-9'",
    ),
    "a turn began before the one before it had ended": (
        "turn-6 began before turn-5 had ended",
        "UPDATE turns SET started_at = '2025-12-31T23:59:59.999999+00:00' WHERE id = 'turn-6'",
    ),
    "a turn is stored twice": (
        "turn-7 does not begin and end as it should",
        "INSERT INTO turns SELECT 'turn-7', session_id, fence + 10, origin, event_count, "
        "stop_reason, outcome, error, message_id, input_tokens, output_tokens, cache_read_tokens, "
        "cache_creation_tokens, started_at, ended_at FROM turns WHERE id = 'turn-6'",
    ),
    "a turn is missing": (
        "there are events of turn turn-2, which is not stored",
        "DELETE FROM turns WHERE id = 'turn-2'",
    ),
    "a turn never ended": (
        "turn-6 has no end",
        "UPDATE turns SET ended_at = NULL, outcome = NULL WHERE id = 'turn-6'",
    ),
    "an input is missing": (
        "a-2 was confirmed but is not stored",
        "DELETE FROM message_queue WHERE id = 'a-2'",
    ),
    "an input still waits": (
        "a-2 was never delivered, or waits again",
        "UPDATE message_queue SET delivered_at = NULL, turn_id = NULL WHERE id = 'a-2'",
    ),
    "an input belongs to the turn that died before it spoke": (
        "a-2 is lost",
        "UPDATE message_queue SET turn_id = 'turn-2' WHERE id = 'a-2'",
    ),
    "an input's text has changed": (
        "b-1 is not what was sent",
        "UPDATE message_queue SET text = 'no' WHERE id = 'b-1'",
    ),
    "two inputs have changed places": (
        "not admitted in the order of sending",
        "UPDATE message_queue SET ordinal = 9 WHERE id = 'a-2'",
        "UPDATE message_queue SET ordinal = 1 WHERE id = 'a-3'",
        "UPDATE message_queue SET ordinal = 2 WHERE id = 'a-2'",
    ),
    "two messages of the user have changed places": (
        "delivered out of order: [1, 0]",
        "UPDATE messages SET idx = 99 WHERE id = 'b-1'",
        "UPDATE messages SET idx = 98 WHERE id = 'b-2'",
        "UPDATE messages SET idx = 2 WHERE id = 'b-1'",
        "UPDATE messages SET idx = 0 WHERE id = 'b-2'",
    ),
    "two messages of the user have changed words": (
        "message b-1 is not its input",
        "UPDATE messages SET content = CASE id WHEN 'b-1' THEN 'question b-2' "
        "ELSE 'question b-1' END WHERE id IN ('b-1', 'b-2')",
    ),
    "a message of the user is missing": (
        "a-3 has 0 messages in the transcript",
        "DELETE FROM messages WHERE id = 'a-3'",
    ),
    "the last message is missing": (
        "turn-6 left no answer",
        "DELETE FROM messages WHERE id = 'turn-6.1'",
    ),
    "an answer is incomplete": (
        "turn-6 answered 'ans'",
        "UPDATE messages SET content = 'ans' WHERE id = 'turn-6.1'",
    ),
    "a message of a turn that never counted was kept": (
        "a-2 belongs to no turn that counts",
        "UPDATE messages SET turn_id = 'turn-2' WHERE id = 'a-2'",
    ),
    "a lane is still owned": (
        "session a is still owned by me",
        "UPDATE lanes SET owner = 'me' WHERE session_id = 'a'",
    ),
    "a session seems to run": (
        "session a is running",
        "UPDATE sessions SET state = 'running' WHERE id = 'a'",
    ),
    "two turns share a fence": (
        "two turns share a fence",
        "UPDATE turns SET fence = 1 WHERE id = 'turn-6'",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_the_checker_objects_when(books: Books, damage: tuple[str, ...]) -> None:
    objection, *statements = damage
    books.damage(*statements)

    assert objection in "\n".join(books.complaints())


def test_the_checker_objects_to_a_confirmed_input_that_left_no_trace(books: Books) -> None:
    lost = Sent("b-3", "b", "question b-3")

    assert books.complaints([*SENT, lost]) == ["input b-3 was confirmed but is not stored"]
    assert books.complaints([*SENT, replace(lost, is_confirmed=False)]) == []


def test_the_checker_objects_to_an_input_that_nobody_sent(books: Books) -> None:
    assert books.complaints(SENT[:-1])


def test_the_checker_objects_to_an_input_that_was_answered_twice(books: Books) -> None:
    with books.engine.begin() as connection:
        connection.execute(text("DELETE FROM messages WHERE turn_id = 'turn-6'"))
        connection.execute(text("UPDATE lanes SET next_idx = 2 WHERE session_id = 'b'"))
        input_queue.give_back(connection, "turn-6")
        answer(connection, "b", "turn-7")
        store_emitted(connection)

    assert any("b-2 was delivered again" in complaint for complaint in books.complaints())


def test_the_checker_objects_to_a_stop_that_nobody_asked_for(books: Books) -> None:
    books.damage(
        "UPDATE turns SET outcome = 'stopped' WHERE id = 'turn-1'",
        "UPDATE events SET payload = json_set(payload, '$.outcome', 'stopped') "
        "WHERE turn_id = 'turn-1' AND type = 'stream_end'",
    )

    assert books.complaints() == ["turn turn-1 was stopped though nobody asked for it"]


Frames = list[dict[str, Any]]
FLAWS: dict[str, Callable[[Frames], Frames]] = {
    "misses one": lambda frames: [*frames[:5], *frames[6:]],
    "misses the last one": lambda frames: frames[:-1],
    "has one twice": lambda frames: [*frames[:5], frames[4], *frames[5:]],
    "has two in the wrong order": lambda frames: [frames[1], frames[0], *frames[2:]],
    "has another content": lambda frames: [*frames[:-1], {**frames[-1], "session": None}],
}


@pytest.mark.parametrize("flaw", FLAWS.values(), ids=FLAWS.keys())
def test_the_checker_objects_to_a_stream_that(
    books: Books, flaw: Callable[[Frames], Frames]
) -> None:
    stored = ledger.read(books.url).events
    frames = [_frame(event) for event in stored]

    assert ledger.stream_violations(frames, stored) == []
    assert ledger.stream_violations(flaw(frames), stored)


def _frame(event: EventRow) -> dict[str, Any]:
    return {
        "type": event.type,
        "session_id": event.session_id,
        "seq": event.seq,
        "turn_id": event.turn_id,
        "position": event.position,
        "at": "2026-01-01T00:00:00.000Z",
        **event.payload,
    }


def session_row(session_id: str) -> Session:
    return Session(
        id=session_id,
        name=session_id,
        driver="scripted",
        model=None,
        cwd="/",
        parent_id=None,
        user_id="local",
        state=SessionState.IDLE,
        task=None,
        agent_status_text=None,
        agent_status_at=None,
        context_from_idx=0,
        created_at=NOW,
        updated_at=NOW,
    )


def answer(
    connection: Connection,
    session_id: str,
    turn_id: str,
    begin_at: datetime = NOW,
    end_at: datetime = NOW,
) -> None:
    begun = turns.begin(connection, session_id, turns.Claim(turn_id, OWNER, begin_at, begin_at))
    assert begun is not None
    said = [TextDelta(f"answer {begun.turn.input.id}")]
    turns.extend(connection, begun.turn, 0, said, begin_at)
    ending = Ending(Outcome.OK)
    turns.finish(connection, begun.turn, 1, [], drafts_of(said), ending, Usage(), end_at)


def die(
    connection: Connection, session_id: str, turn_id: str, *, said: str, at: datetime = NOW
) -> None:
    begun = turns.begin(connection, session_id, turns.Claim(turn_id, OWNER, at, at))
    assert begun is not None
    if said:
        turns.extend(connection, begun.turn, 0, [TextDelta(said)], at)
    dead = RunningTurn(turn_id, session_id, begun.turn.fence, OWNER, at, None)
    assert turns.close_dead(connection, dead, at)
