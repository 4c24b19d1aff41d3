"""The ledger detects every kind of damage; otherwise it would prove nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from navi.live.store import input_queue
from navi.live.store.engine import schema
from navi.live.store.engine.connection import open_engine
from navi.live.store.engine.dialects.sqlite import sqlite_url
from navi.live.store.events import store_emitted
from tests.acceptance.flows import ledger
from tests.acceptance.flows.damage import automations, inputs, messages, recalls
from tests.acceptance.flows.damage.books import Books, answer
from tests.acceptance.flows.ledger import AddedAutomation, EventRow, ScheduledRecall, Sent

KINDS = {"input": inputs, "message": messages, "recall": recalls, "automation": automations}
ACCEPTED: dict[str, dict[str, Any]] = {
    "input": {"sent": inputs.SENT},
    "message": {"sent": messages.SENT, "reminder_ids": messages.REMINDER_IDS},
    "recall": {},
    "automation": {"added": [AddedAutomation(name) for name in ("once", "beat", "apart")]},
}


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("ledger")
    for kind, module in KINDS.items():
        url = sqlite_url(folder / kind)
        schema.prepare(url)
        engine = open_engine(url)
        module.write(Books(kind, url, engine))
        engine.dispose()
    return {kind: folder / kind for kind in KINDS}


@pytest.fixture
def books(
    request: pytest.FixtureRequest, originals: dict[str, Path], tmp_path: Path
) -> Iterator[Books]:
    """A copy of the store of one kind."""
    url = sqlite_url(Path(shutil.copy(originals[request.param], tmp_path)))
    engine = open_engine(url)
    yield Books(request.param, url, engine)
    engine.dispose()


def violations(books: Books, **accepted: Any) -> list[str]:
    return ledger.violations(ledger.read(books.url), **(ACCEPTED[books.kind] | accepted))


def of(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("books", [kind], indirect=True)


@pytest.mark.parametrize("books", KINDS, indirect=True)
def test_books_that_add_up_raise_no_objection(books: Books) -> None:
    assert violations(books) == []


@pytest.mark.parametrize(
    ("books", "case"),
    [(kind, case) for kind, module in KINDS.items() for case in module.DAMAGE],
    indirect=["books"],
)
def test_the_ledger_objects_when(books: Books, case: str) -> None:
    objection, *statements = KINDS[books.kind].DAMAGE[case]
    books.damage(*statements)

    assert objection in "\n".join(violations(books))


@pytest.mark.parametrize("books", KINDS, indirect=True)
def test_the_ledger_objects_to_any_input_that_is_stored_twice(books: Books) -> None:
    store = ledger.read(books.url)
    for row in store.inputs:
        doubled = replace(store, inputs=[*store.inputs, row])
        assert f"input {row.id} is stored 2 times" in ledger.violations(
            doubled, **ACCEPTED[books.kind]
        )


# What only the clients know.


@of("input")
def test_the_ledger_objects_to_a_confirmed_input_that_left_no_trace(books: Books) -> None:
    lost = Sent("b-3", "b", "question b-3")

    assert violations(books, sent=[*inputs.SENT, lost]) == [
        "input b-3 was confirmed but is not stored"
    ]
    assert violations(books, sent=[*inputs.SENT, replace(lost, is_confirmed=False)]) == []


@of("input")
def test_the_ledger_objects_to_an_input_that_nobody_sent(books: Books) -> None:
    assert "input b-2 is stored but nobody sent it" in violations(books, sent=inputs.SENT[:-1])


@of("input")
def test_the_ledger_objects_to_an_input_that_was_answered_twice(books: Books) -> None:
    with books.engine.begin() as connection:
        connection.execute(text("DELETE FROM messages WHERE turn_id = 'turn-6'"))
        connection.execute(text("UPDATE lanes SET next_idx = 2 WHERE session_id = 'b'"))
        input_queue.give_back(connection, "turn-6")
        answer(connection, "b", "turn-7")
        store_emitted(connection)

    assert any("b-2 was delivered again" in each for each in violations(books))


@of("input")
def test_the_ledger_objects_to_a_stop_that_nobody_asked_for(books: Books) -> None:
    books.damage(
        "UPDATE turns SET outcome = 'stopped' WHERE id = 'turn-1'",
        "UPDATE events SET payload = json_set(payload, '$.outcome', 'stopped') "
        "WHERE turn_id = 'turn-1' AND type = 'stream_end'",
    )

    assert violations(books) == ["turn turn-1 was stopped though nobody asked for it"]


@of("recall")
def test_the_ledger_objects_to_a_confirmed_recall_that_left_no_trace(books: Books) -> None:
    lost = ScheduledRecall("a", "do lost")

    assert violations(books, scheduled=[lost, ScheduledRecall("a", "do first")]) == [
        "recall 'do lost' was confirmed but is not stored"
    ]
    assert violations(books, scheduled=[replace(lost, is_confirmed=False)]) == []


@of("recall")
@pytest.mark.parametrize(
    ("text", "then", "objections"),
    [
        ("do first", "do second", []),
        ("do second", "do lost", []),  # it failed, so it needs no successor
        ("do first", "do lost", ["recall 'do first' went well but its successor is not stored"]),
    ],
)
def test_the_ledger_objects_to_a_chain_that_broke_off_after_a_successful_turn(
    books: Books, text: str, then: str, objections: list[str]
) -> None:
    scheduled = [ScheduledRecall("a", text, then=then)]

    assert violations(books, scheduled=scheduled) == objections


@of("recall")
def test_the_ledger_objects_to_the_same_text_scheduled_twice(books: Books) -> None:
    books.damage(
        "UPDATE session_recalls SET additional_context_message = 'do first' WHERE id = 'third'",
        "UPDATE message_queue SET text = 'do first' WHERE id LIKE 'third.%'",
        "UPDATE messages SET content = 'do first' WHERE id LIKE 'third.%'",
    )

    assert violations(books) == ["session a was to recall 'do first' 2 times"]


@of("automation")
def test_the_ledger_objects_to_a_confirmed_automation_that_left_no_trace(books: Books) -> None:
    assert violations(books, added=[AddedAutomation("gone")]) == [
        "automation 'gone' was confirmed but is not stored"
    ]
    assert violations(books, added=[AddedAutomation("once", is_removed=True)]) == [
        "automation 'once' was removed but is still stored"
    ]


# The stores of these tests are not empty, so the damage is meaningful.


@of("recall")
def test_the_books_have_recalls_in_every_state_and_missed_beats(books: Books) -> None:
    stored = ledger.read(books.url).recalls

    assert {(recall.id, recall.status, recall.missed_count) for recall in stored} == {
        ("beat", "pending", 3),
        ("first", "fired", 0),
        ("off", "cancelled", 0),
        ("second", "cancelled", 0),
        ("third", "fired", 0),
        ("withdrawn", "cancelled", 0),
    }


@of("automation")
def test_the_books_have_runs_that_went_well_failed_and_were_missed(books: Books) -> None:
    store = ledger.read(books.url)

    assert {run.id.split(":")[0]: run.state for run in store.runs} == {
        "once": "turn_completed",
        "beat": "failed",
        "apart": "turn_completed",
    }
    assert [each.missed_count for each in store.automations if each.id == "beat"] == [2]


# Streams.

Frames = list[dict[str, Any]]
FLAWS: dict[str, Callable[[Frames], Frames]] = {
    "misses one": lambda frames: [*frames[:5], *frames[6:]],
    "misses the last one": lambda frames: frames[:-1],
    "has one twice": lambda frames: [*frames[:5], frames[4], *frames[5:]],
    "has two in the wrong order": lambda frames: [frames[1], frames[0], *frames[2:]],
    "has another content": lambda frames: [*frames[:-1], {**frames[-1], "session": None}],
}


@of("input")
@pytest.mark.parametrize("flaw", FLAWS.values(), ids=FLAWS.keys())
def test_the_ledger_objects_to_a_stream_that(
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
