"""What agents can call. A tool knows nothing about HTTP, MCP or any agent library."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

from navi.live.model.access.user import Role, User
from navi.live.model.input import Origin

ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands in for the user's creation time, which no tool needs."""

Arguments = TypeVar("Arguments")


async def no_wait(tool_call_id: str) -> None:
    """Used where calls are not stored, so there is nothing to wait for."""


async def no_nudges(tool_call_id: str) -> Sequence[str]:
    """Used where the agent gets no reminders."""
    return ()


@dataclass(frozen=True, slots=True)
class ToolContext:
    """For whom and where a tool runs."""

    session_id: str
    cwd: Path
    current_user_id: str
    current_user_role: Role
    current_user_info: Mapping[str, Any]
    origin: Origin = Origin.USER
    """What caused the turn that called the tool."""
    on_record: Callable[[str], Awaitable[None]] = no_wait
    """Waits until the call with that id is stored. A tool that acted earlier might act twice."""
    nudges: Callable[[str], Awaitable[Sequence[str]]] = no_nudges
    """What the agent should read with the result of that call. Each nudge is returned once."""

    @property
    def user(self) -> User:
        return User(self.current_user_id, self.current_user_role, ANY_TIME, self.current_user_info)


@dataclass(frozen=True, slots=True)
class ToolResult:
    text: str
    is_error: bool = False


class Tool(Protocol[Arguments]):
    """`arguments` is the model of its arguments: a pydantic model or a plain dataclass."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def arguments(self) -> type[Arguments]: ...

    async def run(self, context: ToolContext, arguments: Arguments) -> ToolResult:
        """Raises a `NaviError` to refuse the call."""
