"""What Claude Code says, as our events: its stream and its transcripts have the same lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from navi.agents.driver import Told
from navi.agents.headless import end_of
from navi.agents.limits import instant_of, is_limit
from navi.domain.errors import AgentFailed, NaviError, PermissionRefused, UsageLimit
from navi.domain.event import (
    Compacting,
    Conversation,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    Usage,
)
from navi.domain.refusal import call_in_words
from navi.vendors.claude_code.vendor import ClaudeCode

BY_ITSELF = "<synthetic>"
"""The model's name on messages that the client wrote in its place, such as API errors."""
REFUSALS = {
    "user-rejected",
    "permission-rule",
    "automode-blocked",
    "automode-unavailable",
    "automode-parsing-error",
}
"""Why a call in a transcript was not made, other than because of an interruption."""
_RESET_IN_WORDS = re.compile(r"\|(\d{10})\s*$")
"""Of older versions: `Claude AI usage limit reached|1794971708`."""
HINT = "allow it in Claude Code's settings or by `arguments` in section [claude_code] of Navi's"


class ClaudeCodeReader:
    """For one turn. Partial messages come first and win over the whole ones that follow."""

    def __init__(self) -> None:
        self._streamed: set[tuple[str, str]] = set()
        self._message_id = ""
        self._calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._result: Mapping[str, Any] | None = None
        self._is_known_turn = False
        self._is_compacting = False
        self._resets_at: datetime | None = None
        self._refused: dict[str, str] = {}
        """Calls by their id, in words."""

    def read(self, line: bytes) -> Iterator[Told]:
        said = _parsed(line)
        if said.get("parent_tool_use_id") or said.get("isSidechain"):
            return  # a sub-agent's: its task's result says what came of it
        match said.get("type"):
            case "system" if said.get("subtype") == "init":
                yield Conversation(str(said["session_id"]))
            case "system" if said.get("subtype") == "status":
                yield from self._status(said.get("status"))
            case "stream_event":
                yield from self._partial(said["event"])
            case "assistant":
                yield from self._assistant(said["message"])
            case "user":
                if said.get("toolDenialKind") in REFUSALS:
                    self._note_refusals(said["message"])
                yield from self._results(said["message"])
            case "rate_limit_event":
                limit = said.get("rate_limit_info") or {}
                if limit.get("status") == "rejected":
                    self._resets_at = instant_of(limit.get("resetsAt"))
            case "result":
                # There may be two; each counts for what came before it.
                self._result = said
                for denial in said.get("permission_denials") or []:
                    call = call_in_words(str(denial["tool_name"]), denial.get("tool_input") or {})
                    self._refused[str(denial["tool_use_id"])] = call
                yield _usage(said.get("usage") or {})
            case "command_lifecycle" if said.get("state") == "completed":
                self._is_known_turn = True

    def judge(self, exit_code: int | None, complaint: str) -> None:
        result = self._result
        if result is None:
            if exit_code == 0 and self._is_known_turn:
                return  # it had done this turn before, and did not do it again
            raise end_of(ClaudeCode.title, exit_code, complaint)
        if exit_code == 0 and not result.get("is_error"):
            self.require_permitted()
            return
        words = _reason(result) or complaint or f"{ClaudeCode.title} ended with {exit_code}"
        raise failure_of(words, result.get("api_error_status"), self._resets_at)

    def require_permitted(self) -> None:
        """Raise `PermissionRefused` if a call was not made for want of permission."""
        if self._refused:
            raise PermissionRefused(list(self._refused.values()), hint=HINT)

    def _status(self, status: object) -> Iterator[Told]:
        if self._is_compacting != (status == "compacting"):
            self._is_compacting = not self._is_compacting
            yield Compacting(self._is_compacting)

    def _partial(self, event: Mapping[str, Any]) -> Iterator[Told]:
        match event.get("type"):
            case "message_start":
                self._message_id = str(event["message"].get("id"))
            case "content_block_delta":
                delta = event["delta"]
                match delta.get("type"):
                    case "text_delta":
                        self._streamed.add((self._message_id, "text"))
                        yield TextDelta(delta["text"])
                    case "thinking_delta":
                        self._streamed.add((self._message_id, "thinking"))
                        yield ThinkingDelta(delta["thinking"])

    def _assistant(self, message: Mapping[str, Any]) -> Iterator[Told]:
        if message.get("model") == BY_ITSELF:
            return  # the result says the same, and says that it is an error
        for block in _blocks(message):
            kind = str(block.get("type"))
            is_new = (str(message.get("id")), kind) not in self._streamed
            match kind:
                case "text" if is_new and block.get("text"):
                    yield TextDelta(block["text"])
                case "thinking" if is_new and block.get("thinking"):
                    yield ThinkingDelta(block["thinking"])
                case "tool_use":
                    arguments = block.get("input") or {}
                    self._calls[block["id"]] = (block["name"], arguments)
                    yield ToolStarted(block["id"], block["name"], arguments)

    def _note_refusals(self, message: Mapping[str, Any]) -> None:
        for block in _blocks(message):
            call_id = block.get("tool_use_id")
            if block.get("type") == "tool_result" and call_id in self._calls:
                self._refused[call_id] = call_in_words(*self._calls[call_id])

    def _results(self, message: Mapping[str, Any]) -> Iterator[Told]:
        for block in _blocks(message):
            if block.get("type") == "tool_result" and block.get("tool_use_id") in self._calls:
                name, arguments = self._calls.pop(block["tool_use_id"])
                text = _text(block.get("content"))
                is_error = bool(block.get("is_error"))
                yield ToolFinished(block["tool_use_id"], name, arguments, text, is_error)


def failure_of(words: str, status: object, resets_at: datetime | None) -> NaviError:
    """The error that stands for an API error, by Claude Code's words and the HTTP status."""
    if is_limit(status, words):
        return UsageLimit(words, resets_at=resets_at or _reset_in(words))
    return AgentFailed(words)


def _reset_in(words: str) -> datetime | None:
    match = _RESET_IN_WORDS.search(words)
    return None if match is None else instant_of(int(match[1]))


def _parsed(line: bytes) -> Mapping[str, Any]:
    """Nothing for what is no JSON object: clients print warnings, too."""
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict)]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        part["text"] if part.get("type") == "text" else f"({part.get('type')})"
        for part in parts
        if isinstance(part, dict)
    )


def _reason(result: Mapping[str, Any]) -> str:
    """`subtype` says "success" even for errors, so it is asked last."""
    if result.get("result"):
        return str(result["result"])
    if errors := result.get("errors"):
        return "; ".join(str(each) for each in errors)
    return str(result.get("subtype") or "").replace("_", " ")


def _usage(usage: Mapping[str, Any]) -> Usage:
    return Usage(
        input_tokens=int(usage.get("input_tokens") or 0),
        output_tokens=int(usage.get("output_tokens") or 0),
        cache_read_tokens=int(usage.get("cache_read_input_tokens") or 0),
        cache_creation_tokens=int(usage.get("cache_creation_input_tokens") or 0),
    )
