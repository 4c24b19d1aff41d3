"""Claude Code's questions without a terminal: its control protocol, on its output and input.

If a call needs a person, Claude Code sends a `can_use_tool` request, and the answer is a
`control_response`. Choices and plans are deferred by Navi's hook: the result of the turn names the
call, and Claude Code exits. Once it is started again, it sends the same kind of request.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from navi.live.agents.command_line.run_questions import Inquiry, Reply, Settled, Step
from navi.live.model.question import Question
from navi.vendors.claude_code.inquiries import (
    PLAN_TOOL,
    Json,
    decision_of,
    denied_question,
    input_of,
    questions_of,
)

ARGUMENT = "--permission-prompt-tool=stdio"
OWN_ARGUMENTS = "--permission-prompt"
"""The start of the argument with which a person chooses who answers Claude Code."""
RESUME = {"CLAUDE_CODE_RESUME_INTERRUPTED_TURN": "1"}
"""Makes Claude Code continue a turn during which it was killed."""
STREAMED = b'{"type":"stream_event"'
STOPPED = {
    "behavior": "deny",
    "message": "The person stopped the turn in which you asked this.",
    "interrupt": True,
}
"""Ends the rest of a turn that was stopped, before the next one begins."""
PLAN_PREFIX = "plan-"
"""The prefix of the ids of our requests for a plan's text."""


class ClaudeCodeQuestions:
    """Handles the questions of one turn."""

    def __init__(self) -> None:
        self._is_done = False
        """Whether the last line about a turn reported its end."""
        self._announced: set[str] = set()
        """All calls of this turn."""
        self.begin_again()

    def begin_again(self) -> None:
        self._queued: set[str] = set()
        """Messages that Claude Code has read but not begun to work on."""
        self.has_deferred = False
        self._inquiries: set[str] = set()
        self._request_of: dict[str, str] = {}
        """The open request about each call."""
        self._unfinished: set[str] = set()
        self._plans: dict[str, Inquiry] = {}
        """Inquiries that wait for their plan's text, by the id of our request for it."""
        self._are_agents_working = False
        self._is_done = False

    def read(self, line: bytes) -> Iterator[Step]:
        if line.startswith(STREAMED):
            return
        try:
            record = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return  # Claude Code prints warnings as well
        if isinstance(record, dict):
            yield from self._record(record)

    @property
    def is_over(self) -> bool:
        is_asking = bool(self._request_of or self._plans)
        return self._is_done and not is_asking and not self._are_agents_working

    def waits_only_for(self, call_ids: Collection[str]) -> bool:
        return not self._are_agents_working and self._unfinished == set(call_ids)

    def answer(self, inquiry: Inquiry, closed: Sequence[Question]) -> Reply | None:
        if any(each.answer is None for each in closed) and not denied_question(closed):
            if inquiry.call_id in self._announced:
                return None
            # An earlier turn deferred this call, and was stopped before a person decided.
            return Reply(inquiry.id, _response(inquiry.id, STOPPED))
        return Reply(inquiry.id, _response(inquiry.id, decision_of(inquiry.content, closed)))

    def _record(self, record: Json) -> Iterator[Step]:
        match record.get("type"):
            case "control_request":
                yield from self._requested(record)
            case "control_response":
                yield from self._responded(record.get("response") or {})
            case "control_cancel_request":
                yield from self._cancelled(str(record.get("request_id")))
            case "assistant":
                self._is_done = False
                calls = [block["id"] for block in _blocks(record, "tool_use") if block.get("id")]
                self._unfinished.update(calls)
                self._announced.update(calls)
            case "user":
                for block in _blocks(record, "tool_result"):
                    call_id = str(block.get("tool_use_id"))
                    self._unfinished.discard(call_id)
                    if (request_id := self._request_of.get(call_id)) is not None:
                        yield from self._cancelled(request_id)
            case "system":
                self._system(record)
            case "result":
                self._is_done = not self._queued
                if self._is_done and record.get("stop_reason") == "tool_deferred":
                    yield from self._deferred(record.get("deferred_tool_use") or {})
            case "command_lifecycle":
                self._command(str(record.get("command_uuid")), record.get("state"))

    def _system(self, record: Json) -> None:
        match record.get("subtype"):
            case "background_tasks_changed":
                kinds = [str(task.get("task_type")) for task in record.get("tasks") or ()]
                self._are_agents_working = any(kind.endswith("agent") for kind in kinds)
            case "init" | "task_notification":
                # A turn of the main agent begins, maybe only to report that a task has ended.
                self._is_done = False

    def _command(self, message: str, state: object) -> None:
        if state == "queued":
            self._queued.add(message)
            return
        self._queued.discard(message)
        if state in ("completed", "cancelled"):
            # There is no result if Claude Code had already done this turn.
            self._is_done = not self._queued

    def _requested(self, record: Json) -> Iterator[Step]:
        request_id, request = str(record.get("request_id")), record.get("request") or {}
        if request.get("subtype") != "can_use_tool":
            # Nothing else answers it, and Claude Code would wait forever.
            yield Reply(request_id, _line("control_response", response=_refusal(request_id)))
            return
        call_id = str(request.get("tool_use_id"))
        self._request_of[call_id] = request_id
        self._unfinished.add(call_id)
        yield from self._inquire(Inquiry(request_id, (), request))

    def _deferred(self, call: Json) -> Iterator[Step]:
        call_id = str(call.get("id"))
        request = {
            "tool_use_id": call_id,
            "tool_name": call.get("name"),
            "input": call.get("input"),
        }
        self.has_deferred = True
        yield from self._inquire(Inquiry(call_id, (), request, is_deferred=True))

    def _inquire(self, inquiry: Inquiry) -> Iterator[Step]:
        request = inquiry.content
        if request.get("tool_name") != PLAN_TOOL or input_of(request).get("plan"):
            yield replace(inquiry, questions=questions_of(request))
            return
        own_id = PLAN_PREFIX + inquiry.id
        self._plans[own_id] = inquiry
        line = _line("control_request", request_id=own_id, request={"subtype": "get_plan"})
        yield Reply(own_id, line)

    def _responded(self, response: Json) -> Iterator[Inquiry]:
        inquiry = self._plans.pop(str(response.get("request_id")), None)
        if inquiry is None:
            return
        plan = str((response.get("response") or {}).get("content") or "")
        yield replace(inquiry, questions=questions_of(inquiry.content, plan))

    def _cancelled(self, request_id: str) -> Iterator[Settled]:
        self._request_of = {
            call_id: each for call_id, each in self._request_of.items() if each != request_id
        }
        self._plans.pop(PLAN_PREFIX + request_id, None)
        yield Settled(request_id)


def _blocks(record: Json, kind: str) -> list[Json]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else []
    return [each for each in blocks if isinstance(each, dict) and each.get("type") == kind]


def _response(request_id: str, decision: Json) -> str:
    response = {"subtype": "success", "request_id": request_id, "response": decision}
    return _line("control_response", response=response)


def _refusal(request_id: str) -> Json:
    return {"subtype": "error", "request_id": request_id, "error": "Navi can't answer this"}


def _line(kind: str, **fields: Any) -> str:
    return json.dumps({"type": kind, **fields}) + "\n"
