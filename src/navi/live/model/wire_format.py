"""Values as JSON, under the names other programs rely on."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any, TypedDict

from navi.base.errors import NaviError
from navi.base.timestamps import instant as instant
from navi.live.model.access.user import User
from navi.live.model.event import Event
from navi.live.model.input import Admission, Answer, Input
from navi.live.model.message import Message, ToolCall
from navi.live.model.scheduling.automation import Automation, Run
from navi.live.model.scheduling.recall import Recall
from navi.live.model.scheduling.reminder import Registration, Reminder
from navi.live.model.scheduling.schedule import At, Cron, Every, Schedule
from navi.live.model.session import Session

Json = dict[str, Any]


class RecallJson(TypedDict):
    id: str
    session_id: str
    call_type: str
    trigger_at: str
    due_at: str
    interval_seconds: int | None
    internal_comment: str | None
    additional_context_message: str
    scheduled_by: str
    status: str
    input_id: str | None
    outcome: str | None
    error: str | None
    missed_count: int
    created_at: str
    updated_at: str


class ScheduledJson(RecallJson):
    """A new recall, how its time was read, and perhaps advice on its wording."""

    reading: str
    warning: str | None


class SessionJson(TypedDict):
    id: str
    name: str
    title: str
    driver: str
    model: str | None
    program: str | None
    cwd: str
    parent_id: str | None
    user_id: str
    state: str
    task: str | None
    agent_status_text: str | None
    agent_status_at: str | None
    created_at: str
    updated_at: str
    pending_recall: RecallJson | None


class ScheduleJson(TypedDict):
    kind: str
    at: str | None
    every_seconds: int | None
    cron_expr: str | None
    tz: str | None


class AutomationJson(TypedDict):
    id: str
    name: str
    kind: str
    category: str
    session_key: str | None
    user_id: str
    schedule: ScheduleJson
    schedule_words: str
    message: str
    enabled: bool
    ended: str | None
    catch_up: str
    max_runs: int | None
    expires_at: str | None
    max_failures: int
    time_limit_seconds: int | None
    next_run_at: str | None
    last_run_at: str | None
    last_status: str | None
    last_error: str | None
    active_run_state: str | None
    run_count: int
    failures_in_row: int
    missed_count: int
    created_at: str
    updated_at: str


class RunJson(TypedDict):
    id: str
    automation_id: str
    session_id: str
    state: str
    due_at: str
    queued_at: str
    started_at: str | None
    ended_at: str | None
    outcome: str | None
    prompt_ref: Json | None
    rendered_prompt: str | None
    prompt_variables: Json | None
    error: str | None
    response_message_id: str | None
    missed_count: int
    delivery: str | None


class PreviewJson(TypedDict):
    """How a schedule would be read."""

    schedule: ScheduleJson
    schedule_words: str
    next: list[str]


class AdmissionJson(TypedDict):
    input_id: str
    status: str
    position: int
    remind_soft_threshold: int | None
    remind_hard_threshold: int | None


def session_json(session: Session) -> SessionJson:
    return {
        "id": session.id,
        "name": session.name,
        "title": session.title,
        "driver": session.driver,
        "model": session.model,
        "program": session.program,
        "cwd": session.cwd,
        "parent_id": session.parent_id,
        "user_id": session.user_id,
        "state": session.state.value,
        "task": session.task,
        "agent_status_text": session.agent_status_text,
        "agent_status_at": instant(session.agent_status_at),
        "created_at": instant(session.created_at),
        "updated_at": instant(session.updated_at),
        "pending_recall": None if session.pending is None else recall_json(session.pending),
    }


def recall_json(recall: Recall) -> RecallJson:
    return {
        "id": recall.id,
        "session_id": recall.session_id,
        "call_type": recall.call_type.value,
        "trigger_at": instant(recall.trigger_at),
        "due_at": instant(recall.due_at),
        "interval_seconds": recall.interval_seconds,
        "internal_comment": recall.internal_comment,
        "additional_context_message": recall.additional_context_message,
        "scheduled_by": recall.scheduled_by.value,
        "status": recall.status.value,
        "input_id": recall.input_id,
        "outcome": recall.outcome,
        "error": recall.error,
        "missed_count": recall.missed_count,
        "created_at": instant(recall.created_at),
        "updated_at": instant(recall.updated_at),
    }


def automation_json(automation: Automation, timezone: tzinfo | None = None) -> AutomationJson:
    """`schedule_words` uses the reader's zone, or the automation's own."""
    guards = automation.guards
    return {
        "id": automation.id,
        "name": automation.name,
        "kind": automation.kind.value,
        "category": automation.category.value,
        "session_key": automation.session_key,
        "user_id": automation.user_id,
        "schedule": schedule_json(automation.schedule),
        "schedule_words": automation.schedule.in_words(timezone),
        "message": automation.message,
        "enabled": automation.enabled,
        "ended": None if automation.ended is None else automation.ended.value,
        "catch_up": automation.catch_up.value,
        "max_runs": guards.max_runs,
        "expires_at": instant(guards.expires_at),
        "max_failures": guards.max_failures,
        "time_limit_seconds": guards.time_limit_seconds,
        "next_run_at": instant(automation.next_run_at),
        "last_run_at": instant(automation.last_run_at),
        "last_status": automation.last_status,
        "last_error": automation.last_error,
        "active_run_state": automation.active_run_state,
        "run_count": automation.run_count,
        "failures_in_row": automation.failures_in_row,
        "missed_count": automation.missed_count,
        "created_at": instant(automation.created_at),
        "updated_at": instant(automation.updated_at),
    }


def schedule_json(schedule: Schedule) -> ScheduleJson:
    fields: ScheduleJson = {
        "kind": schedule.kind,
        "at": None,
        "every_seconds": None,
        "cron_expr": None,
        "tz": None,
    }
    match schedule:
        case At(at, tz):
            fields["at"], fields["tz"] = instant(at), tz
        case Every(seconds):
            fields["every_seconds"] = seconds
        case Cron(expr, tz):
            fields["cron_expr"], fields["tz"] = expr, tz
    return fields


def run_json(run: Run) -> RunJson:
    return {
        "id": run.id,
        "automation_id": run.automation_id,
        "session_id": run.session_id,
        "state": run.state.value,
        "due_at": instant(run.due_at),
        "queued_at": instant(run.queued_at),
        "started_at": instant(run.started_at),
        "ended_at": instant(run.ended_at),
        "outcome": None if run.outcome is None else run.outcome.value,
        "prompt_ref": None if run.prompt_ref is None else dict(run.prompt_ref),
        "rendered_prompt": run.rendered_prompt,
        "prompt_variables": None if run.prompt_variables is None else dict(run.prompt_variables),
        "error": run.error,
        "response_message_id": run.response_message_id,
        "missed_count": run.missed_count,
        "delivery": None if run.delivery is None else run.delivery.value,
    }


class RegistrationJson(TypedDict):
    id: str
    session_id: str
    soft_threshold: int
    hard_threshold: int
    registered_at: str
    last_reset_at: str
    soft_fired: bool
    due_at: str


def registration_json(registration: Registration) -> RegistrationJson:
    return {
        "id": registration.id,
        "session_id": registration.target_session_id,
        "soft_threshold": registration.soft_threshold_seconds,
        "hard_threshold": registration.hard_threshold_seconds,
        "registered_at": instant(registration.registered_at),
        "last_reset_at": instant(registration.last_reset_at),
        "soft_fired": registration.soft_fired,
        "due_at": instant(registration.due_at),
    }


class ReminderJson(TypedDict):
    reminder_id: str
    session_id: str
    message: str
    fires_at: str
    status: str


def reminder_json(reminder: Reminder) -> ReminderJson:
    return {
        "reminder_id": reminder.id,
        "session_id": reminder.session_id,
        "message": reminder.message,
        "fires_at": instant(reminder.fires_at),
        "status": reminder.status.value,
    }


class UpcomingJson(TypedDict):
    id: str
    kind: str
    session_id: str
    due_at: str
    message: str | None
    soft_threshold: int | None
    hard_threshold: int | None


def upcoming_json(reminder: Registration | Reminder) -> UpcomingJson:
    """A reminder in a list: `periodic`, until its session is done, or `once`."""
    if isinstance(reminder, Registration):
        return {
            "id": reminder.id,
            "kind": "periodic",
            "session_id": reminder.target_session_id,
            "due_at": instant(reminder.due_at),
            "message": None,
            "soft_threshold": reminder.soft_threshold_seconds,
            "hard_threshold": reminder.hard_threshold_seconds,
        }
    return {
        "id": reminder.id,
        "kind": "once",
        "session_id": reminder.session_id,
        "due_at": instant(reminder.due_at),
        "message": reminder.message,
        "soft_threshold": None,
        "hard_threshold": None,
    }


def message_json(message: Message) -> Json:
    return {
        "id": message.id,
        "idx": message.idx,
        "role": message.role.value,
        "content": message.content,
        "thinking": message.thinking,
        "tool_calls": [tool_call_json(call) for call in message.tool_calls],
        "is_recall": message.is_recall,
        "source": message.source,
        "metadata": dict(message.metadata),
        "timestamp": instant(message.timestamp),
    }


def tool_call_json(call: ToolCall) -> Json:
    return {
        "id": call.id,
        "name": call.name,
        "arguments": dict(call.arguments),
        "result": call.result,
        "is_error": call.is_error,
    }


def input_json(waiting: Input) -> Json:
    return {
        "id": waiting.id,
        "session_id": waiting.session_id,
        "text": waiting.text,
        "delivery_mode": waiting.delivery_mode.value,
        "origin": waiting.origin.value,
        "sender_session_id": waiting.sender_session_id,
        "remind_soft_threshold": waiting.remind_soft_threshold,
        "remind_hard_threshold": waiting.remind_hard_threshold,
        "notify_on_delivery": waiting.notify_on_delivery,
        "notify_on_stop": waiting.notify_on_stop,
        "metadata": dict(waiting.metadata),
        "ordinal": waiting.ordinal,
        "queued_at": instant(waiting.queued_at),
        "not_before": instant(waiting.not_before),
        "delivered_at": instant(waiting.delivered_at),
        "turn_id": waiting.turn_id,
    }


def admission_json(admission: Admission) -> AdmissionJson:
    soft, hard = admission.thresholds or (None, None)
    return {
        "input_id": admission.input_id,
        "status": "delivered" if admission.delivered else "queued",
        "position": admission.position,
        "remind_soft_threshold": soft,
        "remind_hard_threshold": hard,
    }


class AnswerJson(TypedDict):
    input_id: str
    status: str
    turn_id: str | None
    outcome: str | None
    error: str | None
    answer: str | None
    ended_at: str | None


def answer_json(answer: Answer) -> AnswerJson:
    return {
        "input_id": answer.input_id,
        "status": answer.status,
        "turn_id": answer.turn_id,
        "outcome": answer.outcome,
        "error": answer.error,
        "answer": answer.text,
        "ended_at": instant(answer.ended_at),
    }


class RestJson(TypedDict):
    idle: bool
    session: SessionJson


def event_json(event: Event) -> Json:
    return {
        "type": event.type,
        "session_id": event.session_id,
        "seq": event.seq,
        "turn_id": event.turn_id,
        "position": event.position,
        "at": instant(event.created_at),
        **event.payload,
    }


def user_json(user: User) -> Json:
    return {
        "id": user.id,
        "role": user.role.value,
        "info": dict(user.info),
        "created_at": instant(user.created_at),
    }


def error_json(error: NaviError) -> Json:
    return {"kind": error.kind, "message": error.message, "hint": error.hint}
