"""The rollout of Codex in a terminal, as the events of one turn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from navi.agents.driver import Told
from navi.domain.event import TextDelta, ThinkingDelta, ToolFinished, ToolStarted
from navi.vendors.codex.ending import CodexEnding, arguments_of
from navi.vendors.codex.records import TURN_BEGINNINGS, TURN_ENDS

HOOK_PROMPT = "<hook_prompt "


class CodexTranscriptReader:
    """`is_handed_over`: the turn began with the answer of a hook. What was said before it, and is
    written down only now, belongs to the person's own turn."""

    def __init__(self, *, is_handed_over: bool = False) -> None:
        self._is_handed_over = is_handed_over
        self._calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._text_count = 0
        self._ending = CodexEnding()
        self.has_begun = False
        self.has_ended = False

    def read(self, line: bytes) -> Iterator[Told]:
        try:
            said = json.loads(line)
            payload = said["payload"]
            kind = payload.get("type")
        except (ValueError, KeyError, TypeError, AttributeError):
            return
        if self.has_begun:
            self._ending.read(payload)
        if said.get("type") == "event_msg":
            if kind in TURN_BEGINNINGS:
                self.has_begun = self.has_begun or not self._is_handed_over
            elif kind in TURN_ENDS:
                self.has_ended = self.has_begun
        elif said.get("type") == "response_item":
            yield from self._item(kind, payload)

    def judge(self) -> None:
        if (problem := self._ending.failure or self._ending.refusal) is not None:
            raise problem

    def _item(self, kind: object, item: Mapping[str, Any]) -> Iterator[Told]:
        match kind:
            case "message" if item.get("role") == "user":
                # What a hook answered goes on with the turn that asked it: there is no new one.
                self.has_begun = self.has_begun or HOOK_PROMPT in _texts(item.get("content"))
            case _ if not self.has_begun:
                return
            case "message" if item.get("role") == "assistant":
                self._text_count += 1
                gap = "\n\n" if self._text_count > 1 else ""
                yield TextDelta(gap + _texts(item.get("content")))
            case "reasoning" if text := _texts(item.get("summary")):
                yield ThinkingDelta(text + "\n")
            case "function_call" | "custom_tool_call":
                arguments = arguments_of(item)
                self._calls[item["call_id"]] = (item["name"], arguments)
                yield ToolStarted(item["call_id"], item["name"], arguments)
            case "function_call_output" | "custom_tool_call_output":
                if item["call_id"] in self._calls:
                    name, arguments = self._calls.pop(item["call_id"])
                    output = item.get("output")
                    text = output if isinstance(output, str) else _texts(output)
                    is_error = self._ending.is_refused(item["call_id"])
                    yield ToolFinished(item["call_id"], name, arguments, text, is_error)


def _texts(parts: object) -> str:
    found = parts if isinstance(parts, list) else []
    return "\n".join(str(part.get("text", "")) for part in found if isinstance(part, dict))
