"""Lets an agent read a session of any agent."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.argument_types import Arguments, NonBlank
from navi.live.tools.memory_access import (
    HIGHEST_BUDGET,
    AgentMemory,
    Budget,
    require_memory_access,
)


class ReadSessionArguments(Arguments):
    id: NonBlank = Field(
        description="As search_sessions gives it, or the agent's own id; its start is enough."
    )
    around: int | None = Field(
        None,
        ge=0,
        description="The number of a message to read with those around it. Without it, you get "
        "the beginning and the end.",
    )
    budget: Budget = 4_000


class ReadSession:
    name: ClassVar[str] = "read_session"
    description: ClassVar[str] = (
        "Reads an earlier session of any agent on this machine: what was asked, said and run. "
        "search_sessions and sessions_of_file find the id and the number of a message."
    )
    arguments = ReadSessionArguments

    def __init__(self, memory: AgentMemory) -> None:
        self._memory = memory

    async def run(self, context: ToolContext, arguments: ReadSessionArguments) -> ToolResult:
        require_memory_access(context)
        budget = min(arguments.budget, HIGHEST_BUDGET)
        return ToolResult(
            await self._memory.read(arguments.id, around=arguments.around, budget=budget)
        )
