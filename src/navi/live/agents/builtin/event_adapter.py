"""Turns pydantic-ai's events into the events of a turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from navi.live.model.event import TextDelta, ThinkingDelta, ToolFinished, ToolStarted, TurnEvent

if TYPE_CHECKING:
    from pydantic_ai import AgentRunResultEvent, AgentStreamEvent
    from pydantic_ai.messages import ToolReturnPart


class EventAdapter:
    """Adapts one turn's events. Keeps each call's arguments, because its result lacks them."""

    def __init__(self) -> None:
        self._arguments: dict[str, Mapping[str, Any]] = {}
        self.is_cut_off = False
        """Whether the last answer ended because it had become too long."""

    def adapt(self, event: AgentStreamEvent | AgentRunResultEvent[Any]) -> TurnEvent | None:
        """The turn's event; None if the event matters only to pydantic-ai."""
        match event.event_kind:
            case "part_start":
                return _delta(event.part.part_kind, getattr(event.part, "content", None))
            case "part_delta":
                kind = event.delta.part_delta_kind
                return _delta(kind, getattr(event.delta, "content_delta", None))
            case "agent_run_result":
                self.is_cut_off = event.result.response.finish_reason == "length"
            case "function_tool_call":
                arguments = event.part.args_as_dict()
                self._arguments[event.tool_call_id] = arguments
                return ToolStarted(event.tool_call_id, event.part.tool_name, arguments)
            case "function_tool_result":
                return ToolFinished(
                    event.tool_call_id,
                    event.part.tool_name,
                    self._arguments.pop(event.tool_call_id, {}),
                    _result(event.part),
                    is_error=event.part.outcome != "success",
                )
        return None


def _delta(kind: str, text: object) -> TurnEvent | None:
    if not isinstance(text, str) or not text:
        return None
    if kind == "text":
        return TextDelta(text)
    if kind == "thinking":
        return ThinkingDelta(text)
    return None


def _result(part: ToolReturnPart) -> str:
    """The text that the model gets. A call with invalid arguments gets a list of errors."""
    if not isinstance(part.content, list):
        return part.model_response_str(wrap_if_error=False)
    return "\n".join(
        str(item.get("msg", item)) if isinstance(item, dict) else str(item) for item in part.content
    )
