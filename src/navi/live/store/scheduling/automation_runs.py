"""Runs of automations, from the moment they are due to the end of their turn.

`amend` and `discard` lock the lane of the automation's session. Callers of the other functions that
write must already hold it, except for `settle_delivery`, which needs no lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime, tzinfo
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, update

from navi.base.errors import SessionStopped
from navi.base.timezone import timezone_or_utc
from navi.live.model.input import Input, NewInput, Origin
from navi.live.model.notification import of_automation
from navi.live.model.scheduling.automation import (
    Automation,
    CatchUp,
    Category,
    Delivery,
    Ended,
    Plan,
    Run,
    RunNotFound,
    RunState,
    automation_input,
    end_reason,
    failures_after,
    planned_run,
    status_after,
)
from navi.live.model.scheduling.scheduled_prompt import ScheduledPrompt, automation_prompt
from navi.live.model.session import SessionState
from navi.live.model.turn import Ending, Outcome
from navi.live.store import input_queue, notifications, transcript
from navi.live.store.engine.tables import automation_runs
from navi.live.store.lanes import Lane, lock
from navi.live.store.scheduling import automations

SWITCHED_OFF = "the automation was switched off"
REMOVED = "the automation was removed"
OUTCOMES_WITHOUT_ANSWER = (Outcome.DENIED, Outcome.LIMIT)
"""A turn with such an outcome did not do its task, so its text is not an answer."""
ACTIVE_STATES = (RunState.QUEUED.value, RunState.RUNNING.value)
_OF_AUTOMATION = automation_runs.c.automation_id == bindparam("automation_id")
_FIND = select(automation_runs).where(automation_runs.c.id == bindparam("run_id"))
_FIND_ACTIVE = select(automation_runs).where(
    _OF_AUTOMATION, automation_runs.c.state.in_(ACTIVE_STATES)
)
_NEWEST_FIRST = (automation_runs.c.queued_at.desc(), automation_runs.c.due_at.desc())


def begin(
    connection: Connection,
    lane: Lane,
    automation: Automation,
    plan: Plan,
    keep: int,
    now: datetime,
) -> NewInput | None:
    """Record the due run and schedule the next one.

    Returns the run's input; None if nothing is to run now. Only the newest `keep` runs are kept.
    """
    if lane.session.state is SessionState.STOPPED:
        end(connection, automation, Ended.SESSION_ENDED, now)
        return None
    if (active := _active(connection, automation.id)) is not None:
        _hold_or_miss(connection, automation, active, plan, now)
        return None
    run = planned_run(automation, plan, now)
    if find(connection, run.id) is not None or input_queue.exists(connection, run.id):
        # The machine's clock was set back, and this occurrence has already run.
        automations.change(connection, automation, now, **_changes_for_next_run(plan))
        return None
    changes = _changes_for_next_run(plan)
    if is_queued := run.state is RunState.QUEUED:
        changes = {
            "next_run_at": plan.next_run_at,
            "active_run_state": RunState.QUEUED,
            "run_count": automation.run_count + 1,
        }
        if changes["run_count"] == automation.guards.max_runs:
            changes["next_run_at"] = None
    _insert(connection, run)
    _forget_old(connection, automation.id, keep)
    missed = automation.missed_count + plan.missed
    automations.change(connection, automation, now, **changes, missed_count=missed)
    return automation_input(automation, run) if is_queued else None


def amend(
    connection: Connection, automation_id: str, values: dict[str, Any], now: datetime
) -> Automation:
    """Change the automation. Switching it off cancels its queued run."""
    lane = lock(connection, automations.get(connection, automation_id).session_id)
    now = lane.clamp(now)
    if values.get("enabled") and lane.session.state is SessionState.STOPPED:
        raise SessionStopped(lane.session.id)
    if values.get("enabled") is False:
        cancel_queued(connection, automation_id, SWITCHED_OFF, now)
    return automations.change(connection, automations.get(connection, automation_id), now, **values)


def discard(connection: Connection, automation_id: str, now: datetime) -> Automation:
    """Remove the automation and cancel its queued run; a running one may finish."""
    automation = automations.get(connection, automation_id)
    now = lock(connection, automation.session_id).clamp(now)
    cancel_queued(connection, automation_id, REMOVED, now)
    automations.remove(connection, automation, now)
    return automation


def turn_began(connection: Connection, input: Input, now: datetime, zone: tzinfo) -> Input:
    """Start the run and render its prompt.

    The prompts of built-in automations depend on files, so the runtime adds them.
    """
    run = find(connection, _run_id(input))
    automation = None if run is None else automations.find(connection, run.automation_id)
    began = {"state": RunState.RUNNING, "started_at": now, "outcome": None, "error": None}
    _update(connection, _run_id(input), **began)
    if run is None or automation is None:
        return input
    automations.change(connection, automation, now, active_run_state=RunState.RUNNING)
    if input.prompt is not None or automation.is_built_in or input.is_continuation:
        return input
    zone_name = getattr(automation.schedule, "tz", None)
    zone = zone if zone_name is None else timezone_or_utc(zone_name)
    scheduled = automation_prompt(automation, input, run.missed_count, now, zone)
    return record_prompt(connection, input, scheduled)


def record_prompt(connection: Connection, input: Input, scheduled: ScheduledPrompt) -> Input:
    """Record the prompt of the run's turn. Returns the input with its prompt."""
    prompt = scheduled.prompt
    metadata = {**input.metadata, "automation_prompt_ref": prompt.reference}
    input_with_prompt = replace(input, prompt=prompt.text, metadata=metadata)
    input_queue.record_prompt(connection, input_with_prompt)
    transcript.replace_metadata(connection, input.id, metadata)
    _update(
        connection,
        input.id,
        prompt_ref=prompt.reference,
        rendered_prompt=prompt.text,
        prompt_variables=dict(scheduled.variables),
    )
    return input_with_prompt


def record_policy(connection: Connection, run_id: str, policy: dict[str, Any]) -> None:
    """Record the permission policy of the run's turn."""
    _update(connection, run_id, policy=policy)


def record_pause(connection: Connection, input: Input, why: str) -> None:
    """Record why the queued run waits, until its turn begins."""
    _update(connection, _run_id(input), error=why)


def turn_undone(connection: Connection, input: Input, now: datetime) -> None:
    """Queue the run again together with its input, because the turn did nothing."""
    _update(connection, _run_id(input), state=RunState.QUEUED, started_at=None)
    if (automation := _of_input(connection, input)) is not None:
        automations.change(connection, automation, now, active_run_state=RunState.QUEUED)


def remove_idle_run(connection: Connection, input: Input, now: datetime) -> None:
    """Remove the run of a built-in automation that had nothing to do."""
    automation = _of_input(connection, input)
    connection.execute(delete(automation_runs).where(automation_runs.c.id == _run_id(input)))
    if automation is not None:
        result = {"last_run_at": now, "last_status": "ok", "run_count": automation.run_count - 1}
        automations.change(
            connection, automation, now, **result, **_changes_after_run(automation, now)
        )


def turn_ended(
    connection: Connection, input: Input, ending: Ending, message_id: str | None, now: datetime
) -> str | None:
    """Record how the run's turn ended. Returns the text of a notice for the session, if any."""
    run = find(connection, _run_id(input))
    if run is None:
        return None
    state = {Outcome.ERROR: RunState.FAILED, Outcome.STOPPED: RunState.CANCELLED}.get(
        ending.outcome, RunState.TURN_COMPLETED
    )
    automation = automations.find(connection, run.automation_id)
    is_background = automation is not None and automation.category is not Category.BOUND
    has_answer = state is RunState.TURN_COMPLETED and ending.outcome not in OUTCOMES_WITHOUT_ANSWER
    # Report only the first of several failures in a row.
    is_first_failure = (
        state is RunState.FAILED and automation is not None and automation.failures_in_row == 0
    )
    delivers = is_background and (has_answer or is_first_failure)
    _update(
        connection,
        run.id,
        state=state,
        outcome=ending.outcome,
        ended_at=now,
        error=ending.detail or ending.error,
        response_message_id=message_id,
        delivery=Delivery.PENDING if delivers else None,
    )
    if automation is None:
        return None
    return _update_automation(connection, automation, run.id, ending, now)


def turn_limited(connection: Connection, next_input: Input, ending: Ending, now: datetime) -> None:
    """Queue the run again: its turn met a usage limit, and continues with `next_input`."""
    run_id = _run_id(next_input)
    _update(connection, run_id, state=RunState.QUEUED, outcome=ending.outcome, error=ending.error)
    if (automation := _of_input(connection, next_input)) is not None:
        status = status_after(ending.outcome)
        last = {"last_run_at": now, "last_status": status, "last_error": ending.error}
        automations.change(connection, automation, now, active_run_state=RunState.QUEUED, **last)


def cancel_queued(connection: Connection, automation_id: str, why: str, now: datetime) -> None:
    """Cancel the automation's queued run, if there is one."""
    run = _active(connection, automation_id)
    if run is None or run.state is not RunState.QUEUED:
        return
    for each in input_queue.list_inputs(connection, run.session_id, Origin.AUTOMATION):
        if _run_id(each) == run.id:
            removed = input_queue.remove(connection, run.session_id, each.id, now)
            input_removed(connection, removed, why, now)


def input_removed(connection: Connection, input: Input, why: str, now: datetime) -> None:
    """Cancel a run whose input was removed from the queue."""
    run = find(connection, _run_id(input))
    if run is None or run.state is not RunState.QUEUED:
        return
    _update(connection, run.id, state=RunState.CANCELLED, ended_at=now, error=why)
    automation = automations.find(connection, run.automation_id)
    if automation is not None:
        automations.change(connection, automation, now, **_changes_after_run(automation, now))


def session_ended(connection: Connection, session_id: str, now: datetime) -> None:
    """End the session's automations. Emptying its queue cancels their queued runs."""
    for automation in automations.list_automations(connection, session_id=session_id):
        if automation.enabled:
            end(connection, automation, Ended.SESSION_ENDED, now)


def end(connection: Connection, automation: Automation, why: Ended, now: datetime) -> Automation:
    """Switch the automation off and record why."""
    changes = {"enabled": False, "ended": why, "next_run_at": None, "held_at": None}
    return automations.change(connection, automation, now, **changes)


def find(connection: Connection, run_id: str) -> Run | None:
    row = connection.execute(_FIND, {"run_id": run_id}).one_or_none()
    return None if row is None else _run(row)


def get(connection: Connection, run_id: str) -> Run:
    run = find(connection, run_id)
    if run is None:
        raise RunNotFound(run_id)
    return run


def list_runs(connection: Connection, automation_id: str) -> list[Run]:
    """The automation's runs, newest first."""
    query = select(automation_runs).where(_OF_AUTOMATION).order_by(*_NEWEST_FIRST)
    return [_run(row) for row in connection.execute(query, {"automation_id": automation_id})]


def to_deliver(connection: Connection, limit: int = 16) -> Sequence[Run]:
    """Runs whose answers have been neither posted nor dropped yet, oldest first."""
    query = (
        select(automation_runs)
        .where(automation_runs.c.delivery == Delivery.PENDING.value)
        .order_by(automation_runs.c.ended_at)
        .limit(limit)
    )
    return [_run(row) for row in connection.execute(query)]


def settle_delivery(
    connection: Connection, run_id: str, delivery: Delivery, error: str | None = None
) -> bool:
    """Record the result of a pending delivery. False if another process has already done so."""
    result = connection.execute(
        update(automation_runs)
        .where(
            automation_runs.c.id == run_id,
            automation_runs.c.delivery == Delivery.PENDING.value,
        )
        .values(delivery=delivery.value, **({} if error is None else {"error": error}))
    )
    return bool(result.rowcount)


def _hold_or_miss(
    connection: Connection,
    automation: Automation,
    active: Run,
    plan: Plan,
    now: datetime,
) -> None:
    """Hold back an occurrence that is due while an earlier run is active, or count it as missed."""
    if automation.catch_up is CatchUp.ALL:
        changes = {"next_run_at": None, "held_at": automation.next_run_at}
        automations.change(connection, automation, now, **changes)
        return
    missed = plan.missed + (plan.run_due_at is not None)
    _update(connection, active.id, missed_count=active.missed_count + missed)
    total = automation.missed_count + missed
    automations.change(
        connection, automation, now, **_changes_for_next_run(plan), missed_count=total
    )


def _changes_for_next_run(plan: Plan) -> dict[str, Any]:
    """The changes that schedule the next run, or end the automation."""
    following: dict[str, Any] = {"next_run_at": plan.next_run_at, "ended": plan.ended}
    return following if plan.ended is None else {**following, "enabled": False}


def _update_automation(
    connection: Connection, automation: Automation, run_id: str, ending: Ending, now: datetime
) -> str | None:
    """Update the automation after a run. Returns the text of a notice if this switches it off."""
    failures = failures_after(ending.outcome, automation.failures_in_row)
    status = status_after(ending.outcome)
    changed = automations.change(
        connection,
        automation,
        now,
        last_run_at=now,
        last_status=status,
        last_error=None if status in ("ok", "cancelled") else ending.error,
        failures_in_row=failures,
        **_changes_after_run(automation, now),
    )
    if not changed.enabled or failures < automation.guards.max_failures:
        return None
    end(connection, changed, Ended.FAILED, now)
    notifications.add(connection, of_automation(changed, run_id, now))
    times = "" if failures == 1 else f" {failures} times in a row"
    return (
        f"Automation {automation.name} is switched off: it failed{times}. "
        f"`sm automation resume {automation.id}` switches it on again."
    )


def _changes_after_run(automation: Automation, now: datetime) -> dict[str, Any]:
    """The changes after a run: fire an occurrence that was held back, or end the automation."""
    changes: dict[str, Any] = {"active_run_state": None}
    if automation.held_at is not None:
        return {**changes, "next_run_at": automation.held_at, "held_at": None}
    if automation.enabled and automation.next_run_at is None:
        return {**changes, "enabled": False, "ended": end_reason(automation, now)}
    return changes


def _of_input(connection: Connection, input: Input) -> Automation | None:
    return automations.find(connection, str(input.metadata.get("automation_id", "")))


def _run_id(input: Input) -> str:
    """The run of an input: its own, or the one that it continues."""
    return str(input.metadata.get("automation_run_id", input.id))


def _active(connection: Connection, automation_id: str) -> Run | None:
    row = connection.execute(_FIND_ACTIVE, {"automation_id": automation_id}).one_or_none()
    return None if row is None else _run(row)


def _insert(connection: Connection, run: Run) -> None:
    values = {field.name: getattr(run, field.name) for field in fields(run)}
    connection.execute(insert(automation_runs).values(**values))


def _update(connection: Connection, run_id: str, **changes: Any) -> None:
    connection.execute(
        update(automation_runs).where(automation_runs.c.id == run_id).values(**changes)
    )


def _forget_old(connection: Connection, automation_id: str, keep: int) -> None:
    oldest_kept = (
        select(automation_runs.c.queued_at)
        .where(automation_runs.c.automation_id == automation_id)
        .order_by(automation_runs.c.queued_at.desc())
        .offset(keep - 1)
        .limit(1)
        .scalar_subquery()
    )
    connection.execute(
        delete(automation_runs).where(
            automation_runs.c.automation_id == automation_id,
            automation_runs.c.queued_at < oldest_kept,
            automation_runs.c.state.not_in(ACTIVE_STATES),
            func.coalesce(automation_runs.c.delivery, "") != Delivery.PENDING.value,
        )
    )


def _run(row: Row[Any]) -> Run:
    values = dict(row._mapping)
    delivery, outcome = values["delivery"], values["outcome"]
    return Run(
        **{
            **values,
            "state": RunState(values["state"]),
            "outcome": None if outcome is None else Outcome(outcome),
            "delivery": None if delivery is None else Delivery(delivery),
        }
    )
