"""What a store holds about recalls, and whether it adds up with its inputs, turns and events.

`violations` names everything that contradicts the promise: a recall that came due has exactly one
input, that input exactly one turn that counts, and the recall says how that turn ended. A recurring
recall has its beats on its grid, each at most once, and counts those that were not run. Everything
that `ledger.violations` has to say is part of it. It is meant for a store at rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from tests.flows import ledger
from tests.flows.ledger import EventRow, Ledger, Sent, TurnRow, grouped, parsed

SOON = timedelta(seconds=10)
"""A recall that is due so soon is waited for, before a store counts as being at rest."""


@dataclass(frozen=True, slots=True)
class RecallRow:
    id: str
    session_id: str
    due_at: datetime
    trigger_at: datetime
    interval_seconds: int | None
    additional_context_message: str
    status: str
    outcome: str | None
    error: str | None
    missed_count: int
    updated_at: datetime

    @property
    def interval(self) -> timedelta:
        return timedelta(seconds=self.interval_seconds or 0)


@dataclass(frozen=True, slots=True)
class Beat:
    """An input of the origin `recall`."""

    id: str
    session_id: str
    text: str
    queued_at: datetime
    turn_id: str | None
    metadata: Mapping[str, Any]

    @property
    def recall_id(self) -> str:
        return str(self.metadata.get("recall_id"))

    @property
    def due_at(self) -> datetime:
        return _moment(self.metadata["due_at"])

    @property
    def missed(self) -> int:
        """How many later beats had passed when this one was admitted."""
        return int(self.metadata["missed_count"])


@dataclass(frozen=True, slots=True)
class Books:
    ledger: Ledger
    recalls: list[RecallRow]
    beats: list[Beat]

    def beats_of(self, recall: RecallRow) -> list[Beat]:
        return sorted(
            (beat for beat in self.beats if beat.recall_id == recall.id),
            key=lambda beat: beat.due_at,
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """A recall as whoever scheduled it remembers it; the words say which of its session it is.

    `then` is what its own turn schedules.
    """

    session_id: str
    text: str
    then: str | None = None
    is_confirmed: bool = True


def read(database_url: str) -> Books:
    with ledger.snapshot(database_url) as query:
        recalls = ledger.rows_of(query, RecallRow, "session_recalls", "session_id, created_at, id")
        rows = ledger.rows_of(query, _QueueRow, "message_queue", "session_id, ordinal")
        return Books(
            ledger.read_all(query),
            [
                replace(
                    each,
                    due_at=_moment(each.due_at),
                    trigger_at=_moment(each.trigger_at),
                    updated_at=_moment(each.updated_at),
                )
                for each in recalls
            ],
            [_beat(row) for row in rows if row.origin == "recall"],
        )


def progress(database_url: str) -> tuple[int, bool]:
    """How far the events have got, and whether nothing waits, runs or is due soon."""
    position, is_quiet = ledger.progress(database_url)
    if not is_quiet:
        return position, False
    with ledger.snapshot(database_url) as query:
        due = query("SELECT due_at FROM session_recalls WHERE status = 'pending'")
        ((later_position,),) = query("SELECT last_position FROM feed")
    soon = datetime.now(UTC) + SOON
    return later_position, later_position == position and all(_moment(at) > soon for (at,) in due)


def violations(books: Books, sent: Sequence[Sent] = (), asked: Sequence[Asked] = ()) -> list[str]:
    """Everything that should not be so. `sent` is what people sent, `asked` what was scheduled."""
    return [
        *ledger.violations(books.ledger, _all_sent(books, sent)),
        *_wrong_schedules(books, asked),
        *_wrong_beats(books),
        *_wrong_states(books),
        *_wrong_grids(books),
        *_wrong_updates(books),
    ]


@dataclass(frozen=True, slots=True)
class _QueueRow:
    id: str
    session_id: str
    text: str
    queued_at: Any
    turn_id: str | None
    metadata: Any
    origin: str


def _beat(row: _QueueRow) -> Beat:
    queued_at = _moment(row.queued_at)
    return Beat(row.id, row.session_id, row.text, queued_at, row.turn_id, parsed(row.metadata))


def _moment(value: Any) -> datetime:
    """PostgreSQL returns instants as values, SQLite as text."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment.astimezone(UTC)


def _all_sent(books: Books, sent: Sequence[Sent]) -> list[Sent]:
    """What people sent and what recalls became, in the order in which it was admitted.

    People's inputs keep the order in which they sent them, so that it is still checked.
    """
    recalls = {beat.id: Sent(beat.id, beat.session_id, beat.text) for beat in books.beats}
    stored = {row.id for row in books.ledger.inputs}
    by_people = [each for each in sent if each.input_id in stored]
    left = {key: iter(rows) for key, rows in grouped(by_people, lambda s: s.session_id).items()}
    merged = [each for each in sent if each.input_id not in stored]
    for row in books.ledger.inputs:
        known = recalls.get(row.id) or next(left.get(row.session_id, iter(())), None)
        merged += [known] if known else []
    return merged


def _wrong_schedules(books: Books, asked: Sequence[Asked]) -> Iterator[str]:
    """What was confirmed is kept once; so is what the turn of another recall scheduled."""
    outcomes = {_words(recall): recall.outcome for recall in books.recalls}
    kept = Counter(_words(recall) for recall in books.recalls)
    for (session_id, text), times in kept.items():
        if times > 1:
            yield f"session {session_id} was to recall {text!r} {times} times"
    for each in asked:
        words = (each.session_id, each.text)
        if each.is_confirmed and not kept[words]:
            yield f"recall {each.text!r} was confirmed but is not stored"
        if each.then is None or outcomes.get(words) != "ok":
            continue
        if not kept[each.session_id, each.then]:
            yield f"recall {each.text!r} went well but its successor is not stored"


def _words(recall: RecallRow) -> tuple[str, str]:
    return recall.session_id, recall.additional_context_message


def _wrong_beats(books: Books) -> Iterator[str]:
    """Every recall input comes from one beat of a recall, and not before its time."""
    recalls = {recall.id: recall for recall in books.recalls}
    starts = {
        event.turn_id: event.payload["is_recall"]
        for event in books.ledger.events
        if event.type == "stream_start"
    }
    for beat in books.beats:
        recall = recalls.get(beat.recall_id)
        if recall is None:
            yield f"input {beat.id} comes from no recall"
            continue
        if (beat.session_id, beat.text) != (recall.session_id, recall.additional_context_message):
            yield f"input {beat.id} is not its recall"
        if beat.id != f"{recall.id}.{int(beat.due_at.timestamp() * 1000)}":
            yield f"input {beat.id} is not named after its beat"
        if beat.queued_at < beat.due_at:
            yield f"input {beat.id} was admitted before its time"
        if beat.turn_id is not None and not starts.get(beat.turn_id):
            yield f"input {beat.id}: its turn was not told as a recall's"
    for (recall_id, due_at), same in grouped(
        books.beats, lambda beat: (beat.recall_id, beat.due_at)
    ).items():
        if len(same) > 1:
            yield f"recall {recall_id} was admitted {len(same)} times for {due_at}"


def _wrong_states(books: Books) -> Iterator[str]:
    """A recall says how its last turn ended, from the moment on at which that ended."""
    turns = {turn.id: turn for turn in books.ledger.turns}
    for recall in books.recalls:
        beats = books.beats_of(recall)
        if recall.status == "running":
            yield f"recall {recall.id} is told to run, with {len(beats)} inputs, but nothing runs"
            continue
        was_called_off = recall.status == "cancelled" and recall.outcome in (None, "cancelled")
        if recall.interval_seconds is None:
            expected = 0 if was_called_off or recall.status == "pending" else 1
            if len(beats) != expected:
                yield f"recall {recall.id} is {recall.status} and has {len(beats)} inputs"
        if beats and not was_called_off:
            yield from _wrong_outcome(recall, turns.get(beats[-1].turn_id or ""))


def _wrong_outcome(recall: RecallRow, turn: TurnRow | None) -> Iterator[str]:
    if turn is None or turn.ended_at is None:
        yield f"recall {recall.id} is {recall.status} but its turn has not ended"
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
    if recall.updated_at != _moment(turn.ended_at):
        yield f"recall {recall.id} did not end together with its turn {turn.id}"


def _wrong_grids(books: Books) -> Iterator[str]:
    """Each beat that passed was run or is counted as missed; none was both."""
    first_told = {recall_id: dues[0] for recall_id, dues in _told_dues(books.ledger.events).items()}
    for recall in books.recalls:
        if recall.interval_seconds is None:
            continue
        beats = books.beats_of(recall)
        reached = [beat.due_at for beat in beats]
        # The next beat, which has not come; or the last one, if nothing follows it.
        if recall.due_at not in reached:
            reached.append(recall.due_at)
        if _told(reached[0]) != first_told.get(recall.id):
            yield f"recall {recall.id} did not begin with its first beat"
        gaps = []
        for earlier, later in pairwise(reached):
            steps, rest = divmod(later - earlier, recall.interval)
            if rest or steps < 1:
                yield f"recall {recall.id} left its grid between {earlier} and {later}"
            gaps.append(steps - 1)
        for beat, gap in zip(beats, gaps, strict=False):
            if beat.missed > gap:
                yield f"input {beat.id} tells of {beat.missed} missed beats, but {gap} were"
        if len(gaps) < len(beats):
            gaps.append(beats[-1].missed)
        if recall.missed_count != sum(gaps):
            yield (
                f"recall {recall.id} ran {len(beats)} beats and counts {recall.missed_count} "
                f"as missed, but {sum(gaps)} were"
            )


def _wrong_updates(books: Books) -> Iterator[str]:
    """`recall_update` tells every beat once, and in the end what is pending."""
    told = _told_dues(books.ledger.events)
    for recall in books.recalls:
        dues = [_told(beat.due_at) for beat in books.beats_of(recall)]
        if _told(recall.due_at) not in dues:
            dues.append(_told(recall.due_at))
        if told.pop(recall.id, []) != dues:
            yield f"recall {recall.id}: the beats that were told are not those that came"
    for recall_id in told:
        yield f"recall {recall_id} was told but is not stored"
    pending = {recall.session_id: recall for recall in books.recalls if recall.status == "pending"}
    for session_id, events in grouped(books.ledger.events, lambda event: event.session_id).items():
        updates = [event.payload["recall"] for event in events if event.type == UPDATE]
        last = updates[-1] if updates else None
        if _shown(last) != _expected(pending.get(session_id)):
            yield f"session {session_id}: the last recall_update told {last}"
        yield from _wrong_claims(books, events)


def _wrong_claims(books: Books, events: Sequence[EventRow]) -> Iterator[str]:
    """The claim is told with the admission: nothing of the session lies between them."""
    names = {beat.id for beat in books.beats}
    seen: set[str] = set()
    for event, following in pairwise([*events, None]):
        if event is None or event.type != ledger.QUEUED:
            continue
        input_id = ledger.input_of(event)
        if input_id not in names or input_id in seen:
            continue
        seen.add(input_id)
        if following is None or (following.type, following.payload) != (UPDATE, {"recall": None}):
            yield f"input {input_id} was admitted, and its recall still told to be pending"


def _told_dues(events: Sequence[EventRow]) -> dict[str, list[str]]:
    """The beats of each recall in the order in which they were told to be next."""
    dues: dict[str, list[str]] = {}
    for event in events:
        if event.type == UPDATE and (recall := event.payload["recall"]):
            known = dues.setdefault(recall["id"], [])
            if known[-1:] != [recall["due_at"]]:
                known.append(recall["due_at"])
    return dues


def _shown(told: Mapping[str, Any] | None) -> tuple[Any, ...] | None:
    if told is None:
        return None
    return tuple(told[name] for name in ("id", "status", "due_at", "trigger_at", "missed_count"))


def _expected(pending: RecallRow | None) -> tuple[Any, ...] | None:
    if pending is None:
        return None
    times = (_told(pending.due_at), _told(pending.trigger_at))
    return (pending.id, "pending", *times, pending.missed_count)


def _told(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


UPDATE = "recall_update"
