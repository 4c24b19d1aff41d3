"""Inputs and turns: each admitted input has exactly one turn that counts, none before it is due.

Nothing is lost or repeated, and numbering has no gaps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from tests.acceptance.flows.ledger.rows import (
    DELIVERED,
    QUEUED,
    REMOVED,
    EventRow,
    InputRow,
    Ledger,
    TurnRow,
    grouped,
    parse_time,
)


@dataclass(frozen=True, slots=True)
class Sent:
    """An input as its sender remembers it; `answer` is what a successful turn says last."""

    input_id: str
    session_id: str
    text: str
    answer: str | None = None
    is_confirmed: bool = True
    wants_notices: bool = False
    """Its sender asked to be told of the delivery and of the end of the turn."""


def violations(ledger: Ledger, sent: Sequence[Sent]) -> Iterator[str]:
    yield from _wrong_inputs(ledger, _with_own_inputs(ledger, sent))
    yield from _wrong_deliveries(ledger)
    yield from _early_deliveries(ledger)
    yield from _wrong_turns(ledger)
    yield from _overlapping_turns(ledger)
    yield from _wrong_messages(ledger)
    yield from _wrong_answers(ledger, sent)
    yield from _wrong_numbers(ledger)
    yield from _unrest(ledger)


def stream_violations(frames: Sequence[Mapping[str, Any]], stored: Sequence[EventRow]) -> list[str]:
    """Where the frames that a client received differ from the stored events."""
    wrong = []
    for frame, event in zip(frames, stored, strict=False):
        if _frame_of(event) != {name: value for name, value in frame.items() if name != "at"}:
            wrong.append(f"frame {frame['position']} is not the stored event {event}")
    if len(frames) != len(stored):
        wrong.append(f"{len(frames)} frames were received but {len(stored)} events are stored")
    return wrong


def _frame_of(event: EventRow) -> dict[str, Any]:
    return {
        "type": event.type,
        "session_id": event.session_id,
        "seq": event.seq,
        "turn_id": event.turn_id,
        "position": event.position,
        **event.payload,
    }


def _with_own_inputs(ledger: Ledger, sent: Sequence[Sent]) -> list[Sent]:
    """The clients' inputs and Navi's own, in the order of admission.

    The clients' inputs keep the order in which they were sent, so that it is still checked.
    """
    stored = [each for each in sent if each.input_id in ledger.inputs_by_id]
    left = {key: iter(rows) for key, rows in grouped(stored, lambda s: s.session_id).items()}
    merged = [each for each in sent if each.input_id not in ledger.inputs_by_id]
    for row in ledger.inputs:
        if row.is_made_by_navi:
            merged.append(Sent(row.id, row.session_id, row.text))
        elif (following := next(left.get(row.session_id, iter(())), None)) is not None:
            merged.append(following)
    return merged


def _wrong_inputs(ledger: Ledger, sent: Sequence[Sent]) -> Iterator[str]:
    """Every confirmed input is stored once, unchanged, in the order of sending."""
    sent_by_id = {each.input_id: each for each in sent}
    stored = Counter(row.id for row in ledger.inputs)
    for input_id, times in stored.items():
        if times > 1:
            yield f"input {input_id} is stored {times} times"
        if input_id not in sent_by_id:
            yield f"input {input_id} is stored but nobody sent it"
    for each in sent:
        if each.is_confirmed and each.input_id not in stored:
            yield f"input {each.input_id} was confirmed but is not stored"
    for row in ledger.inputs:
        each = sent_by_id.get(row.id, Sent(row.id, row.session_id, row.text))
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
    """Each input has one turn that counts; its other turns died before their first output."""
    turns = ledger.turns_by_id
    queued = Counter(event.input_id for event in ledger.events if event.type == QUEUED)
    delivered = [event for event in ledger.events if event.type == DELIVERED]
    deliveries = grouped(delivered, lambda event: event.input_id)
    for row in ledger.inputs:
        turn_ids = [event.turn_id for event in deliveries.pop(row.id, [])]
        if not turn_ids or row.delivered_at is None:
            yield f"input {row.id} was never delivered, or waits again"
            continue
        if turn_ids[-1] != row.turn_id:
            yield f"input {row.id} belongs to turn {row.turn_id} but was sent to {turn_ids[-1]}"
        if queued[row.id] != len(turn_ids):
            yield (
                f"input {row.id} was queued {queued[row.id]} times "
                f"and delivered {len(turn_ids)} times"
            )
        for turn_id in turn_ids[:-1]:
            if turn_id not in turns or not turns[turn_id].died_empty:
                yield f"input {row.id} was delivered again after turn {turns.get(turn_id)}"
        yield from _wrong_final_turn(row, turns.get(row.turn_id))
    for input_id in deliveries.keys() - ledger.removed_ids:
        yield f"input {input_id} was delivered but is not stored"


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


def _early_deliveries(ledger: Ledger) -> Iterator[str]:
    """No turn takes an input before its instant, not even a turn that left no trace."""
    for row in ledger.inputs:
        if row.not_before and row.delivered_at and row.delivered_at < row.not_before:
            yield f"input {row.id} was delivered before its time"
    for event in ledger.events:
        if event.type != DELIVERED or (not_before := event.payload["input"]["not_before"]) is None:
            continue
        if parse_time(event.payload["input"]["delivered_at"]) < parse_time(not_before):
            yield f"turn {event.turn_id} began with {event.input_id} before its time"


def _wrong_turns(ledger: Ledger) -> Iterator[str]:
    """Each turn has all its events once: inputs, start, output, end, sync."""
    stories = grouped(ledger.events, lambda event: event.turn_id)
    stories.pop(None, None)
    for turn in ledger.turns:
        story = stories.pop(turn.id, [])
        types = [event.type for event in story]
        inputs = _input_count(story)
        begin, end = [DELIVERED] * inputs + ["stream_start"], ["stream_end", "session_sync"]
        if turn.ended_at is None or turn.outcome is None:
            yield f"turn {turn.id} has no end"
        if types[: inputs + 1] != begin or types[-2:] != end:
            yield f"turn {turn.id} does not begin and end as it should: {types}"
        for once in ("stream_start", *end):
            if types.count(once) != 1:
                yield f"turn {turn.id} has {types.count(once)} events {once}"
        if types.count(DELIVERED) != inputs:
            yield f"turn {turn.id} has {types.count(DELIVERED)} events {DELIVERED}"
        happened = len(types) - len(begin) - len(end)
        if happened != turn.event_count:
            yield f"turn {turn.id} counts {turn.event_count} events but has {happened}"
        if any(event.session_id != turn.session_id for event in story):
            yield f"turn {turn.id} has events in another session"
        yield from _wrong_end(turn, [event for event in story if event.type == "stream_end"])
    for turn_id in stories:
        yield f"there are events of turn {turn_id}, which is not stored"


def _input_count(story: Iterable[EventRow]) -> int:
    """How many inputs a turn may have: only messages of agents and reminders share one."""
    delivered = [event for event in story if event.type == DELIVERED]
    origins = {event.payload["input"]["origin"] for event in delivered}
    may_share = origins <= {"agent", "reminder"}
    return len({event.input_id for event in delivered}) if delivered and may_share else 1


def _wrong_end(turn: TurnRow, ends: Iterable[EventRow]) -> Iterator[str]:
    expected = {"outcome": turn.outcome, "message_id": turn.message_id, "error": turn.error}
    for end in ends:
        if end.payload != expected:
            yield f"turn {turn.id} announced an end that is not stored: {end.payload}"


def _overlapping_turns(ledger: Ledger) -> Iterator[str]:
    """Turns of a session never overlap, neither in their events nor in time."""
    for session_id, events in ledger.events_by_session.items():
        blocks: list[str] = []
        for event in events:
            if event.turn_id is not None and blocks[-1:] != [event.turn_id]:
                blocks.append(event.turn_id)
        if len(blocks) != len(set(blocks)):
            yield f"session {session_id} had two turns at once"
        turns = [ledger.turns_by_id.get(turn_id) for turn_id in blocks]
        fences = [turn.fence if turn else 0 for turn in turns]
        if fences != sorted(set(fences)):
            yield f"session {session_id}: its turns did not run in the order of their fences"
    for session_id, rows in grouped(ledger.turns, lambda turn: turn.session_id).items():
        for earlier, later in pairwise(rows):
            if earlier.ended_at is None or later.started_at < earlier.ended_at:
                yield f"session {session_id}: {later.id} began before {earlier.id} had ended"


def _wrong_messages(ledger: Ledger) -> Iterator[str]:
    """One user message per input, in order; none from a turn that died empty."""
    inputs, turns = ledger.inputs_by_id, ledger.turns_by_id
    from_user = Counter(message.id for message in ledger.messages if message.role == "user")
    for row in ledger.inputs:
        if from_user[row.id] != 1:
            yield f"input {row.id} has {from_user[row.id]} messages in the transcript"
    for message in ledger.messages:
        if message.is_notice:
            continue
        turn = turns.get(message.turn_id)
        if turn is None or turn.was_given_back or turn.session_id != message.session_id:
            yield f"message {message.id} belongs to no turn that counts"
        if message.role == "user":
            of = inputs.get(message.id)
            if of is None or (of.text, of.turn_id) != (message.content, message.turn_id):
                yield f"message {message.id} is not its input"
    for session_id, messages in grouped(ledger.messages, lambda row: row.session_id).items():
        places = [-1, *(message.idx for message in messages)]
        for (earlier, later), message in zip(pairwise(places), messages, strict=True):
            # A turn that died empty leaves its place free if a notice was added meanwhile.
            if later - earlier not in ((1, 2) if message.is_notice else (1,)):
                yield f"session {session_id}: the transcript has gaps"
        in_order = [inputs[message.id] for message in messages if message.id in inputs]
        yield from _wrong_order(session_id, [row for row in in_order if row.delivered_at])
        fences = [turns[each.turn_id].fence for each in messages if each.turn_id in turns]
        if fences != sorted(fences):
            yield f"session {session_id}: the transcript mixes turns"


def _wrong_order(session_id: str, delivered: Sequence[InputRow]) -> Iterator[str]:
    """Inputs of one mode are delivered by their places, unless the one with the earlier place was
    admitted later: a due row that was claimed late."""
    # Recalls have slots of their own, so one that waits for a slot is overtaken by the others.
    groups = grouped(delivered, lambda row: (row.delivery_mode, row.origin == "recall"))
    for (mode, _), rows in groups.items():
        for earlier, later in combinations(rows, 2):
            was_there = earlier.delivered_at and later.queued_at < earlier.delivered_at
            is_late = later.not_before is not None and not was_there
            if later.place < earlier.place and not is_late:
                ordinals = [row.ordinal for row in rows]
                yield f"session {session_id}: {mode} inputs were delivered out of order: {ordinals}"
                break


def _wrong_answers(ledger: Ledger, sent: Sequence[Sent]) -> Iterator[str]:
    """A successful turn left its whole answer; its end event names the last message."""
    answers = {each.input_id: each.answer for each in sent}
    by_turn = grouped(ledger.messages, lambda message: message.turn_id)
    for turn in ledger.turns:
        messages = by_turn.get(turn.id, [])
        replies = [message for message in messages if message.role == "assistant"]
        if turn.message_id != (replies[-1].id if replies else None):
            yield f"turn {turn.id} names {turn.message_id} as its last message"
        if not replies and not turn.was_given_back:
            yield f"turn {turn.id} left no answer"
        if turn.outcome != "ok" or not replies:
            continue
        expected = [answers.get(message.id) for message in messages if message.role == "user"]
        reply = replies[-1].content
        is_whole = [reply] == expected
        if len(expected) > 1:  # A turn with several messages plays all their scripts.
            is_whole = all(answer in reply for answer in expected if answer)
        if expected != [None] and not is_whole:
            yield f"turn {turn.id} answered {reply!r} instead of {expected}"


def _wrong_numbers(ledger: Ledger) -> Iterator[str]:
    """`seq` counts 1…n per session, `position` 1…N over all, in the same order."""
    positions = [event.position for event in ledger.events]
    if positions != list(range(1, ledger.last_position + 1)):
        yield f"the positions are not 1 to {ledger.last_position}: {_first_gap(positions)}"
    for lane in ledger.lanes:
        numbers = [event.seq for event in ledger.events_of(lane.session_id)]
        if numbers != list(range(1, lane.last_seq + 1)):
            gap = _first_gap(numbers)
            yield f"session {lane.session_id}: seq is not 1 to {lane.last_seq}: {gap}"
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
    # Messages are read in order, so the last one wins.
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
