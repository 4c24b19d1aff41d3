"""Turns the app-server's output into events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

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
from navi.vendors.codex.app_server.requests import RESUME, SETTINGS, START, TURN
from navi.vendors.codex.ending import CodexEnding
from navi.vendors.codex.stream import call_of, difference, outcome_of, usage_of
from navi.vendors.codex.vendor import Codex

WINDOW_NAMES = {"window_duration_mins": "window_minutes"}
_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")

Json = Mapping[str, Any]


def decode_message(line: bytes) -> Json:
    """The message; empty for a line that is not one, such as a warning."""
    try:
        message = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


class AppServerReader:
    """Reads one turn. Codex reports the whole thread's usage, so `usage_before` is subtracted.

    `last_turn` returns the lines of a thread's last turn in its rollout.
    """

    def __init__(
        self,
        usage_before: Usage,
        thread: str | None,
        last_turn: Callable[[str], Sequence[bytes]] = lambda thread: (),
    ) -> None:
        self._usage_before = usage_before
        self._thread = thread
        self._last_turn = last_turn
        self._is_stored = False
        """Whether Codex has stored the thread, so that it can be continued."""
        self._calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._texts: dict[str, int] = {}
        """How many characters of each message were streamed."""
        self._ending = CodexEnding()
        self._is_complete = False

    def read(self, line: bytes) -> Iterator[DriverEvent]:
        message = decode_message(line)
        method, params = message.get("method"), message.get("params") or {}
        if method is None:
            self._responded(message)
        elif method == "account/rateLimits/updated":
            self._ending.set_windows(_in_snake_case(params.get("rateLimits") or {}))
            yield from self._ending.windows
        elif params.get("threadId") == self._thread and "id" not in message:
            yield from self._notified(method, params)

    def usage_windows(self) -> Sequence[UsageWindow]:
        return ()

    def raise_failure(self, exit_code: int | None, error_output: str) -> None:
        if (failure := self._ending.failure) is not None:
            raise failure
        if exit_code != 0 or not self._is_complete:
            raise unexplained_exit(Codex.title, exit_code, error_output)
        if self._thread is not None:
            refusal = CodexEnding.of(self._last_turn(self._thread)).refusal
            if refusal is not None:
                raise refusal

    def _responded(self, message: Json) -> None:
        request_id = message.get("id")
        if request_id == START and "result" in message:
            self._thread = str(message["result"]["thread"]["id"])
        elif request_id in (START, SETTINGS, RESUME, TURN) and "error" in message:
            self._ending.set_failure((message["error"] or {}).get("message"))

    def _notified(self, method: str, params: Json) -> Iterator[DriverEvent]:
        match method:
            case "item/started":
                yield from self._start_item(params["item"])
            case "item/agentMessage/delta":
                yield from self._text(str(params["itemId"]), str(params["delta"]))
            case "item/completed":
                yield from self._complete_item(params["item"])
            case "thread/tokenUsage/updated":
                total = (params.get("tokenUsage") or {}).get("total") or {}
                yield difference(usage_of(_in_snake_case(total)), self._usage_before)
            case "turn/completed":
                self._end(params.get("turn") or {})

    def _end(self, turn: Json) -> None:
        error = turn.get("error")
        if isinstance(error, dict):
            info = error.get("codexErrorInfo")
            info = _snake_case(info) if isinstance(info, str) else _in_snake_case(info)
            self._ending.set_failure(error.get("message"), info)
        elif turn.get("status") == "completed":
            self._is_complete = True
        else:
            self._ending.set_failure(f"the turn was {turn.get('status')}")

    def _start_item(self, item: Json) -> Iterator[DriverEvent]:
        if not self._is_stored and self._thread is not None:
            self._is_stored = True
            yield Conversation(self._thread)
        if (call := call_of(_item_of_exec(item))) is not None:
            self._calls[str(item["id"])] = call
            yield ToolStarted(str(item["id"]), *call)

    def _complete_item(self, item: Json) -> Iterator[DriverEvent]:
        item_id = str(item.get("id"))
        match item.get("type"):
            case "agentMessage":
                rest = str(item.get("text") or "")[self._texts.get(item_id, 0) :]
                yield from self._text(item_id, rest)
            case "reasoning":
                if thought := "\n".join(map(str, item.get("summary") or ())):
                    yield ThinkingDelta(thought + "\n")
            case _:
                record = _item_of_exec(item)
                if (call := call_of(record)) is not None:
                    name, arguments = self._calls.pop(item_id, call)
                    text, is_error = outcome_of(record)
                    yield ToolFinished(item_id, name, arguments, text, is_error)

    def _text(self, item_id: str, delta: str) -> Iterator[DriverEvent]:
        if not delta:
            return
        # Several texts of one turn are paragraphs of one answer.
        gap = "\n\n" if self._texts and item_id not in self._texts else ""
        self._texts[item_id] = self._texts.get(item_id, 0) + len(delta)
        yield TextDelta(gap + delta)


def _item_of_exec(item: Json) -> dict[str, Any]:
    """The item as `codex exec` prints it."""
    record = {_snake_case(name): value for name, value in item.items() if value is not None}
    record["type"] = _snake_case(str(item.get("type")))
    record["status"] = _snake_case(str(item.get("status")))
    if record["type"] == "command_execution" and record["status"] != "declined":
        record.setdefault("aggregated_output", "")
    return record


def _in_snake_case(value: Any) -> Any:
    """The same with names like `resets_at` instead of `resetsAt`, as rollouts have them."""
    if not isinstance(value, dict):
        return value
    names = {name: _snake_case(name) for name in value}
    return {
        WINDOW_NAMES.get(names[name], names[name]): _in_snake_case(each)
        for name, each in value.items()
    }


def _snake_case(name: str) -> str:
    return _CAPITAL.sub(lambda match: "_" + match[1].lower(), name)
