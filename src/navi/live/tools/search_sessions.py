"""Lets an agent find what was said and done before, by any agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, Protocol

from pydantic import BeforeValidator, Field, create_model

from navi.base.errors import NotAllowed
from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.argument_types import Arguments, NonBlank

HIGHEST_LIMIT = 50

# Some models send an empty string for an omitted argument.
EmptyIsNone = BeforeValidator(lambda value: None if value == "" else value)


class SearchArguments(Arguments):
    query: NonBlank
    source: Annotated[str | None, EmptyIsNone] = None
    project: Annotated[NonBlank | None, EmptyIsNone] = Field(
        None, description="Part of a project's path."
    )
    limit: int = Field(10, ge=1)


class MemorySearch(Protocol):
    """The part of the runtime's service that this tool uses."""

    async def find(self, query: str, source: str | None, project: str | None, limit: int) -> str:
        """The best passages first, each with its session."""


class SearchSessions:
    name: ClassVar[str] = "search_sessions"
    description: ClassVar[str] = (
        "Searches everything that any agent has said, thought and run on this machine. A passage "
        'matches if it has all the words; "quoted words" must be adjacent, prefix* matches words '
        "that start with it, and -word excludes passages with that word. "
        "Use it before you solve something that may have been solved before."
    )

    def __init__(self, memory: MemorySearch, sources: Sequence[str]) -> None:
        self._memory = memory
        choice: Any = Annotated[Literal[tuple(sources)] | None, EmptyIsNone]
        self.arguments: type[SearchArguments] = create_model(
            "SearchArguments", __base__=SearchArguments, source=(choice, None)
        )

    async def run(self, context: ToolContext, arguments: SearchArguments) -> ToolResult:
        if not context.user.is_admin:
            # The memory holds everything that the users of this machine have ever said.
            raise NotAllowed("only an admin's sessions may search the memory")
        limit = min(arguments.limit, HIGHEST_LIMIT)
        passages = await self._memory.find(
            arguments.query, arguments.source, arguments.project, limit
        )
        return ToolResult(passages)
