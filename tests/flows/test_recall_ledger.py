"""The checker of recalls objects to every kind of damage: else it would prove nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, text

from navi.live.model.scheduling.recall import CallType, Recall, RecallStatus
from navi.live.store import sessions
from navi.live.store.due.due_recalls import DueRecalls
from navi.live.store.engine import schema
from navi.live.store.engine.connection import open_engine
from navi.live.store.engine.dialects.sqlite import sqlite_url
from navi.live.store.events import open_outbox, store_emitted
from navi.live.store.scheduling import recalls
from tests.flows import recall_ledger
from tests.flows.recall_ledger import Asked
from tests.flows.test_ledger import NOW, answer, die, session_row

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Store:
    """Books in which everything adds up, until a test damages them."""

    url: str
    engine: Engine

    def do(self, operation: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        with self.engine.begin() as connection:
            open_outbox(connection)
            operation(connection, *arguments, **named)
            store_emitted(connection)

    def damage(self, *statements: str) -> None:
        with self.engine.begin() as connection:
            for statement in statements:
                assert connection.execute(text(statement)).rowcount, f"changed nothing: {statement}"

    def complaints(self, asked: Sequence[Asked] = ()) -> list[str]:
        return recall_ledger.violations(recall_ledger.read(self.url), asked=asked)


def claim(connection: Connection, now: datetime, ahead: timedelta = timedelta(0)) -> None:
    assert DueRecalls().claim(connection, now, now + ahead, 10).count == 1


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One session with single recalls, one whose recall beats, and one whose were called off."""
    path = tmp_path_factory.mktemp("recalls") / "books.sqlite3"
    schema.prepare(sqlite_url(path))
    store = Store(sqlite_url(path), open_engine(sqlite_url(path)))
    for session_id in ("a", "b", "c"):
        store.do(sessions.create, session_row(session_id))
    store.do(recalls.schedule, _recall("off", "c", 60 * MINUTE))
    store.do(recalls.cancel, "c", NOW)
    store.do(recalls.schedule, _recall("withdrawn", "c", SECOND))
    store.do(claim, NOW, ahead=SECOND)
    store.do(recalls.cancel, "c", NOW)

    store.do(recalls.schedule, _recall("first", "a", MINUTE))
    store.do(claim, NOW + MINUTE - SECOND, ahead=SECOND)
    store.do(answer, "a", "turn-1", NOW + MINUTE, NOW + MINUTE)
    store.do(recalls.schedule, _recall("second", "a", 2 * MINUTE))
    store.do(claim, NOW + 2 * MINUTE)
    store.do(die, "a", "turn-2", said="half an ans", at=NOW + 2 * MINUTE)
    store.do(recalls.schedule, _recall("third", "a", 3 * MINUTE))
    store.do(claim, NOW + 3 * MINUTE)
    store.do(die, "a", "turn-3", said="", at=NOW + 3 * MINUTE)
    store.do(answer, "a", "turn-4", NOW + 3 * MINUTE, NOW + 3 * MINUTE)

    # Two beats were missed before it was admitted, and one while its second turn ran, which was
    # begun twice: the first one died before it said anything.
    store.do(recalls.schedule, _recall("beat", "b", 4 * MINUTE, interval_seconds=60))
    late = NOW + 6 * MINUTE + timedelta(seconds=5)
    store.do(claim, late)
    store.do(answer, "b", "turn-5", late, late)
    store.do(claim, NOW + 7 * MINUTE)
    store.do(die, "b", "turn-0", said="", at=NOW + 7 * MINUTE)
    store.do(answer, "b", "turn-6", NOW + 7 * MINUTE, NOW + 8.5 * MINUTE)
    store.engine.dispose()
    return path


@pytest.fixture
def store(original: Path, tmp_path: Path) -> Iterator[Store]:
    url = sqlite_url(Path(shutil.copy(original, tmp_path)))
    engine = open_engine(url)
    yield Store(url, engine)
    engine.dispose()


def test_books_that_add_up_raise_no_objection(store: Store) -> None:
    books = recall_ledger.read(store.url)

    assert store.complaints() == []
    told = [(recall.id, recall.status, recall.missed_count) for recall in books.recalls]
    assert sorted(told) == [
        ("beat", "pending", 3),
        ("first", "fired", 0),
        ("off", "cancelled", 0),
        ("second", "cancelled", 0),
        ("third", "fired", 0),
        ("withdrawn", "cancelled", 0),
    ]


FIRST_OF_B = "id = (SELECT min(id) FROM message_queue WHERE session_id = 'b')"
LAST_OF_B = "id = (SELECT max(id) FROM message_queue WHERE session_id = 'b')"
LAST_UPDATE_OF_B = (
    "position = (SELECT max(position) FROM events WHERE session_id = 'b' "
    "AND type = 'recall_update')"
)
# What is wrong: the objection that it must raise, and how it is brought about.
DAMAGE: dict[str, tuple[str, ...]] = {
    "a recall has fired without an input": (
        "recall first is fired and has 0 inputs",
        "UPDATE message_queue SET origin = 'user' WHERE id LIKE 'first.%'",
    ),
    "a claimed recall was never admitted": (
        "recall withdrawn is pending, but input withdrawn.1767225601000 does not wait",
        "UPDATE session_recalls SET status = 'pending' WHERE id = 'withdrawn'",
    ),
    "a recall runs without an input": (
        "recall off is running, but input None is not",
        "UPDATE session_recalls SET status = 'running' WHERE id = 'off'",
    ),
    "a recall runs though its turn has ended": (
        "recall first is running, but input first.",
        "UPDATE session_recalls SET status = 'running' WHERE id = 'first'",
    ),
    "a recall waits though it has run": (
        "recall first is pending and has 1 inputs",
        "UPDATE session_recalls SET status = 'pending', input_id = NULL WHERE id = 'first'",
    ),
    "a recall waits for a turn that has ended": (
        "recall first is pending, but input first.",
        "UPDATE session_recalls SET status = 'pending' WHERE id = 'first'",
    ),
    "a recurring recall waits for a turn that has ended": (
        "recall beat is pending, but input beat.",
        "UPDATE session_recalls SET input_id = "
        "(SELECT max(id) FROM message_queue WHERE session_id = 'b') WHERE id = 'beat'",
    ),
    "an input waits and its recall does not know": (
        "waits, but its recall is pending with None",
        f"UPDATE message_queue SET delivered_at = NULL, turn_id = NULL WHERE {LAST_OF_B}",
    ),
    "a recall names the input of another one": (
        "recall first names second.1767225720000 as its input",
        "UPDATE session_recalls SET input_id = 'second.1767225720000' WHERE id = 'first'",
    ),
    "a recall that nobody claimed is shown at another time": (
        "recall beat is not claimed and yet shown at",
        "UPDATE session_recalls SET trigger_at = '2026-01-01T00:10:00.000000+00:00' "
        "WHERE id = 'beat'",
    ),
    "a recall was called off though it has run": (
        "recall first is cancelled and has 1 inputs",
        "UPDATE session_recalls SET status = 'cancelled', outcome = 'cancelled' WHERE id = 'first'",
    ),
    "a failure is told as a success": (
        "recall second says ok",
        "UPDATE session_recalls SET status = 'fired', outcome = 'ok', error = NULL "
        "WHERE id = 'second'",
    ),
    "a failure has no words": (
        "recall second says error (None)",
        "UPDATE session_recalls SET error = NULL WHERE id = 'second'",
    ),
    "a failed recall has fired": (
        "recall second is fired though its turn ended as error",
        "UPDATE session_recalls SET status = 'fired' WHERE id = 'second'",
    ),
    "a recall ended before its turn did": (
        "recall first did not end together with its turn turn-1",
        "UPDATE session_recalls SET updated_at = '2026-01-01T00:00:59.000000+00:00' "
        "WHERE id = 'first'",
    ),
    "a recall is gone": (
        "comes from no recall",
        "DELETE FROM session_recalls WHERE id = 'first'",
    ),
    "a recall that was told is gone": (
        "recall off was told but is not stored",
        "DELETE FROM session_recalls WHERE id = 'off'",
    ),
    "a beat was admitted twice": (
        "recall beat was admitted 2 times",
        f"UPDATE message_queue SET not_before = (SELECT not_before FROM message_queue "
        f"WHERE {FIRST_OF_B}) WHERE {LAST_OF_B}",
    ),
    "an input was admitted too early": (
        "was admitted too early",
        "UPDATE message_queue SET queued_at = '2026-01-01T00:00:58.999999+00:00' "
        "WHERE id LIKE 'first.%'",
    ),
    "an input was delivered before its time": (
        "was delivered before its time",
        "UPDATE message_queue SET delivered_at = '2026-01-01T00:00:59.999999+00:00' "
        "WHERE id LIKE 'first.%'",
    ),
    "an input was delivered before its time, to a turn that came to nothing": (
        "turn turn-3 began with third.1767225780000 before its time",
        "UPDATE events SET payload = json_set(payload, '$.input.delivered_at', "
        "'2026-01-01T00:02:59.999Z') WHERE turn_id = 'turn-3' AND type = 'input_delivered'",
    ),
    "an input waits for another moment than its beat": (
        "is not named after its beat",
        "UPDATE message_queue SET not_before = '2026-01-01T00:00:59.000000+00:00' "
        "WHERE id LIKE 'first.%'",
    ),
    "an input has another text than its recall": (
        "is not its recall",
        "UPDATE session_recalls SET additional_context_message = 'no' WHERE id = 'first'",
    ),
    "an input tells of another beat": (
        "tells of another beat than the one that it waits for",
        "UPDATE message_queue SET metadata = "
        "json_set(metadata, '$.due_at', '2026-01-01T00:00:30.000Z') WHERE id LIKE 'first.%'",
    ),
    "a recall's turn was told as a person's": (
        "its turn was not told as a recall's",
        "UPDATE events SET payload = json_set(payload, '$.is_recall', json('false')) "
        "WHERE turn_id = 'turn-1' AND type = 'stream_start'",
    ),
    "a beat has drifted": (
        "recall beat left its grid",
        "UPDATE session_recalls SET due_at = '2026-01-01T00:09:01.000000+00:00', "
        "trigger_at = '2026-01-01T00:09:01.000000+00:00' WHERE id = 'beat'",
    ),
    "a beat was left out and not counted": (
        "counts 2 as missed, but 3 were",
        "UPDATE session_recalls SET missed_count = 2 WHERE id = 'beat'",
    ),
    "a beat was counted that was run": (
        "counts 4 as missed, but 3 were",
        "UPDATE session_recalls SET missed_count = 4 WHERE id = 'beat'",
    ),
    "an input tells of too many missed beats": (
        "tells of 9 missed beats, but 1 were",
        f"UPDATE message_queue SET metadata = json_set(metadata, '$.missed_count', 9) "
        f"WHERE {LAST_OF_B}",
    ),
    "a recall has run and did not move on": (
        "recall beat did not move on from its beat at",
        "UPDATE session_recalls SET due_at = '2026-01-01T00:07:00.000000+00:00', "
        "trigger_at = '2026-01-01T00:07:00.000000+00:00' WHERE id = 'beat'",
    ),
    "the first beat was never admitted": (
        "recall beat did not begin with its first beat",
        f"DELETE FROM message_queue WHERE {FIRST_OF_B}",
    ),
    "the next beat was not told": (
        "the beats that were told are not those that came",
        f"UPDATE events SET payload = '{{\"recall\": null}}' WHERE {LAST_UPDATE_OF_B}",
    ),
    "the last update tells of nothing pending": (
        "session b: the last recall_update told None",
        f"UPDATE events SET payload = '{{\"recall\": null}}' WHERE {LAST_UPDATE_OF_B}",
    ),
    "a beat began and its recall was still told to wait for it": (
        "was delivered, and its recall still told to wait for it",
        "UPDATE events SET type = 'session_update' WHERE session_id = 'a' "
        "AND type = 'recall_update' AND seq = (SELECT min(seq) FROM events "
        "WHERE session_id = 'a' AND type = 'input_delivered') - 1",
    ),
    "a beat was told that never came": (
        "recall beat: 1 beats were told that did not come",
        "UPDATE session_recalls SET missed_count = 0 WHERE id = 'beat'",
    ),
    "a person's input appeared from nowhere": (
        "is stored but nobody sent it",
        "UPDATE message_queue SET origin = 'user' WHERE id LIKE 'first.%'",
    ),
    "two turns overlap": (
        "turn-6 began before turn-0 had ended",
        "UPDATE turns SET started_at = '2025-12-31T23:59:59.999999+00:00' WHERE id = 'turn-6'",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_the_checker_objects_when(store: Store, damage: tuple[str, ...]) -> None:
    objection, *statements = damage
    store.damage(*statements)

    assert objection in "\n".join(store.complaints())


def test_the_checker_objects_to_a_confirmed_recall_that_left_no_trace(store: Store) -> None:
    lost = "recall 'lost' was confirmed but is not stored"

    assert store.complaints([Asked("a", "do lost"), Asked("a", "do first")]) == [
        lost.replace("'lost'", "'do lost'")
    ]
    assert store.complaints([Asked("a", "do lost", is_confirmed=False)]) == []


def test_the_checker_objects_to_a_chain_that_broke_off_after_a_turn_that_went_well(
    store: Store,
) -> None:
    assert store.complaints([Asked("a", "do first", then="do second")]) == []
    assert store.complaints([Asked("a", "do second", then="do lost")]) == []
    assert store.complaints([Asked("a", "do first", then="do lost")]) == [
        "recall 'do first' went well but its successor is not stored"
    ]


def test_the_checker_objects_to_the_same_words_scheduled_twice(store: Store) -> None:
    store.damage(
        "UPDATE session_recalls SET additional_context_message = 'do first' WHERE id = 'third'",
        "UPDATE message_queue SET text = 'do first' WHERE id LIKE 'third.%'",
        "UPDATE messages SET content = 'do first' WHERE id LIKE 'third.%'",
    )

    assert store.complaints() == ["session a was to recall 'do first' 2 times"]


def _recall(
    id_: str, session_id: str, after: timedelta, interval_seconds: int | None = None
) -> Recall:
    at: datetime = NOW + after
    return Recall(
        id=id_,
        session_id=session_id,
        call_type=CallType.ONCE if interval_seconds is None else CallType.RECURRING,
        trigger_at=at,
        due_at=at,
        interval_seconds=interval_seconds,
        internal_comment=None,
        additional_context_message=f"do {id_}",
        status=RecallStatus.PENDING,
        outcome=None,
        error=None,
        missed_count=0,
        created_at=NOW,
        updated_at=NOW,
    )
