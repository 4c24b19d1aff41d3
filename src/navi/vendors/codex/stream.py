"""Turns the output of `codex exec --json` into events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from navi.live.agents.command_line.command_line_driver import unexplained_exit
from navi.live.agents.driver import DriverEvent
from navi.live.model.event import (
    Conversation,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    Usage,
    UsageWindow,
)
from navi.vendors.codex.ending import CodexEnding, error_text, failure_of
from navi.vendors.codex.vendor import Codex


class CodexReader:
    """Reads one turn. Codex reports the whole thread's usage, so `usage_before` is subtracted.

    `last_turn` returns the lines of a thread's last turn in its rollout.
    """

    def __init__(
        self, usage_before: Usage, last_turn: Callable[[str], Sequence[bytes]] = lambda thread: ()
    ) -> None:
        self._usage_before = usage_before
        self._last_turn = last_turn
        self._thread = ""
        self._open_calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._text_count = 0
        self._failure: str | None = None
        self._is_complete = False
        self._ending: CodexEnding | None = None

    def read(self, line: bytes) -> Iterator[DriverEvent]:
        record = _parse(line)
        match record.get("type"):
            case "thread.started":
                self._thread = str(record["thread_id"])
                yield Conversation(self._thread)
            case "item.started":
                yield from self._start_item(record["item"])
            case "item.completed":
                yield from self._complete_item(record["item"])
            case "turn.completed":
                self._is_complete = True
                yield difference(usage_of(record.get("usage") or {}), self._usage_before)
            case "turn.failed":
                self._failure = error_text((record.get("error") or {}).get("message"))
            case "error" if self._failure is None:
                self._failure = error_text(record.get("message"))

    def usage_windows(self) -> Sequence[UsageWindow]:
        return self._recorded_ending().windows

    def raise_failure(self, exit_code: int | None, error_output: str) -> None:
        if exit_code == 0 and self._is_complete:
            if (refusal := self._recorded_ending().refusal) is not None:
                raise refusal
            return
        if self._failure and not self._is_complete:
            raise self._recorded_ending().failure or failure_of(self._failure)
        raise unexplained_exit(Codex.title, exit_code, error_output)

    def _recorded_ending(self) -> CodexEnding:
        if self._ending is None:
            self._ending = CodexEnding.of(self._last_turn(self._thread))
        return self._ending

    def _start_item(self, item: Mapping[str, Any]) -> Iterator[DriverEvent]:
        if (call := call_of(item)) is not None:
            self._open_calls[str(item["id"])] = call
            yield ToolStarted(str(item["id"]), *call)

    def _complete_item(self, item: Mapping[str, Any]) -> Iterator[DriverEvent]:
        match item.get("type"):
            case "agent_message":
                # Several texts of one turn are paragraphs of one answer.
                self._text_count += 1
                yield TextDelta(("\n\n" if self._text_count > 1 else "") + str(item["text"]))
            case "reasoning":
                yield ThinkingDelta(str(item["text"]) + "\n")
            case _ if (call := call_of(item)) is not None:
                name, arguments = self._open_calls.pop(str(item["id"]), call)
                text, is_error = outcome_of(item)
                yield ToolFinished(str(item["id"]), name, arguments, text, is_error)


def call_of(item: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """The name and arguments of a tool call; None for other items."""
    match item.get("type"):
        case "command_execution":
            return "shell", {"command": item.get("command")}
        case "file_change":
            return "apply_patch", {"changes": item.get("changes")}
        case "mcp_tool_call":
            arguments = item.get("arguments")
            name = f"{item.get('server')}.{item.get('tool')}"
            return name, arguments if isinstance(arguments, dict) else {"arguments": arguments}
        case "web_search":
            return "web_search", {"query": item.get("query")}
    return None


def outcome_of(item: Mapping[str, Any]) -> tuple[str, bool]:
    is_error = item.get("status") in ("failed", "declined")
    if "aggregated_output" in item:
        return str(item["aggregated_output"]), is_error or bool(item.get("exit_code"))
    if isinstance(error := item.get("error"), dict):
        return str(error.get("message")), True
    if isinstance(result := item.get("result"), dict):
        parts = [part for part in result.get("content") or [] if isinstance(part, dict)]
        return "\n".join(str(part.get("text", "")) for part in parts), is_error
    return str(item.get("status") or "completed"), is_error


def _parse(line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def usage_of(usage: Mapping[str, Any]) -> Usage:
    cached = int(usage.get("cached_input_tokens") or 0)
    return Usage(
        # Codex's input includes the cached tokens; Navi counts each token once.
        input_tokens=max(0, int(usage.get("input_tokens") or 0) - cached),
        output_tokens=int(usage.get("output_tokens") or 0),
        cache_read_tokens=cached,
        cache_creation_tokens=int(usage.get("cache_write_input_tokens") or 0),
    )


def difference(after: Usage, before: Usage) -> Usage:
    return Usage(
        max(0, after.input_tokens - before.input_tokens),
        max(0, after.output_tokens - before.output_tokens),
        max(0, after.cache_read_tokens - before.cache_read_tokens),
        max(0, after.cache_creation_tokens - before.cache_creation_tokens),
    )
