"""What every driver offers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from navi.domain.event import Compacting, TurnEvent, Usage
from navi.domain.message import Message
from navi.domain.session import Session
from navi.domain.tool import ToolContext


@dataclass(frozen=True, slots=True)
class TurnRequest:
    session: Session
    prompt: str
    history: Sequence[Message]
    """Everything the agent still sees: since the last `clear`, from the last summary on."""
    context: ToolContext


class Driver(Protocol):
    """Runs turns of any number of sessions."""

    def turn(self, request: TurnRequest) -> AsyncGenerator[TurnEvent | Usage | Compacting, None]:
        """Run one turn. Ending normally is success.

        Raises `IterationLimit` or `AgentFailed`; being cancelled or closed stops everything that
        the turn started.
        """

    async def aclose(self) -> None:
        """Let go of what turns share, such as connections."""
