"""Lets an agent find the sessions that touched a file."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.argument_types import Arguments, NonBlank
from navi.live.tools.memory_access import (
    HIGHEST_BUDGET,
    AgentMemory,
    Budget,
    Since,
    require_memory_access,
)

HIGHEST_LIMIT = 50


class SessionsOfFileArguments(Arguments):
    path: NonBlank = Field(description="The file's path. The end of it is enough.")
    since: Since = None
    limit: int = Field(10, ge=1, description="The maximum number of sessions.")
    budget: Budget = 2_000


class SessionsOfFile:
    name: ClassVar[str] = "sessions_of_file"
    description: ClassVar[str] = (
        "Lists the sessions of any agent on this machine that read or changed a file, the latest "
        "first. Use it to find out why a file looks the way it does."
    )
    arguments = SessionsOfFileArguments

    def __init__(self, memory: AgentMemory) -> None:
        self._memory = memory

    async def run(self, context: ToolContext, arguments: SessionsOfFileArguments) -> ToolResult:
        require_memory_access(context)
        return ToolResult(
            await self._memory.file_history(
                arguments.path,
                since=arguments.since,
                limit=min(arguments.limit, HIGHEST_LIMIT),
                budget=min(arguments.budget, HIGHEST_BUDGET),
            )
        )
