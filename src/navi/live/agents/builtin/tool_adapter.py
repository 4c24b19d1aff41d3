"""Turns our tools into pydantic-ai tools. A failing tool never ends the turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from navi.live.model.question import Decision, NewQuestion, QuestionKind
from navi.live.model.refusal import call_in_words
from navi.live.model.tool import Tool, ToolContext

if TYPE_CHECKING:
    from pydantic_ai import RunContext
    from pydantic_ai import Tool as AgentTool

NEEDS_PERMISSION = "needs_permission_"
"""The prefix of the ids of calls that a person must allow."""


def agent_tool(tool: Tool[Any]) -> AgentTool[ToolContext]:
    from pydantic_ai import Tool as AgentTool
    from pydantic_ai import ToolFailed
    from pydantic_core import SchemaValidator, core_schema

    from navi.live.model import tool_call
    from navi.live.model.validation import schema

    async def call(context: RunContext[ToolContext], /, **arguments: Any) -> str:
        call_id = context.tool_call_id or ""
        await context.deps.wait_until_stored(call_id)
        if call_id.startswith(NEEDS_PERMISSION):
            await _require_permission(context.deps, tool.name, arguments, call_id)
        result = await tool_call.call(tool, context.deps, arguments)
        for nudge in await context.deps.nudges(call_id):
            # The model reads the nudge right after this call's result.
            context.enqueue(nudge)
        if result.ends_turn:
            context.deps.end_turn()
        if result.is_error:
            raise ToolFailed(result.text)
        return result.text

    wrapped: AgentTool[ToolContext] = AgentTool.from_schema(
        call, tool.name, tool.description, schema(tool.arguments), takes_ctx=True
    )
    # A model may send a list or a number instead of an object. Without this check the call would
    # raise and end the turn; with it the model gets an error. The tool checks everything else.
    wrapped.function_schema.validator = SchemaValidator(
        core_schema.dict_schema(core_schema.str_schema())
    )
    return wrapped


async def _require_permission(
    context: ToolContext, tool_name: str, arguments: Mapping[str, Any], call_id: str
) -> None:
    """Ask a person. Raises `ToolFailed`, with their message, unless they allow the call."""
    from pydantic_ai import ToolFailed

    question = await context.ask(
        NewQuestion(
            kind=QuestionKind.PERMISSION,
            title=f"May I call {call_in_words(tool_name, arguments)}?",
            call_id=call_id,
            tool_name=tool_name,
            tool_input=arguments,
        )
    )
    answer = question.answer
    if answer is None or answer.decision is Decision.DENY:
        message = None if answer is None else answer.text
        raise ToolFailed(message or "The person denied this call.")
