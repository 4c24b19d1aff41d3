"""Every call the server offers to `sm` and other programs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from navi.client.json_calls import Wire

if TYPE_CHECKING:
    from navi.client.event_stream import Events
    from navi.live.model.input import DeliveryMode
    from navi.live.model.scheduling.automation_request import AutomationChange, AutomationRequest
    from navi.live.model.scheduling.recall_request import RecallRequest
    from navi.live.model.scheduling.schedule_request import ScheduleRequest
    from navi.live.model.wire_format import (
        AdmissionJson,
        AnswerJson,
        AutomationJson,
        Json,
        PreviewJson,
        RecallJson,
        RegistrationJson,
        ReminderJson,
        RestJson,
        RunJson,
        ScheduledJson,
        SessionJson,
        UpcomingJson,
    )

WAIT_SECONDS = 20.0
"""How long one call waits for something to happen. The server answers by then."""

Result = TypeVar("Result")


class Client(Wire):
    """Every call returns the answer or raises a `NaviError` that says what to do."""

    def health(self) -> Json:
        health: Json = self._call("GET", "/health")
        return health

    def sessions(
        self, *, parent_id: str | None = None, pending_recall: bool = False
    ) -> list[SessionJson]:
        """Newest activity first."""
        query = {"parent_id": parent_id, "pending_recall": "true" if pending_recall else None}
        sessions: list[SessionJson] = self._call("GET", "/sessions", query=query)
        return sessions

    def session(self, session_id: str) -> SessionJson:
        session: SessionJson = self._call("GET", _session(session_id))
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
    ) -> SessionJson:
        body = {"name": name, "driver": driver, "model": model, "cwd": cwd, "parent_id": parent_id}
        if program is not None:
            body["program"] = program
        session: SessionJson = self._call("POST", "/sessions", body)
        return session

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
        """`remind` asks the agent for reports after the threshold, or the server's default time."""
        body = {
            "text": text,
            "delivery_mode": delivery_mode,
            "sender_session_id": sender_session_id,
            "remind": remind or None,
            "remind_soft_threshold": remind_soft_threshold,
            "notify_on_delivery": notify_on_delivery or None,
            "notify_on_stop": notify_on_stop or None,
        }
        admission: AdmissionJson = self._call("POST", _session(session_id, "/input"), body)
        return admission

    def answer(self, session_id: str, input_id: str, seconds: float = 0) -> AnswerJson:
        """The progress of an input. Waits up to `seconds` for its turn to end."""

        def ask(part: float) -> AnswerJson:
            query = {"wait": str(math.ceil(part))}
            path = _session(session_id, f"/input/{quote(input_id, safe='')}")
            answer: AnswerJson = self._call("GET", path, query=query)
            return answer

        return _ask_until(ask, lambda answer: answer["status"] == "done", seconds)

    def wait(self, session_id: str, seconds: float) -> RestJson:
        """Waits until the session has ended or is idle with an empty queue, or the time is up."""

        def ask(part: float) -> RestJson:
            query = {"seconds": str(math.ceil(part))}
            rest: RestJson = self._call("GET", _session(session_id, "/wait"), query=query)
            return rest

        return _ask_until(ask, lambda rest: rest["idle"], seconds)

    def messages(self, session_id: str, after_idx: int | None = None) -> list[Json]:
        """The transcript."""
        query = {"after_idx": None if after_idx is None else str(after_idx)}
        messages: list[Json] = self._call("GET", _session(session_id, "/messages"), query=query)
        return messages

    def change_session(self, session_id: str, changes: Mapping[str, str | None]) -> SessionJson:
        session: SessionJson = self._call("PATCH", _session(session_id), changes, keep_none=True)
        return session

    def children(self, session_id: str, *, recursive: bool = False) -> list[SessionJson]:
        query = {"recursive": "true" if recursive else None}
        sessions: list[SessionJson] = self._call(
            "GET", _session(session_id, "/children"), query=query
        )
        return sessions

    def queue(self, session_id: str) -> list[Json]:
        """The queued inputs, next one first."""
        inputs: list[Json] = self._call("GET", _session(session_id, "/queue"))
        return inputs

    def remove_input(self, session_id: str, input_id: str) -> None:
        self._call("DELETE", _session(session_id, f"/queue/{quote(input_id, safe='')}"))

    def report_status(self, session_id: str, text: str | None) -> SessionJson:
        """Set what the agent says it is doing; None clears it."""
        path = _session(session_id, "/agent-status")
        session: SessionJson = self._call("POST", path, {"text": text}, keep_none=True)
        return session

    def complete_task(self, session_id: str, text: str | None = None) -> bool:
        """Report that the agent is done. False if it has no parent to notify."""
        path = _session(session_id, "/task-complete")
        return bool(self._call("POST", path, {"text": text})["parent_told"])

    def remind(
        self, session_id: str, soft_threshold: int | None = None, hard_threshold: int | None = None
    ) -> RegistrationJson:
        """Remind the session from now on, until it is done."""
        body = {"soft_threshold": soft_threshold, "hard_threshold": hard_threshold}
        registration: RegistrationJson = self._call("POST", _session(session_id, "/remind"), body)
        return registration

    def stop_reminding(self, session_id: str) -> RegistrationJson:
        registration: RegistrationJson = self._call("DELETE", _session(session_id, "/remind"))
        return registration

    def reminders(self, session_id: str | None = None) -> list[UpcomingJson]:
        """The reminders of one session, or all that the caller may see. Next one first."""
        path = "/reminders" if session_id is None else _session(session_id, "/reminders")
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

    def clear(self, session_id: str, requester_session_id: str | None = None) -> SessionJson:
        """`requester_session_id` is the calling agent's session; None for a person."""
        body = {"requester_session_id": requester_session_id}
        session: SessionJson = self._call("POST", _session(session_id, "/clear"), body)
        return session

    def kill(self, session_id: str, requester_session_id: str | None = None) -> SessionJson:
        body = {"requester_session_id": requester_session_id}
        session: SessionJson = self._call("POST", _session(session_id, "/kill"), body)
        return session

    def events(self, session_id: str | None = None, after: int | None = None) -> Events:
        """Events from now on, or after that number, in one session or in all."""
        path = "/ws" if session_id is None else f"/ws/sessions/{quote(session_id, safe='')}"
        return self._open(path if after is None else f"{path}?after={after}")

    def stop(self, session_id: str) -> bool:
        """End the running turn. False if there was none."""
        return bool(self._call("POST", _session(session_id, "/stop"))["stopped"])

    def recall(self, session_id: str) -> RecallJson:
        """The pending recall."""
        recall: RecallJson = self._call("GET", _session(session_id, "/recall"))
        return recall

    def recalls(self, session_id: str) -> list[RecallJson]:
        """All recalls, newest first."""
        recalls: list[RecallJson] = self._call("GET", _session(session_id, "/recalls"))
        return recalls

    def schedule_recall(self, session_id: str, request: RecallRequest) -> ScheduledJson:
        path = _session(session_id, "/recall")
        recall: ScheduledJson = self._call("POST", path, asdict(request))
        return recall

    def cancel_recall(self, session_id: str) -> RecallJson:
        recall: RecallJson = self._call("DELETE", _session(session_id, "/recall"))
        return recall

    def skip_recall(self, session_id: str) -> RecallJson:
        recall: RecallJson = self._call("POST", _session(session_id, "/recall/skip"))
        return recall

    def ask_mcp(self, request: str, headers: Mapping[str, str]) -> Any:
        """Forwards a request to /mcp unchanged. None if there is no answer."""
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

        `tz` applies to `schedule_words`.
        """
        path = "/automations" if session_id is None else _session(session_id, "/automations")
        automations: list[AutomationJson] = self._call("GET", path, query={"tz": tz})
        return automations

    def add_automation(self, session_id: str, request: AutomationRequest) -> AutomationJson:
        path = _session(session_id, "/automations")
        automation: AutomationJson = self._call("POST", path, asdict(request))
        return automation

    def preview_automation(self, request: ScheduleRequest, count: int | None = None) -> PreviewJson:
        body = {**asdict(request), "count": count}
        preview: PreviewJson = self._call("POST", "/automations/preview", body)
        return preview

    def change_automation(
        self, automation_id: str, change: AutomationChange, *, tz: str | None = None
    ) -> AutomationJson:
        """`tz` applies to `schedule_words` in the answer; new times use the zone of `change`."""
        path = _automation(automation_id)
        automation: AutomationJson = self._call(
            "PATCH", path, change.values(), query={"tz": tz}, keep_none=True
        )
        return automation

    def remove_automation(self, automation_id: str) -> None:
        self._call("DELETE", _automation(automation_id))

    def automation_runs(self, automation_id: str) -> list[RunJson]:
        """Newest first."""
        runs: list[RunJson] = self._call("GET", _automation(automation_id, "/runs"))
        return runs


def _automation(automation_id: str, rest: str = "") -> str:
    return f"/automations/{quote(automation_id, safe='')}{rest}"


def _ask_until(
    ask: Callable[[float], Result], is_done: Callable[[Result], bool], seconds: float
) -> Result:
    """Asks again until done, because the server limits how long one call may wait."""
    end = time.monotonic() + seconds
    while True:
        remaining = end - time.monotonic()
        result = ask(max(0.0, min(remaining, WAIT_SECONDS)))
        if is_done(result) or remaining <= WAIT_SECONDS:
            return result


def _session(session_id: str, rest: str = "") -> str:
    return f"/sessions/{quote(session_id, safe='')}{rest}"
