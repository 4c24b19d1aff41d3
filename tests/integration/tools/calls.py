"""Call tools as a model does: with JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from navi.live.model.tool import Tool, ToolContext, ToolResult
from navi.live.model.tool_call import read_arguments


async def run_tool(tool: Tool[Any], context: ToolContext, values: Mapping[str, Any]) -> ToolResult:
    """Return its result, or raise its refusal."""
    return await tool.run(context, read_arguments(tool, values))
