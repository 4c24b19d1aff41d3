"""Our tools as pydantic-ai calls them. Whatever a tool does, the turn goes on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from navi.base.errors import NaviError
from navi.live.model.tool import Tool, ToolContext, ToolResult

if TYPE_CHECKING:
    from pydantic_ai import RunContext
    from pydantic_ai import Tool as AgentTool

_log = logging.getLogger(__name__)


def agent_tool(tool: Tool) -> AgentTool[ToolContext]:
    from pydantic_ai import Tool as AgentTool
    from pydantic_ai import ToolFailed
    from pydantic_core import SchemaValidator, core_schema

    async def call(context: RunContext[ToolContext], /, **arguments: Any) -> str:
        call_id = context.tool_call_id or ""
        await context.deps.on_record(call_id)
        result = await _run(tool, context.deps, arguments)
        for nudge in await context.deps.nudges(call_id):
            # The model reads it right after the result of this call.
            context.enqueue(nudge)
        if result.is_error:
            raise ToolFailed(result.text)
        return result.text

    wrapped: AgentTool[ToolContext] = AgentTool.from_schema(
        call, tool.name, tool.description, dict(tool.parameters), takes_ctx=True
    )
    # A model may send a list or a number. Without this the call above would fail as a program
    # does, and end the turn; now the model is told. All else is for the tool itself to judge.
    wrapped.function_schema.validator = SchemaValidator(
        core_schema.dict_schema(core_schema.str_schema())
    )
    return wrapped


async def _run(tool: Tool, context: ToolContext, arguments: dict[str, Any]) -> ToolResult:
    try:
        return await tool.run(context, arguments)
    except NaviError as refusal:
        hint = f" ({refusal.hint})" if refusal.hint else ""
        return ToolResult(f"{refusal.message}{hint}", is_error=True)
    except Exception as error:
        _log.exception("the tool %s failed in session %s", tool.name, context.session_id)
        reason = str(error) or type(error).__name__
        return ToolResult(f"the tool {tool.name} failed: {reason}", is_error=True)
