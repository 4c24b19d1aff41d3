"""Turns lines of Claude Code's output, and the similar ones of its transcripts, into events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from navi.base.errors import AgentFailed, NaviError, PermissionRefused, UsageLimit
from navi.live.agents.command_line.command_line_driver import unexplained_exit
from navi.live.agents.driver import DriverEvent
from navi.live.agents.usage_limits import instant_of, is_usage_limit, limit_kind
from navi.live.model.event import (
    Compacting,
    Conversation,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    Usage,
    UsageWindow,
)
from navi.live.model.refusal import call_in_words
from navi.vendors.claude_code import records
from navi.vendors.claude_code.records import (
    SYNTHETIC,
    LiveBlock,
    LiveLine,
    LiveMessage,
    PartialMessage,
    RateLimit,
    decode_live_line,
)
from navi.vendors.claude_code.vendor import ClaudeCode

REFUSALS = {
    "user-rejected",
    "permission-rule",
    "automode-blocked",
    "automode-unavailable",
    "automode-parsing-error",
}
"""The kinds of denial that count as refusals. An interruption is not one of them."""
FINISHED = {None, "completed", "background_requested", "stop_hook_prevented"}
"""The `terminal_reason`s of a turn that the agent itself ended."""
API_ERROR = "due to an API error"
"""Part of Claude Code's message when a usage limit has ended a sub-agent."""
_RESET_IN_MESSAGE = re.compile(r"\|(\d{10})\s*$")
"""The reset time as older versions write it: `Claude AI usage limit reached|1794971708`."""
HINT = "allow this in Claude Code's settings, or set `arguments` under [claude_code] in Navi's"


class ClaudeCodeReader:
    """Reads one turn. Ignores those parts of a complete message that were streamed before."""

    def __init__(self) -> None:
        self._streamed: set[tuple[str | None, str]] = set()
        """Message ids and types of the blocks that were streamed."""
        self._message_id: str | None = None
        self._calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._announced: set[str] = set()
        self._earlier_calls: set[str] = set()
        """Calls that an earlier turn deferred and that end in this one."""
        self._model: str | None = None
        self._result: LiveLine | None = None
        self._was_done_before = False
        self._is_compacting = False
        self._limit: RateLimit | None = None
        """The usage limit that was reached."""
        self._refused: dict[str, str] = {}
        """Descriptions of refused calls, by call id."""
        self._limited_agents: dict[str, str] = {}
        """The error messages of sub-agents that reached a usage limit, by task id."""

    def read(self, line: bytes) -> Iterator[DriverEvent]:
        record = decode_live_line(line)
        if record is not None:
            yield from self.events(record)

    def events(self, record: LiveLine) -> Iterator[DriverEvent]:
        if record.parent_tool_use_id or record.isSidechain:
            return  # a sub-agent's line; the result of its task will follow
        match record.type:
            case "system" if record.subtype == "init" and record.session_id:
                yield Conversation(record.session_id)
            case "system" if record.subtype == "status":
                yield from self._status(record.status)
            case "system" if record.subtype == "task_notification" and record.task_id:
                self._task_ended(record.task_id, record)
            case "stream_event" if record.event is not None:
                yield from self._partial(record.event)
            case "assistant" if record.message is not None:
                yield from self._assistant(record.message)
            case "user" if record.message is not None:
                if record.toolDenialKind in REFUSALS:
                    self._record_refusals(record.message)
                yield from self._results(record.message)
            case "rate_limit_event" if record.rate_limit_info is not None:
                limit = record.rate_limit_info
                if limit.status == "rejected":
                    self._limit = limit
                yield from usage_windows(limit)
            case "result":
                # There may be two results, each for the lines before it.
                self._result = record
                for denial in record.permission_denials or ():
                    if denial.tool_use_id in self._earlier_calls:
                        continue
                    call = call_in_words(denial.tool_name, denial.tool_input or {})
                    self._refused[denial.tool_use_id] = call
                yield _usage(record.usage or records.Usage(), self._model)
            case "command_lifecycle" if record.state == "completed":
                self._was_done_before = True

    def usage_windows(self) -> Sequence[UsageWindow]:
        return ()

    def raise_failure(self, exit_code: int | None, error_output: str) -> None:
        result = self._result
        if result is None:
            if exit_code == 0 and self._was_done_before:
                return  # Claude Code had already done this turn, and did not repeat it
            raise unexplained_exit(ClaudeCode.title, exit_code, error_output)
        if exit_code == 0 and not result.is_error:
            for message in self._limited_agents.values():
                # The main agent's turn went well, but without the work of its sub-agent.
                raise failure_of(message, None, self._limit)
            self.raise_refusal()
            _raise_if_cut_off(result)
            return
        if result.stop_reason == "tool_deferred":
            # Claude Code was started again after this result, but printed no other.
            raise unexplained_exit(ClaudeCode.title, exit_code, error_output)
        default = f"{ClaudeCode.title} exited with code {exit_code}"
        message = _reason(result) or error_output or default
        raise failure_of(message, result.api_error_status, self._limit)

    def raise_refusal(self) -> None:
        """Raise `PermissionRefused` if a call was refused."""
        if self._refused:
            raise PermissionRefused(list(self._refused.values()), hint=HINT)

    def _task_ended(self, task_id: str, record: LiveLine) -> None:
        """Record whether a usage limit ended a sub-agent. A continued sub-agent ends again."""
        summary = record.summary or ""
        self._limited_agents.pop(task_id, None)
        if record.status == "failed" and API_ERROR in summary and is_usage_limit(None, summary):
            self._limited_agents[task_id] = summary

    def _status(self, status: object) -> Iterator[DriverEvent]:
        if self._is_compacting != (status == "compacting"):
            self._is_compacting = not self._is_compacting
            yield Compacting(self._is_compacting)

    def _partial(self, event: PartialMessage) -> Iterator[DriverEvent]:
        delta = event.delta
        if event.type == "message_start" and event.message is not None:
            self._message_id = event.message.id
        elif event.type == "content_block_delta" and delta is not None:
            match delta.type:
                case "text_delta":
                    self._streamed.add((self._message_id, "text"))
                    yield TextDelta(delta.text)
                case "thinking_delta":
                    self._streamed.add((self._message_id, "thinking"))
                    yield ThinkingDelta(delta.thinking)

    def _assistant(self, message: LiveMessage) -> Iterator[DriverEvent]:
        if message.model == SYNTHETIC:
            return  # the result repeats it, marked as an error
        self._model = message.model or self._model
        for block in _blocks(message):
            is_new = (message.id, block.type) not in self._streamed
            match block.type:
                case "text" if is_new and block.text:
                    yield TextDelta(block.text)
                case "thinking" if is_new and block.thinking:
                    yield ThinkingDelta(block.thinking)
                case "tool_use" if block.id and block.name:
                    arguments = block.input or {}
                    self._calls[block.id] = (block.name, arguments)
                    self._announced.add(block.id)
                    yield ToolStarted(block.id, block.name, arguments)

    def _record_refusals(self, message: LiveMessage) -> None:
        for block in _blocks(message):
            call_id = block.tool_use_id
            if block.type == "tool_result" and call_id in self._calls:
                self._refused[call_id] = call_in_words(*self._calls[call_id])

    def _results(self, message: LiveMessage) -> Iterator[DriverEvent]:
        for block in _blocks(message):
            call_id = block.tool_use_id
            if block.type == "tool_result" and call_id and call_id not in self._announced:
                self._earlier_calls.add(call_id)
            if block.type == "tool_result" and call_id in self._calls:
                name, arguments = self._calls.pop(call_id)
                text = _result_text(block.content)
                yield ToolFinished(call_id, name, arguments, text, bool(block.is_error))


def _raise_if_cut_off(result: LiveLine) -> None:
    """Raise `AgentFailed` if the turn ended without an error, but before the agent was done."""
    if result.terminal_reason not in FINISHED:
        reason = str(result.terminal_reason).replace("_", " ")
        raise AgentFailed(
            f"{ClaudeCode.title} stopped before it was done: {reason}",
            hint="check your hooks and the `arguments` under [claude_code], then send a message",
        )
    if result.stop_reason == "max_tokens":
        raise AgentFailed(
            f"{ClaudeCode.title}'s answer was cut off, because it became too long",
            hint="send a message that asks it to continue",
        )


def failure_of(message: str, status: object, limit: RateLimit | None) -> NaviError:
    """The error to report for an API error, from Claude Code's message and the HTTP status."""
    if not is_usage_limit(status, message):
        return AgentFailed(message)
    resets_at = None if limit is None else instant_of(limit.resetsAt)
    kind = None if limit is None else limit.rateLimitType
    return UsageLimit(
        message,
        resets_at=resets_at or _reset_in(message),
        limit_kind=kind if isinstance(kind, str) else limit_kind(status, message),
    )


def usage_windows(limit: RateLimit) -> Iterator[UsageWindow]:
    """The account's usage windows, as Claude Code reports them. API keys have none."""
    windows = limit.unifiedWindows if isinstance(limit.unifiedWindows, dict) else {}
    for kind, window in windows.items():
        if isinstance(window, dict) and kind != limit.rateLimitType:
            used = _percent(window.get("utilization"))
            yield UsageWindow(kind, used, instant_of(window.get("resetsAt")))
    if isinstance(limit.rateLimitType, str):
        own = windows.get(limit.rateLimitType)
        own_used = own.get("utilization") if isinstance(own, dict) else None
        used = _percent(own_used if limit.utilization is None else limit.utilization)
        if limit.status == "rejected":
            used = 100.0
        yield UsageWindow(limit.rateLimitType, used, instant_of(limit.resetsAt))


def _percent(utilization: object) -> float | None:
    return round(utilization * 100, 1) if isinstance(utilization, int | float) else None


def _reset_in(message: str) -> datetime | None:
    match = _RESET_IN_MESSAGE.search(message)
    return None if match is None else instant_of(int(match[1]))


def _blocks(message: LiveMessage) -> list[LiveBlock]:
    content = message.content if isinstance(message.content, list) else []
    return [block for block in content if isinstance(block, LiveBlock)]


def _result_text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        str(part.get("text", "")) if part.get("type") == "text" else f"({part.get('type')})"
        for part in parts
        if isinstance(part, dict)
    )


def _reason(result: LiveLine) -> str:
    """The error's text. `subtype` is the last resort: it can be "success" even for errors."""
    if result.result:
        return str(result.result)
    if isinstance(result.errors, list) and result.errors:
        return "; ".join(str(error) for error in result.errors)
    return str(result.subtype or "").replace("_", " ")


def _usage(usage: records.Usage, model: str | None) -> Usage:
    return Usage(
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        cache_read_tokens=usage.cache_read_input_tokens or 0,
        cache_creation_tokens=usage.cache_creation_input_tokens or 0,
        model=model,
    )
