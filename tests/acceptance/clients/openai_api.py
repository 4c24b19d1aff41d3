"""As much of the OpenAI Responses API as Codex needs for a turn."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

from tests.acceptance.clients.script import Step, offered

Json = dict[str, Any]
Sent = tuple[str, Json]
CALLS = ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call")
INJECTED = re.compile(r"\s*(<[a-z_]+>|# AGENTS\.md)")


def plan(body: Json) -> tuple[str, int]:
    prompt, calls = "", 0
    for item in body.get("input", []):
        if item.get("type", "message") != "message":
            calls += item["type"] in CALLS
            continue
        text = "\n".join(part.get("text", "") for part in item["content"])
        if item.get("role") == "user" and not INJECTED.match(text):
            prompt, calls = text, 0
    return prompt, calls


def events(body: Json, steps: list[Step]) -> Iterator[Sent | Step]:
    shell = {"id": f"resp_{uuid.uuid4().hex}", "object": "response", "model": body.get("model")}
    yield "response.created", {"response": {**shell, "status": "in_progress", "output": []}}
    output: list[Json] = []
    for step in steps:
        if step.verb == "wait":
            yield step
            continue
        item = _item(step, body.get("tools") or [])
        place = {"output_index": len(output)}
        bare = {**item, "content": []} if item["type"] == "message" else item
        yield "response.output_item.added", {**place, "item": bare}
        if item["type"] == "message":
            delta = {"item_id": item["id"], "content_index": 0, "delta": item["content"][0]["text"]}
            yield "response.output_text.delta", {**place, **delta}
        yield "response.output_item.done", {**place, "item": item}
        output.append(item)
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 90},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 107,
    }
    done = {**shell, "status": "completed", "output": output, "usage": usage}
    yield "response.completed", {"response": done}


def _item(step: Step, tools: list[Json]) -> Json:
    number = uuid.uuid4().hex
    if step.verb == "think":
        summary = [{"type": "summary_text", "text": step.argument}]
        thought = {"summary": summary, "encrypted_content": "sealed"}
        return {"id": f"rs_{number}", "type": "reasoning", **thought}
    if step.verb in ("bash", "tool"):
        wanted, arguments = (
            step.call() if step.verb == "tool" else ("exec_command", {"cmd": step.argument})
        )
        flat = _flat(tools)
        if (name := offered(flat, wanted)) is not None:
            own_name, namespace = flat[name]
            call = {"name": own_name, "arguments": json.dumps(arguments)}
            place = {} if namespace is None else {"namespace": namespace}
            ids = {"id": f"fc_{number}", "call_id": f"call_{number}"}
            return {**ids, "type": "function_call", **call, **place}
        step = Step("say", f"(no tool {wanted} among {', '.join(flat)})")
    content = [{"type": "output_text", "text": step.argument, "annotations": []}]
    message = {"role": "assistant", "status": "completed", "content": content}
    return {"id": f"msg_{number}", "type": "message", **message}


def _flat(tools: list[Json]) -> dict[str, tuple[str, str | None]]:
    """Map full names to the tool's own name and its namespace."""
    names: dict[str, tuple[str, str | None]] = {}
    for tool in tools:
        if tool.get("type") == "namespace":
            for inner in tool.get("tools", []):
                names[f"{tool['name']}.{inner['name']}"] = (inner["name"], tool["name"])
        elif "name" in tool:
            names[tool["name"]] = (tool["name"], None)
    return names
