"""What a store holds, read by plain SQL behind the server's back, and whether it adds up.

`violations` names everything that contradicts Navi's promise: every admitted input has exactly one
turn that counts and none before its time, nothing is lost, nothing happens twice, and the numbers
have no gaps. It is meant for a store at rest: all queues empty, no turn running.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from itertools import combinations, pairwise
from typing import Any, TypeVar

import psycopg

try:
    import pysqlite3 as sqlite
except ImportError:
    import sqlite3 as sqlite

SERVER_STOPPED = "the server stopped during this turn"
NOTHING_TO_DO = "there was nothing to do"


@dataclass(frozen=True, slots=True)
class Sent:
    """An input as its sender remembers it; `answer` is what a turn that goes well says last."""

    input_id: str
    session_id: str
    text: str
    answer: str | None = None
    is_confirmed: bool = True


@dataclass(frozen=True, slots=True)
class InputRow:
    id: str
    session_id: str
    ordinal: int
    text: str
    delivery_mode: str
    origin: str
    queued_at: Any
    not_before: Any
    delivered_at: Any
    turn_id: str | None

    @property
    def place(self) -> tuple[datetime, int]:
        """Where it stands among the inputs of its mode: by its instant, then by admission."""
        return moment(self.not_before or self.queued_at), self.ordinal


@dataclass(frozen=True, slots=True)
class TurnRow:
    id: str
    session_id: str
    fence: int
    event_count: int
    stop_reason: str | None
    outcome: str | None
    error: str | None
    message_id: str | None
    started_at: Any
    ended_at: Any

    @property
    def died_empty(self) -> bool:
        """Its server died before it said anything: as if it had never begun."""
        return self.event_count == 0 and self.has_lost_its_server

    @property
    def was_given_back(self) -> bool:
        """It left no message. Its input waits again, or is gone: there was nothing to do."""
        is_idle = self.outcome == "error" and self.error == NOTHING_TO_DO
        return self.died_empty or (self.event_count == 0 and is_idle)

    @property
    def has_lost_its_server(self) -> bool:
        return self.outcome == "error" and self.error == SERVER_STOPPED


@dataclass(frozen=True, slots=True)
class EventRow:
    position: int
    session_id: str
    seq: int
    turn_id: str | None
    type: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MessageRow:
    id: str
    session_id: str
    idx: int
    turn_id: str | None
    role: str
    content: str

    @property
    def is_notice(self) -> bool:
        """Told outside of any turn."""
        return self.turn_id is None and self.role != "user"


@dataclass(frozen=True, slots=True)
class LaneRow:
    session_id: str
    last_seq: int
    next_idx: int
    next_ordinal: int
    fence: int
    turn_id: str | None
    owner: str | None
    lease_until: object


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: str
    state: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """All of it at one moment, each kind in its own order."""

    sessions: list[SessionRow]
    inputs: list[InputRow]
    turns: list[TurnRow]
    events: list[EventRow]
    messages: list[MessageRow]
    lanes: list[LaneRow]
    last_position: int

    def events_of(self, session_id: str) -> list[EventRow]:
        return [event for event in self.events if event.session_id == session_id]

    def turn_of(self, input_id: str) -> TurnRow | None:
        """The turn that counts for this input; None while it waits."""
        (turn_id,) = (row.turn_id for row in self.inputs if row.id == input_id)
        return next((turn for turn in self.turns if turn.id == turn_id), None)


Query = Callable[[str], list[tuple[Any, ...]]]
Row = TypeVar("Row")
Key = TypeVar("Key", bound=Hashable)


def read(database_url: str) -> Ledger:
    """The store as any other program would find it."""
    with snapshot(database_url) as query:
        return read_all(query)


def progress(database_url: str) -> tuple[int, bool]:
    """How far the events have got, and whether nothing waits and nothing runs."""
    with snapshot(database_url) as query:
        ((last_position,),) = query("SELECT last_position FROM feed")
        ((waiting,),) = query("SELECT count(*) FROM message_queue WHERE delivered_at IS NULL")
        ((running,),) = query("SELECT count(*) FROM lanes WHERE turn_id IS NOT NULL")
        return last_position, waiting == running == 0


def open_file(database_url: str) -> Any:
    """A connection to a SQLite store that begins and ends no transaction by itself."""
    path = database_url.removeprefix("sqlite:///")
    return sqlite.connect(f"file:{path}?mode=rw", uri=True, isolation_level=None, timeout=30)


def violations(ledger: Ledger, sent: Sequence[Sent]) -> list[str]:
    """Everything that should not be so. Empty if the promise was kept."""
    return [
        *_wrong_inputs(ledger, sent),
        *_wrong_deliveries(ledger),
        *_early_deliveries(ledger),
        *_wrong_turns(ledger),
        *_overlapping_turns(ledger),
        *_wrong_messages(ledger),
        *_wrong_answers(ledger, sent),
        *_wrong_numbers(ledger),
        *_unrest(ledger),
    ]


def stream_violations(frames: Sequence[Mapping[str, Any]], stored: Sequence[EventRow]) -> list[str]:
    """Where the frames that a client has seen differ from the events that are stored."""
    wrong = []
    for frame, event in zip(frames, stored, strict=False):
        if {**_head(event), **event.payload} != {
            name: value for name, value in frame.items() if name != "at"
        }:
            wrong.append(f"frame {frame['position']} is not the stored event {event}")
    if len(frames) != len(stored):
        wrong.append(f"{len(frames)} frames were seen but {len(stored)} events are stored")
    return wrong


def _head(event: EventRow) -> dict[str, Any]:
    return {
        "type": event.type,
        "session_id": event.session_id,
        "seq": event.seq,
        "turn_id": event.turn_id,
        "position": event.position,
    }


# Reading.


@contextmanager
def snapshot(database_url: str) -> Iterator[Query]:
    """Queries that all see the same moment."""
    if not database_url.startswith("sqlite:"):
        with psycopg.connect(database_url) as server:
            server.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            yield lambda query: server.execute(query.encode()).fetchall()
        return
    with closing(open_file(database_url)) as file:
        file.execute("BEGIN")
        yield lambda query: file.execute(query).fetchall()


def read_all(query: Query) -> Ledger:
    ((last_position,),) = query("SELECT last_position FROM feed")
    events = rows_of(query, EventRow, "events", "position")
    return Ledger(
        sessions=rows_of(query, SessionRow, "sessions", "id"),
        inputs=rows_of(query, InputRow, "message_queue", "session_id, ordinal"),
        turns=rows_of(query, TurnRow, "turns", "session_id, fence"),
        events=[replace(row, payload=parsed(row.payload)) for row in events],
        messages=rows_of(query, MessageRow, "messages", "session_id, idx"),
        lanes=rows_of(query, LaneRow, "lanes", "session_id"),
        last_position=last_position,
    )


def moment(value: Any) -> datetime:
    """PostgreSQL returns instants as values, SQLite as text."""
    found = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return found.astimezone(UTC)


def parsed(payload: Any) -> Any:
    """PostgreSQL returns JSON as values, SQLite as text."""
    return json.loads(payload) if isinstance(payload, str) else payload


def rows_of(query: Query, kind: Callable[..., Row], table: str, order: str) -> list[Row]:
    return [kind(*row) for row in query(_select(kind, table, order))]


def _select(kind: Any, table: str, order: str) -> str:
    columns = ", ".join(field.name for field in fields(kind))
    return f"SELECT {columns} FROM {table} ORDER BY {order}"


# Checking.


def _wrong_inputs(ledger: Ledger, sent: Sequence[Sent]) -> Iterator[str]:
    """Every confirmed input is there once, as it was sent and in the order of sending."""
    known = {each.input_id: each for each in sent}
    stored = Counter(row.id for row in ledger.inputs)
    for input_id, times in stored.items():
        if times > 1:
            yield f"input {input_id} is stored {times} times"
        if input_id not in known:
            yield f"input {input_id} is stored but nobody sent it"
    for each in sent:
        if each.is_confirmed and each.input_id not in stored:
            yield f"input {each.input_id} was confirmed but is not stored"
    for row in ledger.inputs:
        each = known.get(row.id, Sent(row.id, row.session_id, row.text))
        if (row.session_id, row.text) != (each.session_id, each.text):
            yield f"input {row.id} is not what was sent"
    for session_id, rows in grouped(ledger.inputs, lambda row: row.session_id).items():
        ordinals = [row.ordinal for row in rows]
        kept_and_removed = len(rows) + _removed(ledger, session_id)
        if ordinals != sorted(set(ordinals)) or ordinals[-1] >= kept_and_removed:
            yield f"session {session_id}: the ordinals of its inputs have gaps or doubles"
        order = [each.input_id for each in sent if each.session_id == session_id]
        if [row.id for row in rows] != [input_id for input_id in order if input_id in stored]:
            yield f"session {session_id}: its inputs were not admitted in the order of sending"


def _wrong_deliveries(ledger: Ledger) -> Iterator[str]:
    """Each input has one turn that counts; all its other turns died before they said anything."""
    turns = {turn.id: turn for turn in ledger.turns}
    told_queued = Counter(input_of(event) for event in ledger.events if event.type == QUEUED)
    deliveries = defaultdict(list)
    for event in ledger.events:
        if event.type == DELIVERED:
            deliveries[input_of(event)].append(event.turn_id)
    for row in ledger.inputs:
        delivered_to = deliveries.pop(row.id, [])
        if not delivered_to or row.delivered_at is None:
            yield f"input {row.id} was never delivered, or waits again"
            continue
        if delivered_to[-1] != row.turn_id:
            yield f"input {row.id} belongs to turn {row.turn_id} but was told to {delivered_to[-1]}"
        if told_queued[row.id] != len(delivered_to):
            yield (
                f"input {row.id} was queued {told_queued[row.id]} times "
                f"and delivered {len(delivered_to)} times"
            )
        for turn_id in delivered_to[:-1]:
            if turn_id not in turns or not turns[turn_id].died_empty:
                yield f"input {row.id} was delivered again after turn {turns.get(turn_id or '')}"
        yield from _wrong_final_turn(row, turns.get(row.turn_id or ""))
    removed = {event.payload["input_id"] for event in ledger.events if event.type == REMOVED}
    for input_id in deliveries.keys() - removed:
        yield f"input {input_id} was delivered but is not stored"


def _early_deliveries(ledger: Ledger) -> Iterator[str]:
    """No turn takes an input before the instant for which it waits, not even one that came to
    nothing."""
    for row in ledger.inputs:
        if row.not_before is None or row.delivered_at is None:
            continue
        if moment(row.delivered_at) < moment(row.not_before):
            yield f"input {row.id} was delivered before its time"
    for event in ledger.events:
        if event.type != DELIVERED or (not_before := event.payload["input"]["not_before"]) is None:
            continue
        if moment(event.payload["input"]["delivered_at"]) < moment(not_before):
            yield f"turn {event.turn_id} began with {input_of(event)} before its time"


def _wrong_final_turn(row: InputRow, turn: TurnRow | None) -> Iterator[str]:
    if turn is None:
        yield f"input {row.id} has no turn"
    elif turn.session_id != row.session_id:
        yield f"input {row.id} was answered in another session, by turn {turn.id}"
    elif turn.outcome == "stopped" and turn.stop_reason is None:
        yield f"turn {turn.id} was stopped though nobody asked for it"
    elif turn.died_empty:
        yield f"input {row.id} is lost: its turn {turn.id} died before it said anything"
    elif turn.outcome not in ("ok", "stopped") and not turn.has_lost_its_server:
        yield f"input {row.id}: turn {turn.id} ended as {turn.outcome}: {turn.error}"


def _wrong_turns(ledger: Ledger) -> Iterator[str]:
    """Each turn tells its whole story once: delivered, start, what happened, end, sync."""
    stories = grouped(ledger.events, lambda event: event.turn_id)
    stories.pop(None, None)
    for turn in ledger.turns:
        story = stories.pop(turn.id, [])
        types = [event.type for event in story]
        if turn.ended_at is None or turn.outcome is None:
            yield f"turn {turn.id} has no end"
        if types[:2] != [DELIVERED, "stream_start"] or types[-2:] != ["stream_end", "session_sync"]:
            yield f"turn {turn.id} does not begin and end as it should: {types}"
        for once in (DELIVERED, "stream_start", "stream_end", "session_sync"):
            if types.count(once) != 1:
                yield f"turn {turn.id} has {types.count(once)} events {once}"
        if len(types) - 4 != turn.event_count:
            yield f"turn {turn.id} counts {turn.event_count} events but has {len(types) - 4}"
        if any(event.session_id != turn.session_id for event in story):
            yield f"turn {turn.id} has events in another session"
        yield from _wrong_end(turn, [event for event in story if event.type == "stream_end"])
    for turn_id in stories:
        yield f"there are events of turn {turn_id}, which is not stored"


def _wrong_end(turn: TurnRow, ends: Iterable[EventRow]) -> Iterator[str]:
    expected = {"outcome": turn.outcome, "message_id": turn.message_id, "error": turn.error}
    for end in ends:
        if end.payload != expected:
            yield f"turn {turn.id} told an end that is not stored: {end.payload}"


def _overlapping_turns(ledger: Ledger) -> Iterator[str]:
    """No event of another turn between a turn's first and last one, and no time in common."""
    order = {turn.id: turn.fence for turn in ledger.turns}
    for session_id, events in grouped(ledger.events, lambda event: event.session_id).items():
        blocks: list[str] = []
        for event in events:
            if event.turn_id is not None and blocks[-1:] != [event.turn_id]:
                blocks.append(event.turn_id)
        if len(blocks) != len(set(blocks)):
            yield f"session {session_id} had two turns at once"
        fences = [order.get(turn_id, 0) for turn_id in blocks]
        if fences != sorted(set(fences)):
            yield f"session {session_id}: its turns did not run in the order of their fences"
    for session_id, turns in grouped(ledger.turns, lambda turn: turn.session_id).items():
        for earlier, later in pairwise(turns):
            if earlier.ended_at is None or later.started_at < earlier.ended_at:
                yield f"session {session_id}: {later.id} began before {earlier.id} had ended"


def _wrong_messages(ledger: Ledger) -> Iterator[str]:
    """One message of the user per input, in order; no message of a turn that died empty."""
    inputs = {row.id: row for row in ledger.inputs}
    turns = {turn.id: turn for turn in ledger.turns}
    from_user = Counter(message.id for message in ledger.messages if message.role == "user")
    for row in ledger.inputs:
        if from_user[row.id] != 1:
            yield f"input {row.id} has {from_user[row.id]} messages in the transcript"
    for message in ledger.messages:
        if message.is_notice:
            continue
        turn = turns.get(message.turn_id or "")
        if turn is None or turn.was_given_back or turn.session_id != message.session_id:
            yield f"message {message.id} belongs to no turn that counts"
        if message.role == "user":
            asked = inputs.get(message.id)
            if asked is None or (asked.text, asked.turn_id) != (message.content, message.turn_id):
                yield f"message {message.id} is not its input"
    for session_id, messages in grouped(ledger.messages, lambda row: row.session_id).items():
        places = [-1, *(message.idx for message in messages)]
        for (earlier, later), message in zip(pairwise(places), messages, strict=True):
            # A turn that died empty leaves its place free, if something was told meanwhile.
            if later - earlier not in ((1, 2) if message.is_notice else (1,)):
                yield f"session {session_id}: the transcript has gaps"
        yield from _wrong_order(
            session_id,
            [
                inputs[message.id]
                for message in messages
                if message.id in inputs and inputs[message.id].delivered_at is not None
            ],
        )
        fences = [turns[each.turn_id].fence for each in messages if each.turn_id in turns]
        if fences != sorted(fences):
            yield f"session {session_id}: the transcript mixes turns"


def _wrong_order(session_id: str, delivered: Sequence[InputRow]) -> Iterator[str]:
    """Inputs of one mode are delivered by their places, unless the one with the earlier place was
    admitted later: a due row that was claimed late."""
    # Recalls have slots of their own, so one that waits for a slot is overtaken by the others.
    kinds = grouped(delivered, lambda row: (row.delivery_mode, row.origin == "recall"))
    for (mode, _), rows in kinds.items():
        for earlier, later in combinations(rows, 2):
            was_there = moment(later.queued_at) < moment(earlier.delivered_at)
            is_late = later.not_before is not None and not was_there
            if later.place < earlier.place and not is_late:
                ordinals = [row.ordinal for row in rows]
                yield f"session {session_id}: {mode} inputs were delivered out of order: {ordinals}"
                break


def _wrong_answers(ledger: Ledger, sent: Sequence[Sent]) -> Iterator[str]:
    """A turn that went well has left the whole answer; its end names the last message."""
    answers = {each.input_id: each.answer for each in sent}
    by_turn = grouped(ledger.messages, lambda message: message.turn_id)
    for turn in ledger.turns:
        said = [message for message in by_turn.get(turn.id, []) if message.role == "assistant"]
        if turn.message_id != (said[-1].id if said else None):
            yield f"turn {turn.id} names {turn.message_id} as its last message"
        if not said and not turn.was_given_back:
            yield f"turn {turn.id} left no answer"
        if turn.outcome != "ok":
            continue
        asked = [message.id for message in by_turn.get(turn.id, []) if message.role == "user"]
        expected = [answers.get(input_id) for input_id in asked]
        if said and expected != [None] and [said[-1].content] != expected:
            yield f"turn {turn.id} answered {said[-1].content!r} instead of {expected}"


def _wrong_numbers(ledger: Ledger) -> Iterator[str]:
    """`seq` counts 1…n per session, `position` 1…N over all, in the same order."""
    positions = [event.position for event in ledger.events]
    if positions != list(range(1, ledger.last_position + 1)):
        yield f"the positions are not 1 to {ledger.last_position}: {_first_gap(positions)}"
    by_session = grouped(ledger.events, lambda event: event.session_id)
    for lane in ledger.lanes:
        numbers = [event.seq for event in by_session.get(lane.session_id, [])]
        if numbers != list(range(1, lane.last_seq + 1)):
            yield f"session {lane.session_id}: seq is not 1 to {lane.last_seq}: " + _first_gap(
                numbers
            )
    for turns in grouped(ledger.turns, lambda turn: turn.session_id).values():
        if len({turn.fence for turn in turns}) != len(turns):
            yield f"session {turns[0].session_id}: two turns share a fence"


def _first_gap(numbers: Sequence[int]) -> str:
    for expected, number in enumerate(numbers, start=1):
        if number != expected:
            return f"{number} where {expected} should be"
    return f"the last one is {len(numbers)}"


def _unrest(ledger: Ledger) -> Iterator[str]:
    """Nothing is owned, runs or waits, and the counters agree with what they count."""
    states = {session.id: session.state for session in ledger.sessions}
    # They are read in their order.
    last_places = {message.session_id: message.idx for message in ledger.messages}
    inputs = Counter(row.session_id for row in ledger.inputs)
    for lane in ledger.lanes:
        name = lane.session_id
        if (lane.turn_id, lane.owner, lane.lease_until) != (None, None, None):
            yield f"session {name} is still owned by {lane.owner}, turn {lane.turn_id}"
        if states.get(name) != "idle":
            yield f"session {name} is {states.get(name)}"
        ordinals = inputs[name] + _removed(ledger, name)
        if (lane.next_idx, lane.next_ordinal) != (last_places.get(name, -1) + 1, ordinals):
            yield f"session {name}: {lane} does not agree with its messages and inputs"
    if {lane.session_id for lane in ledger.lanes} != states.keys():
        yield "sessions and lanes are not the same"


def _removed(ledger: Ledger, session_id: str) -> int:
    """How many inputs were taken out of its queue."""
    return sum(event.type == REMOVED for event in ledger.events_of(session_id))


QUEUED = "input_queued"
REMOVED = "input_removed"
DELIVERED = "input_delivered"


def input_of(event: EventRow) -> str:
    return str(event.payload["input"]["id"])


def grouped(rows: Iterable[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    groups: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups
