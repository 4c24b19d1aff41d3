"""What a store holds about automations, and whether it adds up with inputs, turns and transcripts.

`violations` names everything that contradicts the promise: every occurrence of a schedule is run
once or counted as missed; a run has one input, one turn that counts, and says how that ended; it
is visible in the transcript; an answer that was made apart is delivered once. What
`ledger.violations` has to say is part of it. It is meant for a store at rest.

`momentary_violations` holds at any moment: an automation, its run and the run's input always agree
on whether it waits, runs or is over.

Schedules with seconds, such as `*/2 * * * * *`, are for servers with `SHORT_BEATS`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from tests.acceptance.flows import ledger
from tests.acceptance.flows.ledger import (
    EventRow,
    Ledger,
    MessageRow,
    Sent,
    TurnRow,
    grouped,
    parsed,
)

LEAD = timedelta(seconds=1)
"""How long before its instant a run may be admitted."""
SOON = timedelta(seconds=10)
"""What is due so soon is waited for, before a store counts as being at rest."""
STATES = {
    "ok": "turn_completed",
    "max_iterations": "turn_completed",
    "error": "failed",
    "stopped": "cancelled",
}
STATUSES = {"turn_completed": "ok", "failed": "error", "cancelled": "cancelled"}
UPDATE = "automation_update"


@dataclass(frozen=True, slots=True)
class AutomationRow:
    id: str
    name: str
    kind: str
    session_key: str | None
    schedule_kind: str
    at: Any
    every_seconds: int | None
    anchor_at: Any
    cron_expr: str | None
    enabled: bool
    ended: str | None
    max_runs: int | None
    expires_at: Any
    next_run_at: Any
    held_at: Any
    last_run_at: Any
    last_status: str | None
    run_count: int
    missed_count: int
    created_at: Any
    active_run_state: str | None

    @property
    def is_own(self) -> bool:
        """Navi's own: it runs only if it has something to do."""
        return self.kind != "agent_turn"


@dataclass(frozen=True, slots=True)
class RunRow:
    id: str
    automation_id: str
    session_id: str
    state: str
    due_at: Any
    queued_at: Any
    started_at: Any
    ended_at: Any
    prompt_ref: Any
    rendered_prompt: str | None
    error: str | None
    response_message_id: str | None
    missed_count: int
    delivery: str | None


@dataclass(frozen=True, slots=True)
class Trigger:
    """An input of the origin `automation`."""

    id: str
    session_id: str
    queued_at: Any
    not_before: Any
    turn_id: str | None
    origin: str


@dataclass(frozen=True, slots=True)
class Books:
    ledger: Ledger
    automations: list[AutomationRow]
    runs: list[RunRow]
    triggers: dict[str, Trigger]
    metadata: dict[str, Mapping[str, Any]]
    """Of messages."""
    targets: dict[str, str]
    """The sessions that unbound automations deliver to."""

    def runs_of(self, automation_id: str) -> list[RunRow]:
        return [run for run in self.runs if run.automation_id == automation_id]


@dataclass(frozen=True, slots=True)
class Asked:
    """An automation as whoever added it remembers it; its name is its own."""

    name: str
    is_confirmed: bool = True
    is_removed: bool = False


def read(database_url: str) -> Books:
    with ledger.snapshot(database_url) as query:
        triggers = ledger.rows_of(query, Trigger, "message_queue", "session_id, ordinal")
        metadata = query("SELECT id, metadata FROM messages")
        targets = query('SELECT id, "to" FROM automations WHERE "to" IS NOT NULL')
        return Books(
            ledger.read_all(query),
            [
                _with_moments(row)
                for row in ledger.rows_of(query, AutomationRow, "automations", "created_at, id")
            ],
            [
                replace(_with_moments(row), prompt_ref=parsed(row.prompt_ref))
                for row in ledger.rows_of(query, RunRow, "automation_runs", "automation_id, due_at")
            ],
            {
                row.id: replace(_with_moments(row), not_before=_moment(row.not_before))
                for row in triggers
                if row.origin == "automation"
            },
            {message_id: parsed(value) for message_id, value in metadata},
            dict(targets),
        )


def progress(database_url: str) -> tuple[int, bool]:
    """How far the events have got, and whether nothing waits, runs, is due or undelivered."""
    position, is_quiet = ledger.progress(database_url)
    if not is_quiet:
        return position, False
    with ledger.snapshot(database_url) as query:
        is_due = "kind = 'agent_turn' AND next_run_at IS NOT NULL"
        due = query(f"SELECT next_run_at FROM automations WHERE {is_due}")
        open_ = "state IN ('queued', 'running') OR delivery = 'pending'"
        ((unsettled,),) = query(f"SELECT count(*) FROM automation_runs WHERE {open_}")
        ((later,),) = query("SELECT last_position FROM feed")
    soon = datetime.now(UTC) + SOON
    is_quiet = later == position and not unsettled and all(_moment(at) > soon for (at,) in due)
    return later, is_quiet


def violations(books: Books, sent: Sequence[Sent] = (), asked: Sequence[Asked] = ()) -> list[str]:
    """Everything that should not be so. `sent` is what people sent, `asked` what was added."""
    return [
        *ledger.violations(books.ledger, _all_sent(books, sent)),
        *_wrong_additions(books, asked),
        *_wrong_triggers(books),
        *momentary_violations(books),
        *_wrong_runs(books),
        *_overlapping_runs(books),
        *_wrong_counts(books),
        *_wrong_statuses(books),
        *_wrong_transcripts(books),
        *_wrong_deliveries(books),
        *_wrong_updates(books),
    ]


def _with_moments(row: Any) -> Any:
    """PostgreSQL returns instants as values, SQLite as text."""
    names = [name for name in row.__dataclass_fields__ if name.endswith("_at") or name == "at"]
    return replace(row, **{name: _moment(getattr(row, name)) for name in names})


def _moment(value: Any) -> Any:
    return None if value is None else ledger.moment(value)


def _all_sent(books: Books, sent: Sequence[Sent]) -> list[Sent]:
    """What people sent and what automations became, in the order in which it was admitted."""
    stored = {row.id for row in books.ledger.inputs}
    by_people = [each for each in sent if each.input_id in stored]
    left = {key: iter(rows) for key, rows in grouped(by_people, lambda s: s.session_id).items()}
    merged = [each for each in sent if each.input_id not in stored]
    for row in books.ledger.inputs:
        if row.id in books.triggers:
            merged.append(Sent(row.id, row.session_id, row.text))
        elif (known := next(left.get(row.session_id, iter(())), None)) is not None:
            merged.append(known)
    return merged


def _wrong_additions(books: Books, asked: Sequence[Asked]) -> Iterator[str]:
    kept = Counter(each.name for each in books.automations)
    for name, times in kept.items():
        if times > 1:
            yield f"automation {name!r} is stored {times} times"
    for each in asked:
        if each.is_confirmed and not each.is_removed and not kept[each.name]:
            yield f"automation {each.name!r} was confirmed but is not stored"
        if each.is_removed and kept[each.name]:
            yield f"automation {each.name!r} was removed but is still stored"


def _wrong_triggers(books: Books) -> Iterator[str]:
    """Every input of an automation is a run's, and waits for its instant."""
    runs = {run.id: run for run in books.runs}
    starts = {
        event.turn_id: event.payload["origin"]
        for event in books.ledger.events
        if event.type == "stream_start"
    }
    for trigger in books.triggers.values():
        run = runs.get(trigger.id)
        if run is None:
            yield f"input {trigger.id} comes from no run"
            continue
        if (trigger.session_id, trigger.queued_at) != (run.session_id, run.queued_at):
            yield f"input {trigger.id} is not its run"
        if trigger.not_before != run.due_at:
            yield f"input {trigger.id} does not wait for its run, but for {trigger.not_before}"
        if trigger.queued_at < run.due_at - LEAD:
            yield f"input {trigger.id} was admitted too early"
        if trigger.turn_id is not None and starts.get(trigger.turn_id) != "automation":
            yield f"input {trigger.id}: its turn was not told as an automation's"


def momentary_violations(books: Books) -> Iterator[str]:
    """An automation, its run and the run's input agree, whatever happens just now."""
    turns = {turn.id: turn for turn in books.ledger.turns}
    active: dict[str, str] = {}
    for run in books.runs:
        trigger = books.triggers.get(run.id)
        is_waiting = trigger is not None and trigger.turn_id is None
        turn = None if trigger is None else turns.get(trigger.turn_id or "")
        is_running = turn is not None and turn.ended_at is None
        if is_waiting != (run.state == "queued") or is_running != (run.state == "running"):
            yield f"run {run.id} is {run.state}, but its input is not: {trigger}"
        if run.state in ("queued", "running"):
            active[run.automation_id] = run.state
    for automation in books.automations:
        if automation.active_run_state != active.get(automation.id):
            yield (
                f"automation {automation.id} tells that its run is {automation.active_run_state}, "
                f"but it is {active.get(automation.id)}"
            )


def _wrong_runs(books: Books) -> Iterator[str]:
    """A run says how its turn ended, from the moment on at which that ended."""
    turns = {turn.id: turn for turn in books.ledger.turns}
    removed = {
        event.payload["input_id"] for event in books.ledger.events if event.type == ledger.REMOVED
    }
    for run in books.runs:
        if run.id != f"{run.automation_id}:{int(run.due_at.timestamp() * 1000)}":
            yield f"run {run.id} is not named after its time"
        trigger = books.triggers.get(run.id)
        if run.state in ("queued", "running"):
            yield f"run {run.id} is told to be {run.state}, but nothing runs"
        elif run.state == "missed" or run.id in removed:
            if trigger is not None:
                yield f"run {run.id} is {run.state} and yet has an input"
            if run.id in removed and run.state != "cancelled":
                yield f"run {run.id} was taken out of the queue and is {run.state}"
        elif trigger is None:
            yield f"run {run.id} is {run.state} and has no input"
        else:
            yield from _wrong_end(run, turns.get(trigger.turn_id or ""))


def _wrong_end(run: RunRow, turn: TurnRow | None) -> Iterator[str]:
    if turn is None or turn.ended_at is None:
        yield f"run {run.id} is {run.state} but its turn has not ended"
        return
    if run.state != STATES.get(turn.outcome or ""):
        yield f"run {run.id} is {run.state} but its turn ended as {turn.outcome} ({turn.error})"
    if (turn.error or "") not in (run.error or ""):
        yield f"run {run.id} does not tell what went wrong: {turn.error}"
    if (run.started_at, run.ended_at) != (_moment(turn.started_at), _moment(turn.ended_at)):
        yield f"run {run.id} did not begin and end together with its turn {turn.id}"
    if run.response_message_id != turn.message_id:
        yield f"run {run.id} names {run.response_message_id} as its answer, not {turn.message_id}"


def _overlapping_runs(books: Books) -> Iterator[str]:
    for automation_id, runs in grouped(books.runs, lambda run: run.automation_id).items():
        for earlier, later in pairwise(runs):
            if earlier.ended_at is None or later.queued_at < earlier.ended_at:
                yield f"automation {automation_id}: {later.id} came before {earlier.id} had ended"


def _wrong_counts(books: Books) -> Iterator[str]:
    """Each occurrence that passed was run or is counted as missed; none was both."""
    for automation in books.automations:
        if automation.is_own:
            continue
        runs = books.runs_of(automation.id)
        ran = [run for run in runs if run.state != "missed"]
        missed = sum(run.missed_count for run in runs)
        if (automation.run_count, automation.missed_count) != (len(ran), missed):
            yield (
                f"automation {automation.id} counts {automation.run_count} runs and "
                f"{automation.missed_count} missed, but there are {len(ran)} and {missed}"
            )
        if automation.max_runs is not None and len(ran) > automation.max_runs:
            yield f"automation {automation.id} ran {len(ran)} times, not {automation.max_runs}"
        reached = _reached(books, automation, ran)
        passed = [each for each in _occurrences(automation, reached) if each < reached]
        for run in runs:
            if run.due_at not in passed:
                yield f"run {run.id} is no occurrence of {automation.schedule_kind}"
        if len(passed) != len(ran) + missed:
            yield (
                f"automation {automation.id} ({automation.ended}) came {len(passed)} times, "
                f"but ran {len(ran)} times and missed {missed}"
            )


def _reached(books: Books, automation: AutomationRow, ran: Sequence[RunRow]) -> datetime:
    """The first occurrence that has not come yet, or a moment before it."""
    a_moment = timedelta(microseconds=1)
    if following := automation.next_run_at or automation.held_at:
        return _as_datetime(following)
    if automation.ended == "expired":
        return _as_datetime(automation.expires_at + a_moment)
    if automation.ended == "done" and automation.schedule_kind == "at":
        return _as_datetime(automation.at + a_moment)
    if automation.ended == "done":
        return _as_datetime(ran[-1].due_at + a_moment)
    # A person switched it off: then it is what was told to come next, if that has not come.
    told = [
        _moment(each["next_run_at"])
        for each in _told(books.ledger.events).get(automation.id, [])
        if each["next_run_at"]
    ]
    last = [run.due_at + a_moment for run in ran[-1:]]
    return _as_datetime(max([told[-1], *last]))


def _as_datetime(value: Any) -> datetime:
    assert isinstance(value, datetime)
    return value


def _occurrences(automation: AutomationRow, until: datetime) -> list[datetime]:
    if automation.schedule_kind == "at":
        return [automation.at]
    if automation.schedule_kind == "every":
        step = timedelta(seconds=automation.every_seconds or 0)
        first = automation.anchor_at + step
    else:
        seconds = int(str(automation.cron_expr).split()[0].removeprefix("*/"))
        step = timedelta(seconds=seconds)
        minute = automation.created_at.replace(second=0, microsecond=0)
        first = minute + step * ((automation.created_at - minute) // step + 1)
    return [first + number * step for number in range((until - first) // step + 1)]


def _wrong_statuses(books: Books) -> Iterator[str]:
    """An automation's state is how its last turn ended."""
    for automation in books.automations:
        ended = [run for run in books.runs_of(automation.id) if run.started_at and run.ended_at]
        if automation.is_own or not ended:
            continue
        last = ended[-1]
        if automation.last_status != STATUSES.get(last.state):
            yield f"automation {automation.id} says {automation.last_status}, not {last.state}"
        if automation.last_run_at != last.ended_at:
            yield f"automation {automation.id} did not change together with its run {last.id}"


def _wrong_transcripts(books: Books) -> Iterator[str]:
    """Each run that began is visible, begun and closed; what the agent was told is not."""
    messages = {message.id: message for message in books.ledger.messages}
    for run in books.runs:
        if run.started_at is None:
            continue
        trigger, answer = messages.get(run.id), messages.get(run.response_message_id or "")
        if trigger is None or answer is None or not answer.content.strip():
            yield f"run {run.id} is not visible: {trigger}, {answer}"
            continue
        told = books.metadata[run.id]
        reference = told.get("automation_prompt_ref")
        digest = hashlib.sha256((run.rendered_prompt or "").encode()).hexdigest()
        if (told.get("_automation_trigger"), told.get("automation_run_id")) != (True, run.id):
            yield f"message {run.id} does not say that it is a trigger"
        if reference != run.prompt_ref or (reference or {}).get("sha256") != digest:
            yield f"run {run.id}: its prompt is not the one that the transcript refers to"
        if books.metadata[answer.id].get("automation_run_id") != run.id:
            yield f"message {answer.id} does not say that it is the answer of {run.id}"
        if run.rendered_prompt and run.rendered_prompt in trigger.content:
            yield f"message {run.id} shows the raw prompt"


def _wrong_deliveries(books: Books) -> Iterator[str]:
    """An answer that was made apart is read once, where it belongs, as it was given."""
    notices: dict[str, list[MessageRow]] = grouped(
        [message for message in books.ledger.messages if message.id.endswith(".delivered")],
        lambda message: message.id.removesuffix(".delivered"),
    )
    told = Counter(
        event.payload["message"]["id"]
        for event in books.ledger.events
        if event.type == "message_added"
    )
    answers = {message.id: message for message in books.ledger.messages}
    for run in books.runs:
        found = notices.pop(run.id, [])
        if run.delivery == "pending":
            yield f"nobody decided about the answer of run {run.id}"
        if len(found) != (run.delivery == "delivered"):
            yield f"run {run.id} is {run.delivery}, and its answer told {len(found)} times"
        is_apart = run.automation_id in books.targets
        if is_apart and run.state == "turn_completed" and run.delivery is None:
            yield f"the answer of run {run.id} is lost"
        for notice in found:
            answer = answers[run.response_message_id or ""]
            target = books.targets.get(run.automation_id)
            is_answer = notice.content == answer.content
            if run.state == "failed":
                is_answer = (
                    notice.content.startswith("Automation ") and " failed: " in notice.content
                )
            if notice.session_id != target or not is_answer:
                yield f"message {notice.id} is not the answer of its run"
            if told[notice.id] != 1:
                yield f"message {notice.id} was told {told[notice.id]} times"
    for run_id in notices:
        yield f"an answer of {run_id} was delivered, which is not stored"


def _wrong_updates(books: Books) -> Iterator[str]:
    """Whoever listens knows in the end what is stored; and an admission moves on at once."""
    stories = _told(books.ledger.events)
    for automation in books.automations:
        last = (stories.get(automation.id) or [{}])[-1]
        following = last.get("next_run_at") and _moment(last["next_run_at"])
        # What is told has milliseconds.
        stored = automation.next_run_at and automation.next_run_at.replace(
            microsecond=automation.next_run_at.microsecond // 1000 * 1000
        )
        if not automation.is_own and (last.get("enabled"), following) != (
            automation.enabled,
            stored,
        ):
            yield f"automation {automation.id}: the last update told {last}"
    dues = {run.id: (run.automation_id, run.due_at) for run in books.runs}
    for _, events in grouped(books.ledger.events, lambda event: event.session_id).items():
        yield from _late_moves(events, dues)


def _late_moves(
    events: Sequence[EventRow], dues: Mapping[str, tuple[str, datetime]]
) -> Iterator[str]:
    seen: set[str] = set()
    for before, event in pairwise([None, *events]):
        if event is None or event.type != ledger.QUEUED:
            continue
        run_id = ledger.input_of(event)
        if run_id not in dues or run_id in seen:
            continue
        seen.add(run_id)
        automation_id, due_at = dues[run_id]
        is_own = (
            before is not None
            and before.type == UPDATE
            and before.payload["automation_id"] == automation_id
        )
        told = before.payload["automation"] if before is not None and is_own else None
        if told is None or (told["next_run_at"] and _moment(told["next_run_at"]) <= due_at):
            yield f"run {run_id} was admitted, and its automation did not move on"


def _told(events: Sequence[EventRow]) -> dict[str, list[Mapping[str, Any]]]:
    """What was told of each automation, in order."""
    stories: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        if event.type == UPDATE and event.payload["automation"]:
            stories.setdefault(event.payload["automation_id"], []).append(
                event.payload["automation"]
            )
    return stories
