"""The port that every driver implements."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import ClassVar

from navi.live.model.event import Asking, Compacting, Conversation, TurnEvent, Usage
from navi.live.model.message import Message
from navi.live.model.session import Session
from navi.live.model.tool import ToolContext

DriverEvent = TurnEvent | Usage | Conversation | Compacting | Asking
"""What a driver reports during a turn."""


class HandOver:
    """An agent in a person's terminal whose hook is waiting for its next prompt.

    The driver saves where the turn begins before it calls `give`. `is_over` is set when the agent's
    hook reports that the turn is over.
    """

    def __init__(self) -> None:
        self.text: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.is_over = False

    def give(self, text: str) -> None:
        if not self.text.done():
            self.text.set_result(text)


@dataclass(frozen=True, slots=True)
class TurnRequest:
    session: Session
    prompt: str
    history: Sequence[Message]
    """What the agent still sees: everything since the last `clear` or summary."""
    context: ToolContext
    turn_id: str = ""
    started_at: datetime | None = None
    zone: tzinfo = UTC
    """The person's time zone."""
    conversation: str | None = None
    """The agent's own id for this conversation, from an earlier turn."""
    usage_before: Usage = field(default_factory=Usage)
    """The usage of this conversation's earlier turns."""
    should_stop: Callable[[], bool] = lambda: False
    """Whether the turn itself should stop, and not just the server that runs it."""
    hand_over: HandOver | None = None


class Driver:
    """Runs turns for any number of sessions."""

    outlives_server: ClassVar[bool] = False
    """Its agents keep working if the server dies. The next server calls `turn` again with the same
    `turn_id`, and `turn` reports everything from the beginning."""

    shares_sessions: ClassVar[bool] = False
    """People may also open its sessions in their own terminals."""

    runs_programs: ClassVar[bool] = False
    """It runs the program that `session.program` names."""

    def turn(self, request: TurnRequest) -> AsyncGenerator[DriverEvent, None]:
        """Run one turn. Returning normally means success.

        Raises `IterationLimit`, `UsageLimit` or `AgentFailed`, or `PermissionRefused` if the turn
        ended by itself but some of its calls were refused. Cancelling or closing the generator
        stops everything that the turn started; if the driver `outlives_server`, only if
        `request.should_stop()`.
        """
        raise NotImplementedError

    def is_open_elsewhere(self, agent_session_id: str) -> bool:
        """Whether a person has the agent's session open in a terminal."""
        return False

    def can_report(self, session: Session) -> bool:
        """Whether its agent can report its status, and Navi can tell when it is done."""
        return True

    async def end(self, session: Session) -> None:
        """End the session's agent. Called when the session is killed or cleared."""

    async def open_sessions(self) -> list[str]:
        """The ids of sessions whose agents stay open between turns on this machine."""
        return []

    async def aclose(self) -> None:
        """Release what turns share, such as connections."""
