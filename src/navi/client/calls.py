"""Every call the server offers to `sm` and other programs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from navi.client.json_calls import JsonCalls

if TYPE_CHECKING:
    from navi.client.event_stream import Events
    from navi.live.model.budget import BudgetRequest
    from navi.live.model.input import DeliveryMode
    from navi.live.model.scheduling.automation_request import AutomationChange, AutomationRequest
    from navi.live.model.scheduling.recall_request import RecallRequest
    from navi.live.model.scheduling.schedule_request import ScheduleRequest
    from navi.live.model.wire_format import (
        AdmissionJson,
        AgendaJson,
        AgentJson,
        AnswerJson,
        AutomationJson,
        BudgetJson,
        InboxItemJson,
        Json,
        LimitJson,
        PreviewJson,
        QuestionJson,
        RecallJson,
        RegistrationJson,
        ReminderJson,
        RunJson,
        ScheduledJson,
        SessionJson,
        UpcomingJson,
        WaitResultJson,
    )

WAIT_SECONDS = 20.0
"""How long one call may wait for a change before the server answers anyway."""

MODEL_SECONDS = 600.0
"""How long to wait for a model: as long as the server's default for one request."""

Result = TypeVar("Result")


class Client(JsonCalls):
    """Every call returns the answer or raises a `NaviError` that says what to do."""

    def health(self) -> Json:
        health: Json = self._call("GET", "/health")
        return health

    def sessions(
        self,
        *,
        parent_id: str | None = None,
        pending_recall: bool = False,
        archived: bool = False,
    ) -> list[SessionJson]:
        """Sessions, newest activity first; with `pending_recall`, only those that have one.

        Without `archived`, archived sessions are left out unless they need a person.
        """
        query = {
            "parent_id": parent_id,
            "pending_recall": "true" if pending_recall else None,
            "archived": "true" if archived else None,
        }
        sessions: list[SessionJson] = self._call("GET", "/sessions", query=query)
        return sessions

    def session(self, session_id: str) -> SessionJson:
        session: SessionJson = self._call("GET", _session_path(session_id))
        return session

    def create_session(
        self,
        *,
        name: str | None = None,
        driver: str | None = None,
        model: str | None = None,
        program: str | None = None,
        cwd: str | None = None,
        parent_id: str | None = None,
        on_permission: str | None = None,
        question_deadline_minutes: int | None = None,
        budget: BudgetRequest | None = None,
    ) -> SessionJson:
        body: Json = {"name": name, "driver": driver, "model": model, "cwd": cwd}
        body["parent_id"] = parent_id
        if program is not None:
            body["program"] = program
        if on_permission is not None:
            body["on_permission"] = on_permission
        if question_deadline_minutes is not None:
            body["question_deadline_minutes"] = question_deadline_minutes
        if budget is not None:
            body["budget"] = asdict(budget)
        session: SessionJson = self._call("POST", "/sessions", body)
        return session

    def digest_summary(self, query: Mapping[str, str | None]) -> str:
        """The digest of these sessions, summarised by the server's model."""
        answer: Json = self._call(
            "POST", "/archive/digest/summary", query=query, timeout_seconds=MODEL_SECONDS
        )
        summary: str = answer["summary"]
        return summary

    def test_notifications(self, channel: str | None = None) -> list[Json]:
        """Send a test over every channel, or over one. Each result names its channel and error."""
        body = {} if channel is None else {"channel": channel}
        results: list[Json] = self._call("POST", "/notifications/test", body)
        return results

    def send(
        self,
        session_id: str,
        text: str,
        *,
        delivery_mode: DeliveryMode | None = None,
        sender_session_id: str | None = None,
        remind: bool = False,
        remind_soft_threshold: int | None = None,
        notify_on_delivery: bool = False,
        notify_on_stop: bool = False,
    ) -> AdmissionJson:
        """With `remind`, the agent is asked for its status if it reports nothing for a while.

        `remind_soft_threshold` is that time in seconds; None leaves it to the server.
        """
        body = {
            "text": text,
            "delivery_mode": delivery_mode,
            "sender_session_id": sender_session_id,
            "remind": remind or None,
            "remind_soft_threshold": remind_soft_threshold,
            "notify_on_delivery": notify_on_delivery or None,
            "notify_on_stop": notify_on_stop or None,
        }
        admission: AdmissionJson = self._call("POST", _session_path(session_id, "/input"), body)
        return admission

    def answer(self, session_id: str, input_id: str, seconds: float = 0) -> AnswerJson:
        """The progress of an input. Waits up to `seconds` for its turn to end."""

        def ask(wait_seconds: float) -> AnswerJson:
            query = {"wait": str(math.ceil(wait_seconds))}
            path = _session_path(session_id, f"/input/{quote(input_id, safe='')}")
            answer: AnswerJson = self._call("GET", path, query=query)
            return answer

        return _ask_until(ask, lambda answer: answer["status"] == "done", seconds)

    def wait(self, session_id: str, seconds: float) -> WaitResultJson:
        """Wait until the session is stopped, or idle with an empty queue; at most `seconds`."""

        def ask(wait_seconds: float) -> WaitResultJson:
            query = {"seconds": str(math.ceil(wait_seconds))}
            path = _session_path(session_id, "/wait")
            result: WaitResultJson = self._call("GET", path, query=query)
            return result

        return _ask_until(ask, lambda result: result["idle"], seconds)

    def messages(self, session_id: str, after_idx: int | None = None) -> list[Json]:
        """The transcript, or its messages after `after_idx`."""
        query = {"after_idx": None if after_idx is None else str(after_idx)}
        messages: list[Json] = self._call(
            "GET", _session_path(session_id, "/messages"), query=query
        )
        return messages

    def change_session(
        self, session_id: str, changes: Mapping[str, str | bool | None]
    ) -> SessionJson:
        session: SessionJson = self._call(
            "PATCH", _session_path(session_id), changes, keep_none=True
        )
        return session

    def mark_read(self, session_id: str) -> SessionJson:
        """Record that a person has read the session. Agents can't do this."""
        return self.change_session(session_id, {"unread": False})

    def pin(self, session_id: str, pinned: bool = True) -> SessionJson:
        return self.change_session(session_id, {"pinned": pinned})

    def archive(self, session_id: str) -> SessionJson:
        """Leave the session out of lists. Also marks it as read, or lists would still show it."""
        return self.change_session(session_id, {"archived": True, "unread": False})

    def unarchive(self, session_id: str) -> SessionJson:
        return self.change_session(session_id, {"archived": False})

    def children(self, session_id: str, *, recursive: bool = False) -> list[SessionJson]:
        query = {"recursive": "true" if recursive else None}
        sessions: list[SessionJson] = self._call(
            "GET", _session_path(session_id, "/children"), query=query
        )
        return sessions

    def queue(self, session_id: str) -> list[Json]:
        """The queued inputs, next one first."""
        inputs: list[Json] = self._call("GET", _session_path(session_id, "/queue"))
        return inputs

    def remove_input(self, session_id: str, input_id: str) -> None:
        self._call("DELETE", _session_path(session_id, f"/queue/{quote(input_id, safe='')}"))

    def report_status(self, session_id: str, text: str | None) -> SessionJson:
        """Set the status that the agent reports; None clears it."""
        path = _session_path(session_id, "/agent-status")
        session: SessionJson = self._call("POST", path, {"text": text}, keep_none=True)
        return session

    def complete_task(self, session_id: str, text: str | None = None) -> bool:
        """Report that the agent is done. False if it has no parent to notify."""
        path = _session_path(session_id, "/task-complete")
        return bool(self._call("POST", path, {"text": text})["parent_told"])

    def remind(
        self, session_id: str, soft_threshold: int | None = None, hard_threshold: int | None = None
    ) -> RegistrationJson:
        """Start a periodic reminder, which replaces an earlier one. Thresholds are in seconds."""
        body = {"soft_threshold": soft_threshold, "hard_threshold": hard_threshold}
        registration: RegistrationJson = self._call(
            "POST", _session_path(session_id, "/remind"), body
        )
        return registration

    def stop_reminding(self, session_id: str) -> RegistrationJson:
        registration: RegistrationJson = self._call("DELETE", _session_path(session_id, "/remind"))
        return registration

    def reminders(self, session_id: str | None = None) -> list[UpcomingJson]:
        """The reminders of one session, or all that the caller may see. Next one first."""
        path = "/reminders" if session_id is None else _session_path(session_id, "/reminders")
        reminders: list[UpcomingJson] = self._call("GET", path)
        return reminders

    def schedule_reminder(
        self, session_id: str, delay_seconds: float, message: str
    ) -> ReminderJson:
        body = {"session_id": session_id, "delay_seconds": delay_seconds, "message": message}
        reminder: ReminderJson = self._call("POST", "/scheduler/remind", body)
        return reminder

    def cancel_reminder(self, reminder_id: str) -> ReminderJson:
        path = f"/scheduler/remind/{quote(reminder_id, safe='')}"
        reminder: ReminderJson = self._call("DELETE", path)
        return reminder

    def agents(self) -> list[AgentJson]:
        """The agents that a new session could use, installed or not."""
        agents: list[AgentJson] = self._call("GET", "/agents")
        return agents

    def folders(self, limit: int | None = None) -> list[str]:
        """The folders of recent sessions, most recently used first."""
        query = {"limit": None if limit is None else str(limit)}
        folders: list[str] = self._call("GET", "/folders", query=query)
        return folders

    def agenda(self, until: str | None = None, *, tz: str | None = None) -> list[AgendaJson]:
        """What will happen next in all sessions, soonest first.

        `until` is a time such as `tomorrow at 9`, in the time zone `tz`.
        """
        entries: list[AgendaJson] = self._call("GET", "/agenda", query={"until": until, "tz": tz})
        return entries

    def limits(self) -> list[LimitJson]:
        """What accounts have used of their allowances, and which limits are in force."""
        limits: list[LimitJson] = self._call("GET", "/limits")
        return limits

    def ignore_limit(self, account: str | None = None) -> list[LimitJson]:
        """Stop waiting for this account's limit, or for all limits. Agents can't do this."""
        limits: list[LimitJson] = self._call("POST", "/limits/ignore", {"account": account})
        return limits

    def budgets(self) -> list[BudgetJson]:
        """All budgets, and what is left of them."""
        budgets: list[BudgetJson] = self._call("GET", "/budgets")
        return budgets

    def budget(self, path: str) -> BudgetJson:
        """The budget of a session, an automation or the day: see `budget_path`."""
        budget: BudgetJson = self._call("GET", path)
        return budget

    def set_budget(self, path: str, budget: BudgetRequest) -> BudgetJson:
        """Set a budget. Turns that it now allows continue at once. Agents can't do this."""
        changed: BudgetJson = self._call("POST", path, asdict(budget))
        return changed

    def remove_budget(self, path: str) -> None:
        self._call("DELETE", path)

    def questions(
        self, *, state: str | None = None, session_id: str | None = None
    ) -> list[QuestionJson]:
        """Questions, newest first, perhaps only of one session or in one state, such as `open`."""
        query = {"state": state, "session_id": session_id}
        questions: list[QuestionJson] = self._call("GET", "/questions", query=query)
        return questions

    def question(self, question_id: str) -> QuestionJson:
        question: QuestionJson = self._call("GET", _question_path(question_id))
        return question

    def answer_question(
        self,
        question_id: str,
        decision: str,
        *,
        text: str | None = None,
        choices: Sequence[str] = (),
        updated_input: Mapping[str, Any] | None = None,
        via: str = "sm",
    ) -> QuestionJson:
        """Answer an open question. Only people may, and only the first answer counts."""
        body = {
            "decision": decision,
            "text": text,
            "choices": list(choices),
            "updated_input": updated_input,
            "via": via,
        }
        question: QuestionJson = self._call("POST", _question_path(question_id, "/answer"), body)
        return question

    def inbox(self, *, tz: str | None = None, snoozed: bool = False) -> list[InboxItemJson]:
        """Everything that waits for a person, most important first.

        With `snoozed`, snoozed items too. Times in words are in the time zone `tz`.
        """
        query = {"tz": tz, "snoozed": "true" if snoozed else None}
        items: list[InboxItemJson] = self._call("GET", "/inbox", query=query)
        return items

    def snooze(self, item_id: str, until: str, *, tz: str | None = None) -> InboxItemJson:
        """Hide an item of the inbox until a time such as `tomorrow at 9`, in the time zone `tz`."""
        body = {"until": until, "tz": tz}
        item: InboxItemJson = self._call("POST", _inbox_path(item_id, "/snooze"), body)
        return item

    def settle(self, item_id: str) -> InboxItemJson:
        """Record that a person has dealt with an item of the inbox."""
        item: InboxItemJson = self._call("POST", _inbox_path(item_id, "/settle"))
        return item

    def clear(self, session_id: str, requester_session_id: str | None = None) -> SessionJson:
        """`requester_session_id` is the calling agent's session; None for a person."""
        body = {"requester_session_id": requester_session_id}
        session: SessionJson = self._call("POST", _session_path(session_id, "/clear"), body)
        return session

    def kill(self, session_id: str, requester_session_id: str | None = None) -> SessionJson:
        body = {"requester_session_id": requester_session_id}
        session: SessionJson = self._call("POST", _session_path(session_id, "/kill"), body)
        return session

    def remove_session(
        self,
        session_id: str,
        requester_session_id: str | None = None,
        *,
        delete_automations: bool = False,
    ) -> None:
        """Delete the session. Without `delete_automations`, it must not have any."""
        query = {
            "requester_session_id": requester_session_id,
            "delete_automations": "true" if delete_automations else None,
        }
        self._call("DELETE", _session_path(session_id), query=query)

    def events(self, session_id: str | None = None, after: int | None = None) -> Events:
        """A session's events after the `seq` in `after`, or all sessions' after that `position`.

        Without `after`, only new events.
        """
        path = "/ws" if session_id is None else f"/ws/sessions/{quote(session_id, safe='')}"
        return self._open_events(path if after is None else f"{path}?after={after}")

    def stop(self, session_id: str) -> bool:
        """End the running turn. False if there was none."""
        return bool(self._call("POST", _session_path(session_id, "/stop"))["stopped"])

    def recall(self, session_id: str) -> RecallJson:
        """The pending recall."""
        recall: RecallJson = self._call("GET", _session_path(session_id, "/recall"))
        return recall

    def recalls(self, session_id: str) -> list[RecallJson]:
        """All recalls, newest first."""
        recalls: list[RecallJson] = self._call("GET", _session_path(session_id, "/recalls"))
        return recalls

    def schedule_recall(self, session_id: str, request: RecallRequest) -> ScheduledJson:
        path = _session_path(session_id, "/recall")
        recall: ScheduledJson = self._call("POST", path, asdict(request))
        return recall

    def adopt(self, past_session_id: str) -> SessionJson:
        """The Navi session for another agent's session in the memory; created if necessary."""
        path = f"/archive/sessions/{quote(past_session_id, safe='')}/adopt"
        session: SessionJson = self._call("POST", path)
        return session

    def cancel_recall(self, session_id: str) -> RecallJson:
        recall: RecallJson = self._call("DELETE", _session_path(session_id, "/recall"))
        return recall

    def skip_recall(self, session_id: str) -> RecallJson:
        recall: RecallJson = self._call("POST", _session_path(session_id, "/recall/skip"))
        return recall

    def ask_mcp(self, request: str, headers: Mapping[str, str]) -> Any:
        """Forward a request to /mcp unchanged. Returns None if the answer is empty."""
        import json

        headers = {**headers, **self._headers(), "Content-Type": "application/json"}
        answer = self._exchange("POST", "/mcp", request.encode(), headers)
        if not answer.body:
            return None
        try:
            value = json.loads(answer.body)
            if answer.status in (401, 403):
                raise self._refusal(answer.status, value["error"])
        except (ValueError, TypeError, KeyError) as error:
            raise self._not_navi() from error
        return value

    def automations(
        self, session_id: str | None = None, *, tz: str | None = None
    ) -> list[AutomationJson]:
        """A session's automations, or all that the caller may see.

        `tz` is the time zone in which `schedule_words` shows the time of an `at` schedule.
        """
        path = "/automations" if session_id is None else _session_path(session_id, "/automations")
        automations: list[AutomationJson] = self._call("GET", path, query={"tz": tz})
        return automations

    def add_automation(self, session_id: str, request: AutomationRequest) -> AutomationJson:
        path = _session_path(session_id, "/automations")
        automation: AutomationJson = self._call("POST", path, asdict(request))
        return automation

    def preview_automation(self, request: ScheduleRequest, count: int | None = None) -> PreviewJson:
        body = {**asdict(request), "count": count}
        preview: PreviewJson = self._call("POST", "/automations/preview", body)
        return preview

    def change_automation(
        self, automation_id: str, change: AutomationChange, *, tz: str | None = None
    ) -> AutomationJson:
        """`tz` is the time zone of `schedule_words`, as in `automations`, not that of new times."""
        path = _automation_path(automation_id)
        automation: AutomationJson = self._call(
            "PATCH", path, change.values(), query={"tz": tz}, keep_none=True
        )
        return automation

    def remove_automation(self, automation_id: str) -> None:
        self._call("DELETE", _automation_path(automation_id))

    def automation_runs(self, automation_id: str) -> list[RunJson]:
        """The automation's runs, newest first."""
        runs: list[RunJson] = self._call("GET", _automation_path(automation_id, "/runs"))
        return runs


def _automation_path(automation_id: str, suffix: str = "") -> str:
    return f"/automations/{quote(automation_id, safe='')}{suffix}"


def _question_path(question_id: str, suffix: str = "") -> str:
    return f"/questions/{quote(question_id, safe='')}{suffix}"


def _inbox_path(item_id: str, suffix: str) -> str:
    return f"/inbox/{quote(item_id, safe='')}{suffix}"


def _ask_until(
    ask: Callable[[float], Result], is_done: Callable[[Result], bool], seconds: float
) -> Result:
    """Repeat `ask` until done, for up to `seconds`. The server limits how long a call may wait."""
    end = time.monotonic() + seconds
    while True:
        remaining = end - time.monotonic()
        result = ask(max(0.0, min(remaining, WAIT_SECONDS)))
        if is_done(result) or remaining <= WAIT_SECONDS:
            return result


def budget_path(session_id: str | None = None, automation_id: str | None = None) -> str:
    """The path of a session's or an automation's budget, or else of the day's."""
    if automation_id is not None:
        return f"/automations/{quote(automation_id, safe='')}/budget"
    return "/budget" if session_id is None else _session_path(session_id, "/budget")


def _session_path(session_id: str, suffix: str = "") -> str:
    return f"/sessions/{quote(session_id, safe='')}{suffix}"
