"""Calls a tool with arguments from JSON, and always returns a result."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from navi.base.errors import NaviError
from navi.base.stored_text import require_unicode
from navi.live.model.tool import Arguments, Tool, ToolContext, ToolResult
from navi.live.model.validation import validate

log = logging.getLogger("navi.tools")


async def call(tool: Tool[Any], context: ToolContext, values: Mapping[str, Any]) -> ToolResult:
    """Never raises: refusals and failures become results that the agent reads."""
    try:
        return await tool.run(context, read_arguments(tool, values))
    except NaviError as refusal:
        return ToolResult(refusal.sentence, is_error=True)
    except Exception as error:
        log.exception("the tool %s failed in session %s", tool.name, context.session_id)
        reason = str(error) or type(error).__name__
        return ToolResult(f"the tool {tool.name} failed: {reason}", is_error=True)


def read_arguments(tool: Tool[Arguments], values: Mapping[str, Any]) -> Arguments:
    arguments = validate(tool.arguments, _without_quirks(values), noun="argument")
    for name, value in values.items():
        if isinstance(value, str):
            require_unicode(name, value)
    return arguments


def _without_quirks(values: Mapping[str, Any]) -> dict[str, Any]:
    """Models often send null for omitted arguments, and 10.0 for 10."""
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in values.items()
        if value is not None
    }
