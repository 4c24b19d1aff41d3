"""Access checks and size limits of the memory tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Protocol

from pydantic import BeforeValidator, Field

from navi.base.errors import NotAllowed
from navi.live.model.tool import ToolContext

HIGHEST_BUDGET = 20_000
LOWEST_BUDGET = 200

# Some models send an empty string for an omitted argument.
EmptyIsNone = BeforeValidator(lambda value: None if value == "" else value)

BUDGET = Field(
    ge=LOWEST_BUDGET,
    description="The answer's approximate maximum length in tokens, at four bytes per token.",
)
Budget = Annotated[int, BUDGET]
Since = Annotated[
    str | None,
    EmptyIsNone,
    Field(description="Only after this time: yesterday, monday, 7d, 24h, or a date."),
]


class AgentMemory(Protocol):
    """The part of the memory service that the tools use. Results are text for an agent to read."""

    async def search(
        self,
        query: str,
        *,
        here: Path,
        source: str | None,
        project: str,
        file: str | None,
        since: str | None,
        limit: int,
        budget: int,
    ) -> str:
        """The best passages first, each with its session."""

    async def read(self, id: str, *, around: int | None, budget: int) -> str:
        """A session's messages, or those around one."""

    async def file_history(self, path: str, *, since: str | None, limit: int, budget: int) -> str:
        """The sessions that touched a file, the latest first."""


def require_memory_access(context: ToolContext) -> None:
    if not context.user.is_admin:
        # The memory holds the sessions of every user of this machine.
        raise NotAllowed("only an admin's sessions may search the memory")
