"""Turns Codex's rollout into events while it works in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from navi.base.errors import Interrupted
from navi.live.agents.driver import DriverEvent
from navi.live.model.event import TextDelta, ThinkingDelta, ToolFinished, ToolStarted
from navi.vendors.codex.ending import CodexEnding, arguments_of
from navi.vendors.codex.records import (
    ABORTED,
    CALL_OUTPUTS,
    CALLS,
    TURN_BEGINNINGS,
    TURN_ENDS,
    LivePayload,
    decode_live_line,
    texts_of,
)

HOOK_PROMPT = "<hook_prompt "


class CodexTranscriptReader:
    """Reads one turn.

    If the turn begins with a hook's answer, the lines before that belong to the person's own turn.
    """

    def __init__(self, *, begins_with_hook_answer: bool = False) -> None:
        self._begins_with_hook_answer = begins_with_hook_answer
        self._calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._text_count = 0
        self._ending = CodexEnding()
        self.has_begun = False
        self.has_ended = False
        self._is_interrupted = False

    def read(self, line: bytes) -> Iterator[DriverEvent]:
        record = decode_live_line(line)
        if record is None or record.payload is None:
            return
        if self.has_begun:
            self._ending.read(record.payload)
            if record.payload.type == "token_count":
                yield from self._ending.windows
        if record.type == "event_msg":
            if record.payload.type in TURN_BEGINNINGS:
                self.has_begun = self.has_begun or not self._begins_with_hook_answer
            elif record.payload.type in TURN_ENDS:
                self.has_ended = self.has_begun
                self._is_interrupted = self.has_begun and record.payload.type == ABORTED
        elif record.type == "response_item":
            yield from self._item(record.payload)

    def raise_failure(self) -> None:
        if (problem := self._ending.failure or self._ending.refusal) is not None:
            raise problem
        if self._is_interrupted:
            raise Interrupted

    def _item(self, item: LivePayload) -> Iterator[DriverEvent]:
        kind, call_id, name = item.type, item.call_id or "", item.name or ""
        if kind == "message" and item.role == "user":
            # A hook's answer continues the current turn; no new turn begins.
            self.has_begun = self.has_begun or HOOK_PROMPT in "\n".join(texts_of(item.content))
        elif not self.has_begun:
            return
        elif kind == "message" and item.role == "assistant":
            self._text_count += 1
            gap = "\n\n" if self._text_count > 1 else ""
            yield TextDelta(gap + "\n".join(texts_of(item.content)))
        elif kind == "reasoning":
            if thought := "\n".join(texts_of(item.summary)):
                yield ThinkingDelta(thought + "\n")
        elif kind in CALLS:
            self._calls[call_id] = (name, arguments_of(item))
            yield ToolStarted(call_id, *self._calls[call_id])
        elif kind in CALL_OUTPUTS and call_id in self._calls:
            call = self._calls.pop(call_id)
            is_error = self._ending.is_refused(call_id)
            yield ToolFinished(call_id, *call, _output_text(item.output), is_error)


def _output_text(output: object) -> str:
    if isinstance(output, str):
        return output
    parts = output if isinstance(output, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
