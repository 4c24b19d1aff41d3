"""Codex in a pane. The lock that it holds says which thread it has open, its rollout the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from navi.agents.client_environment import Reach
from navi.agents.codex import tool_arguments
from navi.agents.codex_lines import CLIENT, words_of
from navi.agents.driver import TurnRequest
from navi.agents.headless import Told
from navi.agents.pane_agent import Mood, PaneReader
from navi.agents.tmux import Pane
from navi.domain.errors import AgentFailed
from navi.domain.event import TextDelta, ThinkingDelta, ToolFinished, ToolStarted

LOCKS = "thread-writer-locks"
TAIL_BYTES = 1 << 16
BEGINNINGS, ENDS = {"task_started"}, {"task_complete", "turn_aborted"}


class CodexPane:
    client: ClassVar[str] = CLIENT
    mark: ClassVar[str] = "›"
    pause_seconds: ClassVar[float] = 0.8

    def __init__(
        self,
        command: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        reach: Reach | None,
    ) -> None:
        self._command = command
        self._arguments = tuple(arguments)
        named = environment.get("CODEX_HOME")
        self._home = Path(named) if named else Path(environment.get("HOME", "~")) / ".codex"
        self._reach = reach

    def command(self, request: TurnRequest, environment: Mapping[str, str]) -> Sequence[str]:
        thread = request.conversation
        resume = ["resume", thread] if thread is not None else []
        tools = tool_arguments(self._reach)
        return [self._command, *resume, "--no-daemon", *self._arguments, *tools]

    def conversation(self, pane: Pane) -> str | None:
        """The thread whose lock the pane's process holds."""
        for handle in Path(f"/proc/{pane.pid}/fd").glob("*"):
            try:
                held = handle.readlink()
            except OSError:
                continue
            if held.parent.name == LOCKS:
                return held.stem
        return None

    def mood(self, pane: Pane) -> Mood:
        """By the last word of its rollout about turns. A new thread has none yet."""
        thread = self.conversation(pane)
        path = None if thread is None else self.transcript(thread)
        if thread is None:
            return Mood.UNKNOWN
        if path is None:
            return Mood.IDLE
        with path.open("rb") as rollout:
            size = rollout.seek(0, 2)
            rollout.seek(max(0, size - TAIL_BYTES))
            lines = rollout.read().split(b"\n")
        for line in reversed(lines):
            kind, at = _event(line)
            # A turn that began before this process did died with another one.
            if kind in ENDS or (kind in BEGINNINGS and at < pane.started):
                return Mood.IDLE
            if kind in BEGINNINGS:
                return Mood.BUSY
        # So much was said since a turn began that its beginning is out of sight.
        return Mood.BUSY if size > TAIL_BYTES else Mood.IDLE

    def transcript(self, conversation: str) -> Path | None:
        return next(self._home.glob(f"sessions/*/*/*/rollout-*-{conversation}.jsonl"), None)

    def reader(self, request: TurnRequest) -> PaneReader:
        return CodexPaneReader()


class CodexPaneReader:
    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._text_count = 0
        self._failure: str | None = None
        self.has_begun = False
        self.has_ended = False

    def read(self, line: bytes) -> Iterator[Told]:
        try:
            said = json.loads(line)
            payload = said["payload"]
            kind = payload.get("type")
        except (ValueError, KeyError, TypeError, AttributeError):
            return
        if said.get("type") == "event_msg":
            if kind in BEGINNINGS:
                self.has_begun = True
            elif kind in ENDS:
                self.has_ended = self.has_begun
                if error := payload.get("error"):
                    self._failure = words_of(error.get("message"))
        elif said.get("type") == "response_item":
            yield from self._item(kind, payload)

    def judge(self) -> None:
        if self._failure is not None:
            raise AgentFailed(self._failure)

    def _item(self, kind: object, item: Mapping[str, Any]) -> Iterator[Told]:
        match kind:
            case "message" if item.get("role") == "assistant":
                self._text_count += 1
                gap = "\n\n" if self._text_count > 1 else ""
                yield TextDelta(gap + _texts(item.get("content")))
            case "reasoning" if text := _texts(item.get("summary")):
                yield ThinkingDelta(text + "\n")
            case "function_call" | "custom_tool_call":
                arguments = _arguments(item)
                self._calls[item["call_id"]] = (item["name"], arguments)
                yield ToolStarted(item["call_id"], item["name"], arguments)
            case "function_call_output" | "custom_tool_call_output":
                if item["call_id"] in self._calls:
                    name, arguments = self._calls.pop(item["call_id"])
                    output = item.get("output")
                    text = output if isinstance(output, str) else _texts(output)
                    yield ToolFinished(item["call_id"], name, arguments, text)


def _event(line: bytes) -> tuple[str | None, float]:
    """The kind of a line about turns, and when it was written."""
    if b'"event_msg"' not in line:
        return None, 0.0
    try:
        said = json.loads(line)
        moment = datetime.fromisoformat(said["timestamp"]).timestamp()
        return str(said["payload"]["type"]), moment
    except (ValueError, KeyError, TypeError):
        return None, 0.0


def _arguments(item: Mapping[str, Any]) -> Mapping[str, Any]:
    given = item.get("arguments", item.get("input"))
    try:
        value = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        value = given
    return value if isinstance(value, dict) else {"input": value}


def _texts(parts: object) -> str:
    found = parts if isinstance(parts, list) else []
    return "\n".join(str(part.get("text", "")) for part in found if isinstance(part, dict))
