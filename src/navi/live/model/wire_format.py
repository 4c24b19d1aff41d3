"""Values as JSON, under the names other programs rely on."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any, TypedDict

from navi.base.errors import NaviError
from navi.base.timestamps import instant as instant
from navi.live.model.access.user import User
from navi.live.model.agent_option import AgentOption
from navi.live.model.attention import attention_of
from navi.live.model.budget import NEVER, Budget, Pause, used_words, why_exhausted
from navi.live.model.event import Event
from navi.live.model.inbox import InboxItem
from navi.live.model.input import Admission, Answer, Input
from navi.live.model.message import Message, ToolCall
from navi.live.model.notification import Notification
from navi.live.model.question import Question, QuestionAnswer
from navi.live.model.scheduling.agenda import AgendaEntry
from navi.live.model.scheduling.automation import Automation, Run
from navi.live.model.scheduling.recall import Recall
from navi.live.model.scheduling.reminder import Registration, Reminder
from navi.live.model.scheduling.schedule import At, Cron, Every, Schedule
from navi.live.model.session import Session
from navi.live.model.usage_limit import LimitReport

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
    """A new recall, how its time was understood, and perhaps advice on its wording."""

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
    attention: str | None
    last_outcome: str | None
    limit_until: str | None
    unread: bool
    pinned: bool
    archived: bool
    task: str | None
    agent_status_text: str | None
    agent_status_at: str | None
    created_at: str
    updated_at: str
    pending_recall: RecallJson | None
    waiting_for: str | None
    on_permission: str | None
    question_deadline_minutes: int | None
    paused: PauseJson | None


class PauseJson(TypedDict):
    budget: str
    reason: str
    until: str | None


class BudgetJson(TypedDict):
    scope: str
    owner_id: str
    per: str
    tokens: int | None
    dollars: float | None
    used_tokens: int
    used_dollars: float
    used_words: str
    unpriced_turns: int
    unpriced_model: str | None
    reason: str | None
    paused_until: str | None
    question_id: str | None


class QuestionAnswerJson(TypedDict):
    decision: str
    text: str | None
    choices: list[str]
    updated_input: Json | None


class QuestionJson(TypedDict):
    id: str
    session_id: str
    turn_id: str | None
    call_id: str
    kind: str
    title: str
    detail: str
    tool_name: str | None
    tool_input: Json | None
    risk: str | None
    risk_reason: str | None
    options: list[Json]
    allow_free_text: bool
    allow_several: bool
    takes_updated_input: bool
    suggestions: list[Json]
    outlives_turn: bool
    state: str
    answer: QuestionAnswerJson | None
    answered_by: str | None
    answered_via: str | None
    deadline_at: str | None
    default: QuestionAnswerJson
    created_at: str
    answered_at: str | None


class DeliveryJson(TypedDict):
    sent_at: str | None
    error: str | None


class NotificationJson(TypedDict):
    id: str
    kind: str
    session_id: str | None
    question_id: str | None
    title: str
    text: str
    importance: int
    state: str
    reason: str | None
    digest_id: str | None
    attempts: int
    deliveries: dict[str, DeliveryJson]
    created_at: str
    due_at: str
    sent_at: str | None


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
    on_permission: str | None
    question_deadline_minutes: int | None
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
    policy: Json | None


class PreviewJson(TypedDict):
    """How a schedule was understood, and when it happens next."""

    schedule: ScheduleJson
    schedule_words: str
    next: list[str]


class AdmissionJson(TypedDict):
    input_id: str
    status: str
    position: int
    remind_soft_threshold: int | None
    remind_hard_threshold: int | None
    paused: PauseJson | None


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
        "attention": attention_of(session),
        "last_outcome": session.last_outcome,
        "limit_until": instant(session.limited_until),
        "unread": session.unread,
        "pinned": session.pinned,
        "archived": session.archived,
        "task": session.task,
        "agent_status_text": session.agent_status_text,
        "agent_status_at": instant(session.agent_status_at),
        "created_at": instant(session.created_at),
        "updated_at": instant(session.updated_at),
        "pending_recall": None if session.pending is None else recall_json(session.pending),
        "waiting_for": session.waiting_for,
        "on_permission": session.on_permission,
        "question_deadline_minutes": session.question_deadline_minutes,
        "paused": None if not session.is_paused else _session_pause(session),
    }


def _session_pause(session: Session) -> PauseJson:
    return pause_json(
        Pause(session.paused_by or "", session.pause_reason or "", session.paused_until)
    )


def pause_json(pause: Pause) -> PauseJson:
    return {"budget": pause.budget, "reason": pause.reason, "until": instant(pause.until)}


def budget_json(budget: Budget) -> BudgetJson:
    """A budget and its use. `reason` is set if it is used up."""
    limit, reason = budget.limit, why_exhausted(budget)
    until = budget.paused_until
    return {
        "scope": budget.scope.value,
        "owner_id": budget.owner_id,
        "per": budget.per,
        "tokens": limit.tokens,
        "dollars": limit.dollars,
        "used_tokens": budget.used_tokens,
        "used_dollars": round(budget.used_dollars, 6),
        "used_words": used_words(budget),
        "unpriced_turns": budget.unpriced_turns,
        "unpriced_model": budget.unpriced_model,
        "reason": reason,
        "paused_until": instant(until) if reason is not None and until != NEVER else None,
        "question_id": budget.question_id,
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
    """`timezone` is the zone in which `schedule_words` shows the time of an `at` schedule.

    None means the schedule's own zone.
    """
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
        "on_permission": automation.on_permission,
        "question_deadline_minutes": automation.question_deadline_minutes,
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
        "policy": None if run.policy is None else dict(run.policy),
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
    """A reminder in a list: `periodic` ones come until the session is done, others `once`."""
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


class AgentJson(TypedDict):
    driver: str
    title: str
    installed: bool
    reason: str | None
    default: bool
    models: list[str]
    takes_program: bool


def agent_json(option: AgentOption) -> AgentJson:
    return {
        "driver": option.driver,
        "title": option.title,
        "installed": option.reason is None,
        "reason": option.reason,
        "default": option.is_default,
        "models": list(option.models),
        "takes_program": option.takes_program,
    }


class AgendaJson(TypedDict):
    at: str
    kind: str
    id: str
    session_id: str
    session_title: str
    title: str
    waits_for: str | None


def agenda_json(entry: AgendaEntry) -> AgendaJson:
    return {
        "at": instant(entry.at),
        "kind": entry.kind.value,
        "id": entry.id,
        "session_id": entry.session_id,
        "session_title": entry.session_title,
        "title": entry.title,
        "waits_for": None if entry.waits_for is None else entry.waits_for.value,
    }


class InboxItemJson(TypedDict):
    id: str
    kind: str
    session_id: str
    session_title: str
    title: str
    reason: str
    since: str
    then: str | None
    question: QuestionJson | None
    snoozed_until: str | None


def inbox_json(item: InboxItem) -> InboxItemJson:
    return {
        "id": item.id,
        "kind": item.kind.value,
        "session_id": item.session_id,
        "session_title": item.session_title,
        "title": item.title,
        "reason": item.reason,
        "since": instant(item.since),
        "then": item.then,
        "question": None if item.question is None else question_json(item.question),
        "snoozed_until": instant(item.snoozed_until),
    }


def question_json(question: Question) -> QuestionJson:
    answer = question.answer
    return {
        "id": question.id,
        "session_id": question.session_id,
        "turn_id": question.turn_id,
        "call_id": question.call_id,
        "kind": question.kind.value,
        "title": question.title,
        "detail": question.detail,
        "tool_name": question.tool_name,
        "tool_input": None if question.tool_input is None else dict(question.tool_input),
        "risk": question.risk,
        "risk_reason": question.risk_reason,
        "options": [
            {"label": each.label, "description": each.description} for each in question.options
        ],
        "allow_free_text": question.allow_free_text,
        "allow_several": question.allow_several,
        "takes_updated_input": question.takes_updated_input,
        "suggestions": [dict(each) for each in question.suggestions],
        "outlives_turn": question.outlives_turn,
        "state": question.state.value,
        "answer": None if answer is None else question_answer_json(answer),
        "answered_by": question.answered_by,
        "answered_via": question.answered_via,
        "deadline_at": instant(question.deadline_at),
        "default": question_answer_json(question.default),
        "created_at": instant(question.created_at),
        "answered_at": instant(question.answered_at),
    }


def notification_json(notification: Notification) -> NotificationJson:
    return {
        "id": notification.id,
        "kind": notification.kind.value,
        "session_id": notification.session_id,
        "question_id": notification.question_id,
        "title": notification.title,
        "text": notification.text,
        "importance": notification.importance,
        "state": notification.state.value,
        "reason": notification.reason,
        "digest_id": notification.digest_id,
        "attempts": notification.attempts,
        "deliveries": {
            channel: {"sent_at": instant(each.sent_at), "error": each.error}
            for channel, each in notification.deliveries.items()
        },
        "created_at": instant(notification.created_at),
        "due_at": instant(notification.due_at),
        "sent_at": instant(notification.sent_at),
    }


def question_answer_json(answer: QuestionAnswer) -> QuestionAnswerJson:
    updated = answer.updated_input
    return {
        "decision": answer.decision.value,
        "text": answer.text,
        "choices": list(answer.choices),
        "updated_input": None if updated is None else dict(updated),
    }


class LimitJson(TypedDict):
    account: str
    agent: str
    kind: str
    used_percent: float | None
    resets_at: str | None
    until: str | None
    waiting_inputs: int


def limit_json(report: LimitReport) -> LimitJson:
    return {
        "account": report.account.id,
        "agent": report.account.agent,
        "kind": report.kind,
        "used_percent": report.used_percent,
        "resets_at": instant(report.resets_at),
        "until": instant(report.until),
        "waiting_inputs": report.waiting_inputs,
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


def input_json(queued: Input) -> Json:
    return {
        "id": queued.id,
        "session_id": queued.session_id,
        "text": queued.text,
        "delivery_mode": queued.delivery_mode.value,
        "origin": queued.origin.value,
        "sender_session_id": queued.sender_session_id,
        "remind_soft_threshold": queued.remind_soft_threshold,
        "remind_hard_threshold": queued.remind_hard_threshold,
        "notify_on_delivery": queued.notify_on_delivery,
        "notify_on_stop": queued.notify_on_stop,
        "metadata": dict(queued.metadata),
        "ordinal": queued.ordinal,
        "queued_at": instant(queued.queued_at),
        "not_before": instant(queued.not_before),
        "delivered_at": instant(queued.delivered_at),
        "turn_id": queued.turn_id,
    }


def admission_json(admission: Admission) -> AdmissionJson:
    soft, hard = admission.thresholds or (None, None)
    return {
        "input_id": admission.input_id,
        "status": "delivered" if admission.delivered else "queued",
        "position": admission.position,
        "remind_soft_threshold": soft,
        "remind_hard_threshold": hard,
        "paused": None if admission.pause is None else pause_json(admission.pause),
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


class WaitResultJson(TypedDict):
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
