"""What agents can call. A tool knows nothing of HTTP, of MCP or of any agent library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from navi.domain.user import Role


@dataclass(frozen=True, slots=True)
class ToolContext:
    """For whom and where a tool works."""

    session_id: str
    cwd: Path
    current_user_id: str
    current_user_role: Role
    current_user_info: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    text: str
    is_error: bool = False


class Tool(Protocol):
    """`parameters` is the JSON schema of the arguments. A refusal is raised as a `NaviError`."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]: ...

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult: ...
