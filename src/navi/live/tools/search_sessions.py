"""Lets an agent search the earlier sessions of all agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, create_model

from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.argument_types import Arguments, NonBlank
from navi.live.tools.memory_access import (
    HIGHEST_BUDGET,
    AgentMemory,
    Budget,
    EmptyIsNone,
    Since,
    require_memory_access,
)

HIGHEST_LIMIT = 50
HERE = "here"

EmptyIsHere = BeforeValidator(lambda value: HERE if value == "" else value)


class SearchArguments(Arguments):
    query: NonBlank
    source: Annotated[str | None, EmptyIsNone] = None
    project: Annotated[NonBlank, EmptyIsHere] = Field(
        HERE,
        description="`here` is this session's project, `everywhere` all projects; anything else is "
        "part of a project's path. If `here` has no match, all projects are searched.",
    )
    file: Annotated[NonBlank | None, EmptyIsNone] = Field(
        None, description="Only sessions that touched this file. The end of its path is enough."
    )
    since: Since = None
    limit: int = Field(10, ge=1, description="The maximum number of passages.")
    budget: Budget = 2_000


class SearchSessions:
    name: ClassVar[str] = "search_sessions"
    description: ClassVar[str] = (
        "Searches the sessions of all agents on this machine: messages, thoughts and tool calls, "
        "with the beginning, the end and the errors of each tool's output. A passage "
        'matches if it has all the words; "quoted words" must be adjacent, prefix* matches words '
        "that start with it, and -word excludes passages with that word. The query may also have "
        'filters: agent:codex, project:"my shop", file:auth.ts, after:7d, before:2026-10-01, '
        "role:user, tool:Bash, session:ID, origin:recall, outcome:failed. "
        "Use it before you solve something that may have been solved before."
    )

    def __init__(self, memory: AgentMemory, sources: Sequence[str]) -> None:
        self._memory = memory
        source_type: Any = Annotated[Literal[tuple(sources)] | None, EmptyIsNone]
        self.arguments: type[SearchArguments] = create_model(
            "SearchArguments", __base__=SearchArguments, source=(source_type, None)
        )

    async def run(self, context: ToolContext, arguments: SearchArguments) -> ToolResult:
        require_memory_access(context)
        passages = await self._memory.search(
            arguments.query,
            here=context.cwd,
            source=arguments.source,
            project=arguments.project,
            file=arguments.file,
            since=arguments.since,
            limit=min(arguments.limit, HIGHEST_LIMIT),
            budget=min(arguments.budget, HIGHEST_BUDGET),
        )
        return ToolResult(passages)
