"""Sessions with single recalls, a recurring recall, and cancelled recalls."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection

from navi.live.model.scheduling.recall import CallType, Recall, RecallStatus
from navi.live.store.due.due_recalls import DueRecalls
from navi.live.store.scheduling import recalls
from tests.acceptance.flows.damage.books import MINUTE, NOW, SECOND, Books, Damage, answer, die


def write(books: Books) -> None:
    for session_id in ("a", "b", "c"):
        books.create_session(session_id)
    books.do(recalls.schedule, _recall("off", "c", 60 * MINUTE))
    books.do(recalls.cancel, "c", NOW)
    books.do(recalls.schedule, _recall("withdrawn", "c", SECOND))
    books.do(_claim, NOW, ahead=SECOND)
    books.do(recalls.cancel, "c", NOW)

    books.do(recalls.schedule, _recall("first", "a", MINUTE))
    books.do(_claim, NOW + MINUTE - SECOND, ahead=SECOND)
    books.do(answer, "a", "turn-1", NOW + MINUTE, NOW + MINUTE)
    books.do(recalls.schedule, _recall("second", "a", 2 * MINUTE))
    books.do(_claim, NOW + 2 * MINUTE)
    books.do(die, "a", "turn-2", text="half an ans", at=NOW + 2 * MINUTE)
    books.do(recalls.schedule, _recall("third", "a", 3 * MINUTE))
    books.do(_claim, NOW + 3 * MINUTE)
    books.do(die, "a", "turn-3", text="", at=NOW + 3 * MINUTE)
    books.do(answer, "a", "turn-4", NOW + 3 * MINUTE, NOW + 3 * MINUTE)

    # Two beats were missed before it was admitted, and one while its second turn ran, which was
    # begun twice: the first one died before it said anything.
    books.do(recalls.schedule, _recall("beat", "b", 4 * MINUTE, interval_seconds=60))
    late = NOW + 6 * MINUTE + timedelta(seconds=5)
    books.do(_claim, late)
    books.do(answer, "b", "turn-5", late, late)
    books.do(_claim, NOW + 7 * MINUTE)
    books.do(die, "b", "turn-0", text="", at=NOW + 7 * MINUTE)
    books.do(answer, "b", "turn-6", NOW + 7 * MINUTE, NOW + 8.5 * MINUTE)


def _claim(connection: Connection, now: datetime, ahead: timedelta = timedelta(0)) -> None:
    assert DueRecalls().claim(connection, now, now + ahead, 10).count == 1


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


FIRST_OF_B = "id = (SELECT min(id) FROM message_queue WHERE session_id = 'b')"
LAST_OF_B = "id = (SELECT max(id) FROM message_queue WHERE session_id = 'b')"
LAST_UPDATE_OF_B = (
    "position = (SELECT max(position) FROM events WHERE session_id = 'b' "
    "AND type = 'recall_update')"
)
DAMAGE: Damage = {
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
    "a failure is recorded as a success": (
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
    "a recall that was announced is gone": (
        "recall off was announced but is not stored",
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
    "an input names another beat": (
        "names another beat than the one that it waits for",
        "UPDATE message_queue SET metadata = "
        "json_set(metadata, '$.due_at', '2026-01-01T00:00:30.000Z') WHERE id LIKE 'first.%'",
    ),
    "a recall's turn was announced as a person's": (
        "its turn was not announced as a recall's",
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
    "an input reports too many missed beats": (
        "reports 9 missed beats, but 1 were",
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
    "the next beat was not announced": (
        "the beats that were announced are not those that came",
        f"UPDATE events SET payload = '{{\"recall\": null}}' WHERE {LAST_UPDATE_OF_B}",
    ),
    "the last update shows nothing pending": (
        "session b: the last recall_update announced None",
        f"UPDATE events SET payload = '{{\"recall\": null}}' WHERE {LAST_UPDATE_OF_B}",
    ),
    "a beat began and its recall was still shown as waiting for it": (
        "was delivered, and its recall still seemed to wait",
        "UPDATE events SET type = 'session_update' WHERE session_id = 'a' "
        "AND type = 'recall_update' AND seq = (SELECT min(seq) FROM events "
        "WHERE session_id = 'a' AND type = 'input_delivered') - 1",
    ),
    "a beat was announced that never came": (
        "recall beat: 1 beats were announced that did not come",
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
