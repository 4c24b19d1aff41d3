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
        description="The id from search_sessions, or the agent's own id. A prefix is enough."
    )
    around: int | None = Field(
        None,
        ge=0,
        description="A message's number: shows that message and those around it. Without it, you "
        "get the session's beginning and end.",
    )
    budget: Budget = 4_000


class ReadSession:
    name: ClassVar[str] = "read_session"
    description: ClassVar[str] = (
        "Reads an earlier session of any agent on this machine: its messages and tool calls. "
        "search_sessions and sessions_of_file return session ids and message numbers."
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
