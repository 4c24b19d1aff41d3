"""Lets an agent write to another session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from navi.live.model.input import DeliveryMode
from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.arguments import Arguments

MODES = tuple(mode.value for mode in DeliveryMode)


class Desk(Protocol):
    async def send_for(
        self, context: ToolContext, target: str, text: str, delivery_mode: DeliveryMode
    ) -> str:
        """Keep the message and say where it is now."""


@dataclass(frozen=True, slots=True)
class SendMessage:
    desk: Desk

    name: ClassVar[str] = "send_message"
    description: ClassVar[str] = (
        "Sends a message to another session. Its agent sees it with your name, in a turn of its "
        "own; an answer, if there is one, comes to you the same way. `sequential` waits for what "
        "was sent before, `important` overtakes at the end of the running turn, `urgent` "
        "interrupts it: only for what can't wait."
    )
    parameters: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "target": {"type": "string", "description": "A session's id, its beginning, or name."},
            "text": {"type": "string", "description": "What to tell; name files and commands."},
            "delivery_mode": {"type": "string", "enum": list(MODES)},
        },
        "required": ["target", "text"],
        "additionalProperties": False,
    }

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        given = Arguments(arguments, self.parameters)
        mode = DeliveryMode(given.choice("delivery_mode", MODES, DeliveryMode.SEQUENTIAL.value))
        said = await self.desk.send_for(context, given.line("target"), given.text("text"), mode)
        return ToolResult(said)
