"""Two sessions; in one a server died before its turn's first output, another during it."""

from __future__ import annotations

from navi.live.model.input import NewInput
from navi.live.store import input_queue
from tests.acceptance.flows.damage.books import NOW, Books, Damage, answer, die
from tests.acceptance.flows.ledger import Sent

SENT = [
    Sent(name, name[0], f"question {name}", f"answer {name}")
    for name in ("a-1", "a-2", "a-3", "b-1", "b-2")
]


def write(books: Books) -> None:
    for session_id in ("a", "b"):
        books.create_session(session_id)
    for each in SENT:
        books.do(input_queue.admit, NewInput(each.input_id, each.session_id, each.text), NOW)
    books.do(answer, "a", "turn-1")
    books.do(die, "a", "turn-2", text="")
    books.do(answer, "a", "turn-3")
    books.do(die, "a", "turn-4", text="half an ans")
    books.do(answer, "b", "turn-5")
    books.do(answer, "b", "turn-6")


DAMAGE: Damage = {
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
    "an end was announced twice": (
        "turn-6 has 2 events stream_end",
        "UPDATE feed SET last_position = last_position + 1",
        "UPDATE lanes SET last_seq = last_seq + 1 WHERE session_id = 'b'",
        "INSERT INTO events SELECT (SELECT last_position FROM feed), session_id, "
        "(SELECT last_seq FROM lanes WHERE session_id = 'b'), user_id, turn_id, type, payload, "
        "created_at FROM events WHERE turn_id = 'turn-6' AND type = 'stream_end'",
    ),
    "an end was announced that is not stored": (
        "turn-1 announced an end that is not stored",
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
