"""Lets an agent write to another session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from pydantic import Field

from navi.live.model.access.user import User
from navi.live.model.input import Admission, DeliveryMode
from navi.live.model.session import Session
from navi.live.model.session_reference import choose
from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.argument_types import Arguments, NonBlank


class SendMessageArguments(Arguments):
    target: NonBlank = Field(description="A session's id, id prefix or name.")
    text: str = Field(description="The message. Include the files and commands it is about.")
    delivery_mode: DeliveryMode = Field(DeliveryMode.SEQUENTIAL, strict=False)


class Sessions(Protocol):
    """The part of the session service that this tool uses."""

    async def list_sessions(self, user: User) -> Sequence[Session]: ...


class Messages(Protocol):
    """The part of the message service that this tool uses."""

    async def send(
        self,
        user: User,
        session_id: str,
        text: str,
        *,
        delivery_mode: DeliveryMode = ...,
        sender_session_id: str | None = ...,
    ) -> Admission: ...


@dataclass(frozen=True, slots=True)
class SendMessage:
    sessions: Sessions
    messages: Messages

    name: ClassVar[str] = "send_message"
    description: ClassVar[str] = (
        "Sends a message to another session. Its agent reads it, with your name, in a turn of its "
        "own; any answer reaches you the same way. `sequential` waits for earlier "
        "messages, `important` goes first once the running turn ends, `urgent` interrupts that "
        "turn: only for what can't wait."
    )
    arguments: ClassVar[type[SendMessageArguments]] = SendMessageArguments

    async def run(self, context: ToolContext, arguments: SendMessageArguments) -> ToolResult:
        user = context.user
        session = choose(
            await self.sessions.list_sessions(user),
            arguments.target,
            lambda candidate: (candidate.id, candidate.name, candidate.title),
        )
        admission = await self.messages.send(
            user,
            session.id,
            arguments.text,
            delivery_mode=arguments.delivery_mode,
            sender_session_id=context.session_id,
        )
        result = "Delivered" if admission.delivered else f"Queued, {admission.position} ahead of it"
        return ToolResult(f"{result}: {session.name} ({session.id}), which was {session.state}.")
