"""As much of the Anthropic Messages API as Claude Code needs for a turn."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

from tests.acceptance.clients.script import DIRECTIVE, Step, offered

Json = dict[str, Any]
Sent = tuple[str, Json]


def plan(body: Json) -> tuple[str, int]:
    """The last prompt with a script, or else the last one; and the tool calls since then."""
    prompt, calls = "", set[str]()
    for message in body.get("messages", []):
        blocks = message["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        calls |= {block["id"] for block in blocks if block["type"] == "tool_use"}
        if message["role"] != "user":
            continue
        texts = [
            block["text"]
            for block in blocks
            if block["type"] == "text"
            and not block["text"].lstrip().startswith("<system-reminder>")
        ]
        scripts = [text for text in texts if DIRECTIVE.search(text)]
        has_result = any(block["type"] == "tool_result" for block in blocks)
        if scripts or (texts and not has_result):
            prompt, calls = (scripts or texts)[-1], set()
    return prompt, len(calls)


def events(body: Json, steps: list[Step]) -> Iterator[Sent | Step]:
    """The stream of one response. A step that waits is yielded unchanged."""
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 90}
    message: Json = {
        "id": f"msg_{uuid.uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": body.get("model"),
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield "message_start", {"message": message}
    names = [tool["name"] for tool in body.get("tools") or []]
    index, reason = 0, "end_turn"
    for step in steps:
        if step.verb == "wait":
            yield step
            continue
        block, deltas = _block(step, names, body)
        if block["type"] == "tool_use":
            reason = "tool_use"
        yield "content_block_start", {"index": index, "content_block": block}
        for delta in deltas:
            yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
        index += 1
    end = {"stop_reason": reason, "stop_sequence": None}
    yield "message_delta", {"delta": end, "usage": {**usage, "output_tokens": 7}}
    yield "message_stop", {}


def whole(stream: Iterator[Sent | Step]) -> Json:
    """The answer to a request without streaming."""
    message: Json = {}
    for event in stream:
        if isinstance(event, Step):
            continue
        name, data = event
        match name:
            case "message_start":
                message = data["message"]
            case "content_block_start":
                message["content"].append(dict(data["content_block"]))
            case "content_block_delta" if data["delta"]["type"] == "text_delta":
                message["content"][-1]["text"] += data["delta"]["text"]
            case "message_delta":
                message |= data["delta"]
    return message


def _block(step: Step, names: list[str], body: Json) -> tuple[Json, list[Json]]:
    if step.verb == "think":
        thinking = {"type": "thinking_delta", "thinking": step.argument}
        signature = {"type": "signature_delta", "signature": "signed"}
        return {"type": "thinking", "thinking": "", "signature": ""}, [thinking, signature]
    if step.verb in ("bash", "tool"):
        wanted, arguments = ("Bash", {"command": step.argument, "description": "Run it"})
        if step.verb == "tool":
            wanted, arguments = step.call()  # type: ignore[assignment]
        name = offered(names, wanted) or (wanted if wanted.startswith("mcp__") else None)
        if name is not None:
            block = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex}", "name": name}
            text = json.dumps(arguments)
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": text}]
        step = Step("say", f"(no tool {wanted})")
    text = step.argument
    wanted_format = (body.get("output_config") or {}).get("format") or {}
    if wanted_format.get("type") == "json_schema":
        # A title for the session, and the like: every field is filled in.
        fields = wanted_format["schema"].get("properties", {})
        text = json.dumps(dict.fromkeys(fields, text[:60]))
    deltas = [{"type": "text_delta", "text": text[at : at + 40]} for at in range(0, len(text), 40)]
    return {"type": "text", "text": ""}, deltas
