"""What every driver offers."""

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

Told = TurnEvent | Usage | Conversation | Compacting | Asking
"""What a driver reports."""


def not_asked() -> bool:
    return False


class HandOver:
    """An agent in a person's terminal asks by its hook what to do next, and waits for the answer.

    The driver puts the text there once it has noted that it did. `is_over` is set when the agent's
    hook says that it has done what it was told.
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
    """Everything the agent still sees: since the last `clear`, from the last summary on."""
    context: ToolContext
    turn_id: str = ""
    started_at: datetime | None = None
    zone: tzinfo = UTC
    """The zone in which the person reads times."""
    conversation: str | None = None
    """The agent's own name for this conversation, as it reported it at an earlier turn."""
    spent: Usage = field(default_factory=Usage)
    """What the turns of this conversation have used so far."""
    is_to_stop: Callable[[], bool] = not_asked
    """Whether somebody wants the turn to end, as opposed to the server that runs it."""
    hand_over: HandOver | None = None


class Driver:
    """Runs turns of any number of sessions. What is not overridden here needs nothing done."""

    survives: ClassVar[bool] = False
    """Its agents outlive this process. A turn whose server is gone is taken up by the next one,
    and `turn` is called again with the same `turn_id`: it tells everything from the beginning."""

    shares_sessions: ClassVar[bool] = False
    """People may have its sessions open in terminals of their own as well."""

    runs_programs: ClassVar[bool] = False
    """`session.program` names what it runs."""

    def turn(self, request: TurnRequest) -> AsyncGenerator[Told, None]:
        """Run one turn. Ending normally is success.

        Raises `IterationLimit`, `UsageLimit` or `AgentFailed`, and after a turn that ended by
        itself `PermissionRefused` if calls were refused in it. Being cancelled or closed stops
        everything that the turn started. A driver that `survives` does so only if
        `request.is_to_stop()`.
        """
        raise NotImplementedError

    def is_open_elsewhere(self, agent_session_id: str) -> bool:
        """Whether somebody has the agent's session open in a terminal now."""
        return False

    def can_report(self, session: Session) -> bool:
        """Whether its agent can report its status, and Navi knows when it is done."""
        return True

    async def end(self, session: Session) -> None:
        """The session was killed, or gets a new context: let its agent go."""

    async def open_sessions(self) -> list[str]:
        """The ids of the sessions whose agents it keeps open between turns, on this machine."""
        return []

    async def aclose(self) -> None:
        """Let go of what turns share, such as connections."""
