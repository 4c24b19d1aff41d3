"""What a store holds about recalls, and whether it adds up with its inputs, turns and events.

`violations` names everything that contradicts the promise: a recall that came due has exactly one
input, that input exactly one turn that counts, and the recall says how that turn ended. A recurring
recall has its beats on its grid, each at most once, and counts those that were not run. Everything
that `ledger.violations` has to say is part of it. It is meant for a store at rest.

`momentary_violations` holds at any moment: a recall and its input always agree on whether it waits,
runs or is over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from tests.acceptance.flows import ledger
from tests.acceptance.flows.ledger import EventRow, Ledger, Sent, TurnRow, grouped, moment, parsed

LEAD = timedelta(seconds=1)
"""How long before its instant a recall may be admitted."""
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
    input_id: str | None

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
    due_at: datetime
    """The instant for which it waits in the queue."""
    turn_id: str | None
    metadata: Mapping[str, Any]

    @property
    def recall_id(self) -> str:
        return str(self.metadata.get("recall_id"))

    @property
    def missed(self) -> int:
        """How many later beats had passed when the turn of this one began."""
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
                    due_at=moment(each.due_at),
                    trigger_at=moment(each.trigger_at),
                    updated_at=moment(each.updated_at),
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
        # One that names its input is not waited for: at rest there is no such input any more.
        is_unclaimed = "status = 'pending' AND input_id IS NULL"
        due = query(f"SELECT due_at FROM session_recalls WHERE {is_unclaimed}")
        ((later_position,),) = query("SELECT last_position FROM feed")
    soon = datetime.now(UTC) + SOON
    return later_position, later_position == position and all(moment(at) > soon for (at,) in due)


def violations(books: Books, sent: Sequence[Sent] = (), asked: Sequence[Asked] = ()) -> list[str]:
    """Everything that should not be so. `sent` is what people sent, `asked` what was scheduled."""
    return [
        *ledger.violations(books.ledger, _all_sent(books, sent)),
        *_wrong_schedules(books, asked),
        *_wrong_beats(books),
        *momentary_violations(books),
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
    not_before: Any
    turn_id: str | None
    metadata: Any
    origin: str


def _beat(row: _QueueRow) -> Beat:
    metadata = parsed(row.metadata)
    queued_at, due_at = moment(row.queued_at), moment(row.not_before)
    return Beat(row.id, row.session_id, row.text, queued_at, due_at, row.turn_id, metadata)


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
    """Every recall input comes from one beat of a recall, and waits for its instant."""
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
        if beat.metadata["due_at"] != _told(beat.due_at):
            yield f"input {beat.id} tells of another beat than the one that it waits for"
        if beat.queued_at < beat.due_at - LEAD:
            yield f"input {beat.id} was admitted too early"
        if beat.turn_id is not None and not starts.get(beat.turn_id):
            yield f"input {beat.id}: its turn was not told as a recall's"
    for (recall_id, due_at), same in grouped(
        books.beats, lambda beat: (beat.recall_id, beat.due_at)
    ).items():
        if len(same) > 1:
            yield f"recall {recall_id} was admitted {len(same)} times for {due_at}"


def momentary_violations(books: Books) -> Iterator[str]:
    """A recall and its input agree, whatever happens just now: one of them is never lost alone."""
    turns = {turn.id: turn for turn in books.ledger.turns}
    beats = {beat.id: beat for beat in books.beats}
    recalls = {recall.id: recall for recall in books.recalls}
    pending = {recall.session_id for recall in books.recalls if recall.status == "pending"}
    for recall in books.recalls:
        beat = beats.get(recall.input_id or "")
        is_running = beat is not None and beat.turn_id is not None and _runs(turns, beat)
        is_waiting = beat is not None and beat.turn_id is None
        if recall.status == "pending" and recall.input_id is not None:
            is_beating = is_running and recall.interval_seconds is not None
            if not is_waiting and not is_beating:
                yield f"recall {recall.id} is pending, but input {recall.input_id} does not wait"
        is_unclaimed = recall.status == "pending" and recall.input_id is None
        if is_unclaimed and recall.trigger_at != recall.due_at:
            yield f"recall {recall.id} is not claimed and yet shown at {recall.trigger_at}"
        if recall.status == "running":
            # Given back while another one was pending: then it waits, and can't be shown as such.
            is_hidden = is_waiting and recall.session_id in pending
            if not is_running and not is_hidden:
                yield f"recall {recall.id} is running, but input {recall.input_id} is not"
    for beat in books.beats:
        of = recalls.get(beat.recall_id)
        if beat.turn_id is None and of is not None and not _may_wait(books, beat, of):
            yield f"input {beat.id} waits, but its recall is {of.status} with {of.input_id}"


def _runs(turns: Mapping[str, TurnRow], beat: Beat) -> bool:
    turn = turns.get(beat.turn_id or "")
    return turn is not None and turn.ended_at is None


def _may_wait(books: Books, beat: Beat, recall: RecallRow) -> bool:
    if recall.status in ("pending", "running"):
        return recall.input_id == beat.id
    # Called off during its turn, which was given back then.
    return any(
        event.type == ledger.DELIVERED and ledger.input_of(event) == beat.id
        for event in books.ledger.events
    )


def _wrong_states(books: Books) -> Iterator[str]:
    """A recall says how its last turn ended, from the moment on at which that ended."""
    turns = {turn.id: turn for turn in books.ledger.turns}
    for recall in books.recalls:
        beats = books.beats_of(recall)
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
            yield from _wrong_outcome(recall, turns.get(beats[-1].turn_id or ""))


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
    if recall.updated_at != moment(turn.ended_at):
        yield f"recall {recall.id} did not end together with its turn {turn.id}"


def _wrong_grids(books: Books) -> Iterator[str]:
    """Each beat that passed was run or is counted as missed; none was both."""
    first_told = {recall_id: dues[0] for recall_id, dues in _told_dues(books.ledger.events).items()}
    for recall in books.recalls:
        if recall.interval_seconds is None:
            continue
        beats = books.beats_of(recall)
        reached = [beat.due_at for beat in beats]
        # From the moment on at which the turn of a beat begins, the next one is planned.
        if recall.due_at in reached:
            yield f"recall {recall.id} did not move on from its beat at {recall.due_at}"
            continue
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
        if recall.missed_count != sum(gaps):
            yield (
                f"recall {recall.id} ran {len(beats)} beats and counts {recall.missed_count} "
                f"as missed, but {sum(gaps)} were"
            )


def _wrong_updates(books: Books) -> Iterator[str]:
    """`recall_update` tells every beat once, and in the end what is pending."""
    told = _told_dues(books.ledger.events)
    given_back = _beats_given_back(books.ledger)
    for recall in books.recalls:
        dues = [_told(beat.due_at) for beat in books.beats_of(recall)]
        if _told(recall.due_at) not in dues:
            dues.append(_told(recall.due_at))
        known = told.pop(recall.id, [])
        # In between are beats that were planned when a turn began, and passed while it ran.
        passed = {each for each in known if each < _told(recall.due_at)} - set(dues)
        if not set(dues) <= set(known) or not _goes_on(known, given_back.get(recall.id, set())):
            yield f"recall {recall.id}: the beats that were told are not those that came"
        if len(passed) > recall.missed_count or known[-1:] != dues[-1:]:
            yield f"recall {recall.id}: {len(passed)} beats were told that did not come"
    for recall_id in told:
        yield f"recall {recall_id} was told but is not stored"
    pending = {recall.session_id: recall for recall in books.recalls if recall.status == "pending"}
    for session_id, events in grouped(books.ledger.events, lambda event: event.session_id).items():
        updates = [event.payload["recall"] for event in events if event.type == UPDATE]
        last = updates[-1] if updates else None
        if _shown(last) != _expected(pending.get(session_id)):
            yield f"session {session_id}: the last recall_update told {last}"
        yield from _late_moves(books, events)


def _goes_on(told: Sequence[str], given_back: set[str]) -> bool:
    """Whether what is told to be next is later each time, or the beat of a turn given back."""
    return all(later > earlier or later in given_back for earlier, later in pairwise(told))


def _beats_given_back(of: Ledger) -> dict[str, set[str]]:
    """The beats of each recall that a turn took and gave back."""
    empty = {turn.id for turn in of.turns if turn.died_empty}
    beats: dict[str, set[str]] = {}
    for event in of.events:
        if event.type == ledger.DELIVERED and event.turn_id in empty:
            metadata = event.payload["input"]["metadata"]
            if "recall_id" in metadata:
                beats.setdefault(metadata["recall_id"], set()).add(metadata["due_at"])
    return beats


def _late_moves(books: Books, events: Sequence[EventRow]) -> Iterator[str]:
    """When a beat's turn begins, its recall is no longer told to be pending for that beat."""
    dues = {beat.id: (beat.recall_id, _told(beat.due_at)) for beat in books.beats}
    shown: Mapping[str, Any] | None = None
    for event in events:
        if event.type == UPDATE:
            shown = event.payload["recall"]
        if event.type != ledger.DELIVERED or shown is None:
            continue
        input_id = ledger.input_of(event)
        if dues.get(input_id) == (shown["id"], shown["due_at"]):
            yield f"input {input_id} was delivered, and its recall still told to wait for it"


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
