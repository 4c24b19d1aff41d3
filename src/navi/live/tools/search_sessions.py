"""Lets an agent find what was said and done before, by any agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from navi.base.errors import NotAllowed
from navi.live.model.access.user import Role
from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.arguments import Arguments

DEFAULT_LIMIT, LONGEST_LIMIT = 10, 50


class Shelf(Protocol):
    """Where the memory is."""

    async def find(self, query: str, source: str | None, project: str | None, limit: int) -> str:
        """The passages found, best first, each with its session."""


@dataclass(frozen=True, slots=True)
class SearchSessions:
    shelf: Shelf
    sources: Sequence[str]
    """The names of the agents whose sessions are in the memory."""

    name: ClassVar[str] = "search_sessions"
    description: ClassVar[str] = (
        "Searches everything that agents said, thought and ran on this machine before, whichever "
        "agent it was. All words must be in the passage; "
        '"quoted words" stand side by side, begin* finds words that begin so, -word leaves out. '
        "Use it before you solve something that may have been solved before."
    )

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "source": {"type": "string", "enum": list(self.sources)},
                "project": {"type": "string", "description": "Part of a project's path."},
                "limit": {"type": "integer", "description": f"{DEFAULT_LIMIT} if you don't say."},
            },
            "required": ["query"],
            "additionalProperties": False,
        }

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        if context.current_user_role is not Role.ADMIN:
            # It holds everything that was ever said on this machine, whoever said it.
            raise NotAllowed("only an admin's sessions may search the memory")
        given = Arguments(arguments, self.parameters)
        query = given.line("query")
        source = given.choice("source", self.sources) if arguments.get("source") else None
        project = given.line("project") if arguments.get("project") else None
        limit = given.whole_number("limit", DEFAULT_LIMIT, minimum=1) or DEFAULT_LIMIT
        return ToolResult(await self.shelf.find(query, source, project, min(limit, LONGEST_LIMIT)))
