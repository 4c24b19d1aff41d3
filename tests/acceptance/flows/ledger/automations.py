"""Automations: every occurrence of a schedule is run once or counted as missed.

A run has one input and one turn that counts, and says how that turn ended; it is visible in the
transcript; an answer that was made apart is delivered once. An automation, its run and the run's
input agree at any moment on whether it waits, runs or is over.

Schedules with seconds, such as `*/2 * * * * *`, are for servers with `SHORT_BEATS`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from tests.acceptance.flows.ledger.rows import (
    LEAD,
    QUEUED,
    AutomationRow,
    EventRow,
    Ledger,
    RunRow,
    TurnRow,
    grouped,
    parse_time,
)

UPDATE = "automation_update"
STATES = {
    "ok": "turn_completed",
    "max_iterations": "turn_completed",
    "error": "failed",
    "stopped": "cancelled",
}
"""Of a run, by the outcome of its turn."""
STATUSES = {"turn_completed": "ok", "failed": "error", "cancelled": "cancelled"}
"""Of an automation, by the state of its last run."""


@dataclass(frozen=True, slots=True)
class AddedAutomation:
    """An automation as its creator remembers it; names are unique."""

    name: str
    is_confirmed: bool = True
    is_removed: bool = False


def violations(ledger: Ledger, added: Sequence[AddedAutomation]) -> Iterator[str]:
    yield from _wrong_additions(ledger, added)
    yield from _wrong_triggers(ledger)
    yield from _wrong_runs(ledger)
    yield from _overlapping_runs(ledger)
    yield from _wrong_counts(ledger)
    yield from _wrong_statuses(ledger)
    yield from _wrong_transcripts(ledger)
    yield from _wrong_deliveries(ledger)
    yield from _wrong_updates(ledger)


def momentary_violations(ledger: Ledger) -> Iterator[str]:
    """An automation, its run and the run's input agree at any moment."""
    active: dict[str, str] = {}
    for run in ledger.runs:
        trigger = _trigger_of(ledger, run)
        is_waiting = trigger is not None and trigger.turn_id is None
        turn = None if trigger is None else ledger.turns_by_id.get(trigger.turn_id)
        is_running = turn is not None and turn.ended_at is None
        if is_waiting != (run.state == "queued") or is_running != (run.state == "running"):
            yield f"run {run.id} is {run.state}, but its input is not: {trigger}"
        if run.state in ("queued", "running"):
            active[run.automation_id] = run.state
    for automation in ledger.automations:
        if automation.active_run_state != active.get(automation.id):
            yield (
                f"automation {automation.id} says that its run is {automation.active_run_state}, "
                f"but it is {active.get(automation.id)}"
            )


def _trigger_of(ledger: Ledger, run: RunRow) -> Any:
    row = ledger.inputs_by_id.get(run.id)
    return row if row is not None and row.origin == "automation" else None


def _wrong_additions(ledger: Ledger, added: Sequence[AddedAutomation]) -> Iterator[str]:
    kept = Counter(each.name for each in ledger.automations)
    for name, times in kept.items():
        if times > 1:
            yield f"automation {name!r} is stored {times} times"
    for each in added:
        if each.is_confirmed and not each.is_removed and not kept[each.name]:
            yield f"automation {each.name!r} was confirmed but is not stored"
        if each.is_removed and kept[each.name]:
            yield f"automation {each.name!r} was removed but is still stored"


def _wrong_triggers(ledger: Ledger) -> Iterator[str]:
    """Every automation input belongs to a run, and waits for its instant."""
    runs = {run.id: run for run in ledger.runs}
    starts = {
        event.turn_id: event.payload["origin"]
        for event in ledger.events
        if event.type == "stream_start"
    }
    for trigger in ledger.inputs:
        if trigger.origin != "automation":
            continue
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
            yield f"input {trigger.id}: its turn was not announced as an automation's"


def _wrong_runs(ledger: Ledger) -> Iterator[str]:
    """A run records how its turn ended, as soon as that has ended."""
    for run in ledger.runs:
        if run.id != f"{run.automation_id}:{int(run.due_at.timestamp() * 1000)}":
            yield f"run {run.id} is not named after its time"
        trigger = _trigger_of(ledger, run)
        was_removed = run.id in ledger.removed_ids
        if run.state in ("queued", "running"):
            yield f"run {run.id} is said to be {run.state}, but nothing runs"
        elif run.state == "missed" or was_removed:
            if trigger is not None:
                yield f"run {run.id} is {run.state} and yet has an input"
            if was_removed and run.state != "cancelled":
                yield f"run {run.id} was taken out of the queue and is {run.state}"
        elif trigger is None:
            yield f"run {run.id} is {run.state} and has no input"
        else:
            yield from _wrong_end(run, ledger.turns_by_id.get(trigger.turn_id))


def _wrong_end(run: RunRow, turn: TurnRow | None) -> Iterator[str]:
    if turn is None or turn.ended_at is None:
        yield f"run {run.id} is {run.state} but its turn has not ended"
        return
    if run.state != STATES.get(turn.outcome or ""):
        yield f"run {run.id} is {run.state} but its turn ended as {turn.outcome} ({turn.error})"
    if (turn.error or "") not in (run.error or ""):
        yield f"run {run.id} does not say what went wrong: {turn.error}"
    if (run.started_at, run.ended_at) != (turn.started_at, turn.ended_at):
        yield f"run {run.id} did not begin and end together with its turn {turn.id}"
    if run.response_message_id != turn.message_id:
        yield f"run {run.id} names {run.response_message_id} as its answer, not {turn.message_id}"


def _overlapping_runs(ledger: Ledger) -> Iterator[str]:
    for automation_id, runs in grouped(ledger.runs, lambda run: run.automation_id).items():
        for earlier, later in pairwise(runs):
            if earlier.ended_at is None or later.queued_at < earlier.ended_at:
                yield f"automation {automation_id}: {later.id} came before {earlier.id} had ended"


def _wrong_counts(ledger: Ledger) -> Iterator[str]:
    """Each past occurrence was either run or counted as missed, never both."""
    for automation in ledger.automations:
        if automation.is_own:
            continue
        runs = ledger.runs_of(automation)
        ran = [run for run in runs if run.state != "missed"]
        missed = sum(run.missed_count for run in runs)
        if (automation.run_count, automation.missed_count) != (len(ran), missed):
            yield (
                f"automation {automation.id} counts {automation.run_count} runs and "
                f"{automation.missed_count} missed, but there are {len(ran)} and {missed}"
            )
        if automation.max_runs is not None and len(ran) > automation.max_runs:
            yield f"automation {automation.id} ran {len(ran)} times, not {automation.max_runs}"
        reached = _reached(ledger, automation, ran)
        passed = [each for each in _occurrences(automation, reached) if each < reached]
        for run in runs:
            if run.due_at not in passed:
                yield f"run {run.id} is no occurrence of {automation.schedule_kind}"
        if len(passed) != len(ran) + missed:
            yield (
                f"automation {automation.id} ({automation.ended}) came {len(passed)} times, "
                f"but ran {len(ran)} times and missed {missed}"
            )


def _reached(ledger: Ledger, automation: AutomationRow, ran: Sequence[RunRow]) -> datetime:
    """The first occurrence that has not come yet, or a moment before it."""
    a_moment = timedelta(microseconds=1)
    if following := automation.next_run_at or automation.held_at:
        return following
    if automation.ended == "expired" and automation.expires_at is not None:
        return automation.expires_at + a_moment
    if automation.ended == "done" and automation.at is not None:
        return automation.at + a_moment
    if automation.ended == "done":
        return ran[-1].due_at + a_moment
    # A person disabled it: then it is the last announced time, if still in the future.
    announced = [
        parse_time(each["next_run_at"])
        for each in _updates(ledger.events).get(automation.id, [])
        if each["next_run_at"]
    ]
    return max([announced[-1], *(run.due_at + a_moment for run in ran[-1:])])


def _occurrences(automation: AutomationRow, until: datetime) -> list[datetime]:
    if automation.at is not None:
        return [automation.at]
    if automation.anchor_at is not None:
        step = timedelta(seconds=automation.every_seconds or 0)
        first = automation.anchor_at + step
    else:
        seconds = int(str(automation.cron_expr).split()[0].removeprefix("*/"))
        step = timedelta(seconds=seconds)
        minute = automation.created_at.replace(second=0, microsecond=0)
        first = minute + step * ((automation.created_at - minute) // step + 1)
    return [first + number * step for number in range((until - first) // step + 1)]


def _wrong_statuses(ledger: Ledger) -> Iterator[str]:
    """An automation's state is how its last turn ended."""
    for automation in ledger.automations:
        ended = [run for run in ledger.runs_of(automation) if run.started_at and run.ended_at]
        if automation.is_own or not ended:
            continue
        last = ended[-1]
        if automation.last_status != STATUSES.get(last.state):
            yield f"automation {automation.id} says {automation.last_status}, not {last.state}"
        if automation.last_run_at != last.ended_at:
            yield f"automation {automation.id} did not change together with its run {last.id}"


def _wrong_transcripts(ledger: Ledger) -> Iterator[str]:
    """The transcript shows the start and end of each run, but not the agent's instructions."""
    messages = {message.id: message for message in ledger.messages}
    for run in ledger.runs:
        if run.started_at is None:
            continue
        trigger, answer = messages.get(run.id), messages.get(run.response_message_id or "")
        if trigger is None or answer is None or not answer.content.strip():
            yield f"run {run.id} is not visible: {trigger}, {answer}"
            continue
        labels = trigger.metadata
        reference = labels.get("automation_prompt_ref")
        digest = hashlib.sha256((run.rendered_prompt or "").encode()).hexdigest()
        if (labels.get("_automation_trigger"), labels.get("automation_run_id")) != (True, run.id):
            yield f"message {run.id} does not say that it is a trigger"
        if reference != run.prompt_ref or (reference or {}).get("sha256") != digest:
            yield f"run {run.id}: its prompt is not the one that the transcript refers to"
        if answer.metadata.get("automation_run_id") != run.id:
            yield f"message {answer.id} does not say that it is the answer of {run.id}"
        if run.rendered_prompt and run.rendered_prompt in trigger.content:
            yield f"message {run.id} shows the raw prompt"


def _wrong_deliveries(ledger: Ledger) -> Iterator[str]:
    """An answer from a hidden session is delivered once, unchanged, to the right session."""
    notices = grouped(
        [message for message in ledger.messages if message.id.endswith(".delivered")],
        lambda message: message.id.removesuffix(".delivered"),
    )
    announced = Counter(
        event.payload["message"]["id"] for event in ledger.events if event.type == "message_added"
    )
    answers = {message.id: message for message in ledger.messages}
    targets = {each.id: each.to for each in ledger.automations if each.to is not None}
    for run in ledger.runs:
        delivered = notices.pop(run.id, [])
        if run.delivery == "pending":
            yield f"nobody decided about the answer of run {run.id}"
        if len(delivered) != (run.delivery == "delivered"):
            yield f"run {run.id} is {run.delivery}, and its answer came {len(delivered)} times"
        is_apart = run.automation_id in targets
        if is_apart and run.state == "turn_completed" and run.delivery is None:
            yield f"the answer of run {run.id} is lost"
        for notice in delivered:
            is_answer = notice.content == answers[run.response_message_id or ""].content
            if run.state == "failed":
                is_answer = (
                    notice.content.startswith("Automation ") and " failed: " in notice.content
                )
            if notice.session_id != targets.get(run.automation_id) or not is_answer:
                yield f"message {notice.id} is not the answer of its run"
            if announced[notice.id] != 1:
                yield f"message {notice.id} was announced {announced[notice.id]} times"
    for run_id, delivered in notices.items():
        if any(message.is_notice for message in delivered):
            yield f"an answer of {run_id} was delivered, which is not stored"


def _wrong_updates(ledger: Ledger) -> Iterator[str]:
    """The last update matches the store, and an admission advances the automation at once."""
    updates = _updates(ledger.events)
    for automation in ledger.automations:
        last = (updates.get(automation.id) or [{}])[-1]
        following = last.get("next_run_at") and parse_time(last["next_run_at"])
        # Events have milliseconds.
        stored = automation.next_run_at and automation.next_run_at.replace(
            microsecond=automation.next_run_at.microsecond // 1000 * 1000
        )
        is_same = (last.get("enabled"), following) == (automation.enabled, stored)
        if not automation.is_own and not is_same:
            yield f"automation {automation.id}: the last update announced {last}"
    dues = {run.id: (run.automation_id, run.due_at) for run in ledger.runs}
    for events in ledger.events_by_session.values():
        yield from _late_moves(events, dues)


def _late_moves(
    events: Sequence[EventRow], dues: Mapping[str, tuple[str, datetime]]
) -> Iterator[str]:
    seen: set[str] = set()
    for before, event in pairwise([None, *events]):
        if event is None or event.type != QUEUED:
            continue
        run_id = event.input_id
        if run_id not in dues or run_id in seen:
            continue
        seen.add(run_id)
        automation_id, due_at = dues[run_id]
        update = None
        is_update = before is not None and before.type == UPDATE
        if before is not None and is_update and before.payload["automation_id"] == automation_id:
            update = before.payload["automation"]
        if update is None or (
            update["next_run_at"] and parse_time(update["next_run_at"]) <= due_at
        ):
            yield f"run {run_id} was admitted, and its automation did not move on"


def _updates(events: Sequence[EventRow]) -> dict[str, list[Mapping[str, Any]]]:
    """What was announced about each automation, in order."""
    updates: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        if event.type == UPDATE and event.payload["automation"]:
            updates.setdefault(event.payload["automation_id"], []).append(
                event.payload["automation"]
            )
    return updates
