"""The interface that every driver implements."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import ClassVar

from navi.base.errors import NaviError
from navi.live.model.event import (
    Asking,
    Compacting,
    Conversation,
    TurnEvent,
    Usage,
    UsageWindow,
)
from navi.live.model.message import Message
from navi.live.model.question import NewQuestion, Question
from navi.live.model.session import Session, SessionState
from navi.live.model.tool import ToolContext, nobody_to_ask
from navi.live.model.usage_limit import Account

DriverEvent = TurnEvent | Usage | UsageWindow | Conversation | Compacting | Asking
"""What a driver reports during a turn."""


class HandOver:
    """Hands a prompt to the agent in a person's terminal, through the agent's waiting hook.

    Before the driver calls `give`, it saves where the turn begins in the transcript. `is_over` is
    set when the hook reports the end of the turn.
    """

    def __init__(self) -> None:
        self.text: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.is_over = False

    def give(self, text: str) -> None:
        if not self.text.done():
            self.text.set_result(text)


async def nothing_to_withdraw(question_id: str) -> None:
    """The default where questions are not stored: does nothing."""


@dataclass(frozen=True, slots=True)
class TurnRequest:
    session: Session
    prompt: str
    history: Sequence[Message]
    """The messages since the last `clear` or, if there is one, the last summary and the messages
    since."""
    context: ToolContext
    turn_id: str = ""
    started_at: datetime | None = None
    zone: tzinfo = UTC
    """The person's time zone."""
    conversation: str | None = None
    """The agent's own id for the session (`agent_session_id`), if an earlier turn reported it."""
    usage_before: Usage = field(default_factory=Usage)
    """The usage of this conversation's earlier turns."""
    should_stop: Callable[[], bool] = lambda: False
    """Whether cancelling `turn` must stop the agent, even if the agent outlives the server."""
    hand_over: HandOver | None = None
    """Set if the turn runs, or may run, in a person's terminal."""
    ask: Callable[[NewQuestion], Awaitable[Question]] = nobody_to_ask
    """Asks a person, and returns the question once it is closed. Calling it again with the same
    `call_id` and content returns the same question, so a driver may read its agent's output again
    after a restart. It may have to pass the answer to the agent again, too."""
    withdraw: Callable[[str], Awaitable[None]] = nothing_to_withdraw
    """Closes the question with this id, because the agent no longer asks it. Questions that are
    still open at the end of the turn are withdrawn, too."""
    settle: Callable[[str], Awaitable[None]] = nothing_to_withdraw
    """Closes the question with this id, because the person has answered it in the agent's
    terminal."""
    may_ask: bool = True
    """Whether a person could allow a call. If not, the agent need not ask for permission."""


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

        Raises `IterationLimit`, `UsageLimit` or `AgentFailed`; `PermissionRefused` if the turn
        ended by itself but some of its calls were refused; `NotDelivered` if the agent never got
        the prompt. Cancelling or closing the generator stops everything that the turn started, but
        an agent that outlives the server keeps working unless `request.should_stop()`.
        """
        raise NotImplementedError

    def account_of(self, session: Session) -> Account:
        """The account whose usage limits apply to the session's turns."""
        return Account.of(session)

    def is_open_elsewhere(self, agent_session_id: str) -> bool:
        """Whether a person has the agent's session open in a terminal."""
        return False

    def state_in_terminal(self, agent_session_id: str) -> SessionState | None:
        """The agent's state in a terminal, as recorded by the agent; None if unknown."""
        return None

    def last_failure(self, agent_session_id: str) -> NaviError | None:
        """The error that ended the agent's last turn, according to its transcript, if any."""
        return None

    def can_report(self, session: Session) -> bool:
        """Whether the session's agent can report its status. If not, it can't be reminded."""
        return True

    async def end(self, session: Session) -> None:
        """End the session's agent. Called when the session is killed or deleted."""

    async def open_sessions(self) -> list[str]:
        """The ids of sessions whose agents are open on this machine, even between turns."""
        return []

    async def aclose(self) -> None:
        """Release resources that turns share, such as connections."""
