"""Turns Claude Code's output into events. Its transcripts have the same lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from navi.base.errors import AgentFailed, NaviError, PermissionRefused, UsageLimit
from navi.live.agents.command_line.command_line_driver import unexplained_exit
from navi.live.agents.driver import DriverEvent
from navi.live.agents.usage_limits import instant_of, is_usage_limit
from navi.live.model.event import (
    Compacting,
    Conversation,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    Usage,
)
from navi.live.model.refusal import call_in_words
from navi.vendors.claude_code import records
from navi.vendors.claude_code.records import (
    SYNTHETIC,
    LiveBlock,
    LiveLine,
    LiveMessage,
    PartialMessage,
    live_line,
)
from navi.vendors.claude_code.vendor import ClaudeCode

REFUSALS = {
    "user-rejected",
    "permission-rule",
    "automode-blocked",
    "automode-unavailable",
    "automode-parsing-error",
}
"""The reasons for not making a call that count as refusals; an interruption does not."""
_RESET_IN_MESSAGE = re.compile(r"\|(\d{10})\s*$")
"""As older versions write it: `Claude AI usage limit reached|1794971708`."""
HINT = "allow it in Claude Code's settings, or set `arguments` under [claude_code] in Navi's"


class ClaudeCodeReader:
    """Reads one turn. Ignores a complete message if its parts were streamed before."""

    def __init__(self) -> None:
        self._streamed: set[tuple[str | None, str]] = set()
        self._message_id: str | None = None
        self._calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._result: LiveLine | None = None
        self._was_done_before = False
        self._is_compacting = False
        self._resets_at: datetime | None = None
        self._refused: dict[str, str] = {}
        """Descriptions of refused calls, by call id."""

    def read(self, line: bytes) -> Iterator[DriverEvent]:
        record = live_line(line)
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
            case "stream_event" if record.event is not None:
                yield from self._partial(record.event)
            case "assistant" if record.message is not None:
                yield from self._assistant(record.message)
            case "user" if record.message is not None:
                if record.toolDenialKind in REFUSALS:
                    self._note_refusals(record.message)
                yield from self._results(record.message)
            case "rate_limit_event":
                limit = record.rate_limit_info
                if limit is not None and limit.status == "rejected":
                    self._resets_at = instant_of(limit.resetsAt)
            case "result":
                # There may be two, each for the lines before it.
                self._result = record
                for denial in record.permission_denials or ():
                    call = call_in_words(denial.tool_name, denial.tool_input or {})
                    self._refused[denial.tool_use_id] = call
                yield _usage(record.usage or records.Usage())
            case "command_lifecycle" if record.state == "completed":
                self._was_done_before = True

    def raise_failure(self, exit_code: int | None, error_output: str) -> None:
        result = self._result
        if result is None:
            if exit_code == 0 and self._was_done_before:
                return  # it had already done this turn, and did not repeat it
            raise unexplained_exit(ClaudeCode.title, exit_code, error_output)
        if exit_code == 0 and not result.is_error:
            self.require_permitted()
            return
        default = f"{ClaudeCode.title} exited with code {exit_code}"
        message = _reason(result) or error_output or default
        raise failure_of(message, result.api_error_status, self._resets_at)

    def require_permitted(self) -> None:
        """Raise `PermissionRefused` if a call was refused."""
        if self._refused:
            raise PermissionRefused(list(self._refused.values()), hint=HINT)

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
                    yield ToolStarted(block.id, block.name, arguments)

    def _note_refusals(self, message: LiveMessage) -> None:
        for block in _blocks(message):
            call_id = block.tool_use_id
            if block.type == "tool_result" and call_id in self._calls:
                self._refused[call_id] = call_in_words(*self._calls[call_id])

    def _results(self, message: LiveMessage) -> Iterator[DriverEvent]:
        for block in _blocks(message):
            call_id = block.tool_use_id
            if block.type == "tool_result" and call_id in self._calls:
                name, arguments = self._calls.pop(call_id)
                text = _result_text(block.content)
                yield ToolFinished(call_id, name, arguments, text, bool(block.is_error))


def failure_of(message: str, status: object, resets_at: datetime | None) -> NaviError:
    """The error to report for an API error, from Claude Code's message and the HTTP status."""
    if is_usage_limit(status, message):
        return UsageLimit(message, resets_at=resets_at or _reset_in(message))
    return AgentFailed(message)


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
    """The error's text. `subtype` can be "success" even for errors, so it comes last."""
    if result.result:
        return str(result.result)
    if isinstance(result.errors, list) and result.errors:
        return "; ".join(str(error) for error in result.errors)
    return str(result.subtype or "").replace("_", " ")


def _usage(usage: records.Usage) -> Usage:
    return Usage(
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        cache_read_tokens=usage.cache_read_input_tokens or 0,
        cache_creation_tokens=usage.cache_creation_input_tokens or 0,
    )
