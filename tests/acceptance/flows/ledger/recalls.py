"""Recalls: each due recall has exactly one input, and records how that input's turn ended.

A recurring recall has its beats on its grid, each at most once, and counts those that were not run.
A recall and its input agree at any moment on whether it waits, runs or is over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tests.acceptance.flows.ledger.rows import (
    DELIVERED,
    LEAD,
    EventRow,
    InputRow,
    Ledger,
    RecallRow,
    TurnRow,
    grouped,
    wire_time,
)

UPDATE = "recall_update"


@dataclass(frozen=True, slots=True)
class ScheduledRecall:
    """A recall as its creator remembers it; texts are unique in a session."""

    session_id: str
    text: str
    then: str | None = None
    """The text of the recall that its own turn schedules."""
    is_confirmed: bool = True


def violations(ledger: Ledger, scheduled: Sequence[ScheduledRecall]) -> Iterator[str]:
    yield from _wrong_schedules(ledger, scheduled)
    yield from _wrong_beats(ledger)
    yield from _wrong_states(ledger)
    yield from _wrong_grids(ledger)
    yield from _wrong_updates(ledger)


def momentary_violations(ledger: Ledger) -> Iterator[str]:
    """A recall and its input agree at any moment: neither is ever lost alone."""
    beats = {beat.id: beat for beat in ledger.beats}
    recalls = {recall.id: recall for recall in ledger.recalls}
    pending = {recall.session_id for recall in ledger.recalls if recall.status == "pending"}
    for recall in ledger.recalls:
        beat = beats.get(recall.input_id or "")
        is_running = beat is not None and _is_running(ledger, beat)
        is_waiting = beat is not None and beat.turn_id is None
        if recall.status == "pending" and recall.input_id is not None:
            is_beating = is_running and recall.interval_seconds is not None
            if not is_waiting and not is_beating:
                yield f"recall {recall.id} is pending, but input {recall.input_id} does not wait"
        is_unclaimed = recall.status == "pending" and recall.input_id is None
        if is_unclaimed and recall.trigger_at != recall.due_at:
            yield f"recall {recall.id} is not claimed and yet shown at {recall.trigger_at}"
        if recall.status == "running":
            # Given back while another one was pending: it waits, but cannot be shown as pending.
            is_hidden = is_waiting and recall.session_id in pending
            if not is_running and not is_hidden:
                yield f"recall {recall.id} is running, but input {recall.input_id} is not"
    for beat in ledger.beats:
        of = recalls.get(beat.metadata["recall_id"])
        if beat.turn_id is None and of is not None and not _may_wait(ledger, beat, of):
            yield f"input {beat.id} waits, but its recall is {of.status} with {of.input_id}"


def _is_running(ledger: Ledger, beat: InputRow) -> bool:
    turn = ledger.turns_by_id.get(beat.turn_id)
    return turn is not None and turn.ended_at is None


def _may_wait(ledger: Ledger, beat: InputRow, recall: RecallRow) -> bool:
    if recall.status in ("pending", "running"):
        return recall.input_id == beat.id
    # Cancelled during its turn, which was given back then.
    return any(event.type == DELIVERED and event.input_id == beat.id for event in ledger.events)


def _wrong_schedules(ledger: Ledger, scheduled: Sequence[ScheduledRecall]) -> Iterator[str]:
    """Every confirmed recall is stored once, and so is each scheduled by another's turn."""
    outcomes = {_text_of(recall): recall.outcome for recall in ledger.recalls}
    kept = Counter(_text_of(recall) for recall in ledger.recalls)
    for (session_id, text), times in kept.items():
        if times > 1:
            yield f"session {session_id} was to recall {text!r} {times} times"
    for each in scheduled:
        key = (each.session_id, each.text)
        if each.is_confirmed and not kept[key]:
            yield f"recall {each.text!r} was confirmed but is not stored"
        if each.then is None or outcomes.get(key) != "ok":
            continue
        if not kept[each.session_id, each.then]:
            yield f"recall {each.text!r} went well but its successor is not stored"


def _text_of(recall: RecallRow) -> tuple[str, str]:
    return recall.session_id, recall.additional_context_message


def _wrong_beats(ledger: Ledger) -> Iterator[str]:
    """Every recall input comes from one beat of a recall, and waits for its instant."""
    recalls = {recall.id: recall for recall in ledger.recalls}
    starts = {
        event.turn_id: event.payload["is_recall"]
        for event in ledger.events
        if event.type == "stream_start"
    }
    for beat in ledger.beats:
        recall = recalls.get(beat.metadata["recall_id"])
        if recall is None:
            yield f"input {beat.id} comes from no recall"
            continue
        if (beat.session_id, beat.text) != _text_of(recall):
            yield f"input {beat.id} is not its recall"
        if beat.id != f"{recall.id}.{int(beat.due_at.timestamp() * 1000)}":
            yield f"input {beat.id} is not named after its beat"
        if beat.metadata["due_at"] != wire_time(beat.due_at):
            yield f"input {beat.id} names another beat than the one that it waits for"
        if beat.queued_at < beat.due_at - LEAD:
            yield f"input {beat.id} was admitted too early"
        if beat.turn_id is not None and not starts.get(beat.turn_id):
            yield f"input {beat.id}: its turn was not announced as a recall's"
    beats = grouped(ledger.beats, lambda beat: (beat.metadata["recall_id"], beat.due_at))
    for (recall_id, due_at), same in beats.items():
        if len(same) > 1:
            yield f"recall {recall_id} was admitted {len(same)} times for {due_at}"


def _wrong_states(ledger: Ledger) -> Iterator[str]:
    """A recall records how its last turn ended, as soon as that has ended."""
    for recall in ledger.recalls:
        beats = ledger.beats_of(recall)
        if recall.status == "running":
            continue
        was_called_off = recall.status == "cancelled" and recall.outcome in (None, "cancelled")
        if recall.interval_seconds is None:
            expected = 0 if was_called_off or recall.status == "pending" else 1
            if len(beats) != expected:
                yield f"recall {recall.id} is {recall.status} and has {len(beats)} inputs"
            if expected and [beat.id for beat in beats] != [recall.input_id]:
                yield f"recall {recall.id} names {recall.input_id} as its input"
        if beats and not was_called_off:
            yield from _wrong_outcome(recall, ledger.turns_by_id.get(beats[-1].turn_id))


def _wrong_outcome(recall: RecallRow, turn: TurnRow | None) -> Iterator[str]:
    if turn is None or turn.ended_at is None:
        yield f"recall {recall.id} is {recall.status} but its turn has not ended"
        return
    was_replaced = (recall.status, recall.outcome, recall.error) == ("fired", "replaced", None)
    if was_replaced and recall.interval_seconds is not None:
        return
    if recall.outcome != turn.outcome or (turn.error and recall.error != turn.error):
        yield (
            f"recall {recall.id} says {recall.outcome} ({recall.error}) "
            f"but its turn ended as {turn.outcome} ({turn.error})"
        )
    if recall.interval_seconds is not None:
        return
    if recall.status != ("cancelled" if turn.outcome == "error" else "fired"):
        yield f"recall {recall.id} is {recall.status} though its turn ended as {turn.outcome}"
    if recall.updated_at != turn.ended_at:
        yield f"recall {recall.id} did not end together with its turn {turn.id}"


def _wrong_grids(ledger: Ledger) -> Iterator[str]:
    """Each past beat was either run or counted as missed, never both."""
    announced = _announced_beats(ledger.events)
    for recall in ledger.recalls:
        if recall.interval_seconds is None:
            continue
        beats = ledger.beats_of(recall)
        reached = [beat.due_at for beat in beats]
        # The next beat is planned as soon as the turn of this one begins.
        if recall.due_at in reached:
            yield f"recall {recall.id} did not move on from its beat at {recall.due_at}"
            continue
        reached.append(recall.due_at)
        if announced.get(recall.id, [])[:1] != [wire_time(reached[0])]:
            yield f"recall {recall.id} did not begin with its first beat"
        gaps = []
        for earlier, later in pairwise(reached):
            steps, rest = divmod(later - earlier, recall.interval)
            if rest or steps < 1:
                yield f"recall {recall.id} left its grid between {earlier} and {later}"
            gaps.append(steps - 1)
        for beat, gap in zip(beats, gaps, strict=False):
            # How many later beats had passed when the turn of this one began.
            if (missed := beat.metadata["missed_count"]) > gap:
                yield f"input {beat.id} reports {missed} missed beats, but {gap} were"
        if recall.missed_count != sum(gaps):
            yield (
                f"recall {recall.id} ran {len(beats)} beats and counts {recall.missed_count} "
                f"as missed, but {sum(gaps)} were"
            )


def _wrong_updates(ledger: Ledger) -> Iterator[str]:
    """`recall_update` announces every beat once, and finally what is pending."""
    announced = _announced_beats(ledger.events)
    given_back = _beats_given_back(ledger)
    for recall in ledger.recalls:
        dues = [wire_time(beat.due_at) for beat in ledger.beats_of(recall)]
        if wire_time(recall.due_at) not in dues:
            dues.append(wire_time(recall.due_at))
        updates = announced.pop(recall.id, [])
        # In between are beats that were planned when a turn began, and passed while it ran.
        passed = {each for each in updates if each < wire_time(recall.due_at)} - set(dues)
        if not set(dues) <= set(updates) or not _goes_on(updates, given_back.get(recall.id, set())):
            yield f"recall {recall.id}: the beats that were announced are not those that came"
        if len(passed) > recall.missed_count or updates[-1:] != dues[-1:]:
            yield f"recall {recall.id}: {len(passed)} beats were announced that did not come"
    for recall_id in announced:
        yield f"recall {recall_id} was announced but is not stored"
    pending = {recall.session_id: recall for recall in ledger.recalls if recall.status == "pending"}
    for session_id, events in ledger.events_by_session.items():
        last = [None, *(event.payload["recall"] for event in events if event.type == UPDATE)][-1]
        if _summary(last) != _expected(pending.get(session_id)):
            yield f"session {session_id}: the last recall_update announced {last}"
        yield from _late_moves(ledger, events)


def _goes_on(announced: Sequence[str], given_back: set[str]) -> bool:
    """Whether each beat is later than the one before, or belongs to a turn that was given back."""
    return all(later > earlier or later in given_back for earlier, later in pairwise(announced))


def _beats_given_back(ledger: Ledger) -> dict[str, set[str]]:
    """The beats of each recall that a turn took and gave back."""
    beats: dict[str, set[str]] = {}
    for event in ledger.events:
        turn = ledger.turns_by_id.get(event.turn_id)
        if event.type == DELIVERED and turn is not None and turn.died_empty:
            metadata = event.payload["input"]["metadata"]
            if "recall_id" in metadata:
                beats.setdefault(metadata["recall_id"], set()).add(metadata["due_at"])
    return beats


def _late_moves(ledger: Ledger, events: Sequence[EventRow]) -> Iterator[str]:
    """When a beat's turn begins, its recall is no longer shown as pending for that beat."""
    beats = {beat.id: (beat.metadata["recall_id"], wire_time(beat.due_at)) for beat in ledger.beats}
    pending: Mapping[str, Any] | None = None
    for event in events:
        if event.type == UPDATE:
            pending = event.payload["recall"]
        if event.type != DELIVERED or pending is None:
            continue
        if beats.get(event.input_id) == (pending["id"], pending["due_at"]):
            yield f"input {event.input_id} was delivered, and its recall still seemed to wait"


def _announced_beats(events: Sequence[EventRow]) -> dict[str, list[str]]:
    """The beats of each recall in the order in which they were announced as the next one."""
    dues: dict[str, list[str]] = {}
    for event in events:
        if event.type == UPDATE and (recall := event.payload["recall"]):
            announced = dues.setdefault(recall["id"], [])
            if announced[-1:] != [recall["due_at"]]:
                announced.append(recall["due_at"])
    return dues


def _summary(update: Mapping[str, Any] | None) -> tuple[Any, ...] | None:
    if update is None:
        return None
    return tuple(update[name] for name in ("id", "status", "due_at", "trigger_at", "missed_count"))


def _expected(pending: RecallRow | None) -> tuple[Any, ...] | None:
    if pending is None:
        return None
    times = (wire_time(pending.due_at), wire_time(pending.trigger_at))
    return (pending.id, "pending", *times, pending.missed_count)
