"""Turns our tools into pydantic-ai tools. A failing tool never ends the turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from navi.live.model.tool import Tool, ToolContext

if TYPE_CHECKING:
    from pydantic_ai import RunContext
    from pydantic_ai import Tool as AgentTool


def agent_tool(tool: Tool[Any]) -> AgentTool[ToolContext]:
    from pydantic_ai import Tool as AgentTool
    from pydantic_ai import ToolFailed
    from pydantic_core import SchemaValidator, core_schema

    from navi.live.model import tool_call
    from navi.live.model.validation import schema

    async def call(context: RunContext[ToolContext], /, **arguments: Any) -> str:
        call_id = context.tool_call_id or ""
        await context.deps.on_record(call_id)
        result = await tool_call.call(tool, context.deps, arguments)
        for nudge in await context.deps.nudges(call_id):
            # The model reads it right after this call's result.
            context.enqueue(nudge)
        if result.is_error:
            raise ToolFailed(result.text)
        return result.text

    wrapped: AgentTool[ToolContext] = AgentTool.from_schema(
        call, tool.name, tool.description, schema(tool.arguments), takes_ctx=True
    )
    # A model may send a list or a number. Without this check the call would raise and end the
    # turn; with it the model gets an error. The tool checks everything else.
    wrapped.function_schema.validator = SchemaValidator(
        core_schema.dict_schema(core_schema.str_schema())
    )
    return wrapped
