"""What Claude Code says, as our events: its stream and its transcripts have the same lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from navi.agents.driver import Told
from navi.agents.headless import end_of
from navi.domain.errors import AgentFailed
from navi.domain.event import (
    Compacting,
    Conversation,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    Usage,
)

CLIENT = "Claude Code"
BY_ITSELF = "<synthetic>"
"""The model's name on messages that the client wrote in its place, such as API errors."""


class ClaudeCodeReader:
    """For one turn. Partial messages come first and win over the whole ones that follow."""

    def __init__(self) -> None:
        self._streamed: set[tuple[str, str]] = set()
        self._message_id = ""
        self._calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._result: Mapping[str, Any] | None = None
        self._is_known_turn = False
        self._is_compacting = False

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
                yield from self._results(said["message"])
            case "result":
                # There may be two; each counts for what came before it.
                self._result = said
                yield _usage(said.get("usage") or {})
            case "command_lifecycle" if said.get("state") == "completed":
                self._is_known_turn = True

    def judge(self, exit_code: int | None, complaint: str) -> None:
        result = self._result
        if result is None:
            if exit_code == 0 and self._is_known_turn:
                return  # it had done this turn before, and did not do it again
            raise end_of(CLIENT, exit_code, complaint)
        if exit_code == 0 and not result.get("is_error"):
            return
        raise AgentFailed(_reason(result) or complaint or f"{CLIENT} ended with {exit_code}")

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

    def _results(self, message: Mapping[str, Any]) -> Iterator[Told]:
        for block in _blocks(message):
            if block.get("type") == "tool_result" and block.get("tool_use_id") in self._calls:
                name, arguments = self._calls.pop(block["tool_use_id"])
                text = _text(block.get("content"))
                is_error = bool(block.get("is_error"))
                yield ToolFinished(block["tool_use_id"], name, arguments, text, is_error)


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
