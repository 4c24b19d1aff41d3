"""What agents can call. A tool does not depend on HTTP, MCP or any agent library."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

from navi.live.model.access.user import Role, User
from navi.live.model.input import Origin
from navi.live.model.question import NewQuestion, Question

ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands in for the user's creation time, which no tool needs."""

Arguments = TypeVar("Arguments")


async def no_wait(tool_call_id: str) -> None:
    """Used where calls are not stored, so there is nothing to wait for."""


async def no_nudges(tool_call_id: str) -> Sequence[str]:
    """Used where the agent gets no reminders."""
    return ()


async def nobody_to_ask(new: NewQuestion) -> Question:
    """Used where no person can be asked."""
    raise LookupError("there is nobody to ask")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The session, folder and user that a tool runs for."""

    session_id: str
    cwd: Path
    current_user_id: str
    current_user_role: Role
    current_user_info: Mapping[str, Any]
    origin: Origin = Origin.USER
    """What caused the turn that called the tool."""
    wait_until_stored: Callable[[str], Awaitable[None]] = no_wait
    """Waits for the call with this id to be stored. A tool that acts earlier might act twice."""
    nudges: Callable[[str], Awaitable[Sequence[str]]] = no_nudges
    """Returns the nudges to add to the result of the call with this id, each nudge only once."""
    ask: Callable[[NewQuestion], Awaitable[Question]] = nobody_to_ask
    """Asks a person, and waits within the turn until the question is closed."""
    end_turn: Callable[[], None] = lambda: None
    """Ends the turn once the current call's result is stored."""

    @property
    def user(self) -> User:
        return User(self.current_user_id, self.current_user_role, ANY_TIME, self.current_user_info)


@dataclass(frozen=True, slots=True)
class ToolResult:
    text: str
    is_error: bool = False
    ends_turn: bool = False
    """Whether the agent has nothing more to do in this turn."""


class Tool(Protocol[Arguments]):
    """`arguments` is the type that `run` accepts: a pydantic model or a dataclass."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def arguments(self) -> type[Arguments]: ...

    async def run(self, context: ToolContext, arguments: Arguments) -> ToolResult:
        """Raises a `NaviError` to refuse the call."""
