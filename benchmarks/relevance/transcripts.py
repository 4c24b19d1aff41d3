"""Writes a session in the format of Claude Code or Codex, with the fields that the index reads."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from benchmarks.relevance.corpus import Step, Story

Line = dict[str, Any]


def session_id(story: Story) -> str:
    return str(uuid5(NAMESPACE_URL, story.name))


def write(story: Story, home: Path) -> None:
    id, day = session_id(story), story.started_at
    if story.agent == "codex":
        folder = home / f".codex/sessions/{day:%Y/%m/%d}"
        path, lines = folder / f"rollout-{day:%Y-%m-%dT%H-%M-%S}-{id}.jsonl", _codex(story)
    else:
        path, lines = home / f".claude/projects/-srv-{story.project}/{id}.jsonl", _claude(story)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def _claude(story: Story) -> list[Line]:
    lines: list[Line] = []
    for number, step in enumerate(story.steps):
        base = {
            "sessionId": session_id(story),
            "cwd": _folder(story),
            "version": "2.1.325",
            "timestamp": _moment(story, number),
        }
        if step.sign == ">":
            message: Line = {"role": "user", "content": step.text}
            lines.append({**base, "type": "user", "uuid": f"u{number}", "message": message})
            continue
        call = f"toolu_{number}"
        block: Line
        if step.sign == "?":
            block = {"type": "thinking", "thinking": step.text}
        elif step.sign == "<":
            block = {"type": "text", "text": step.text}
        else:
            tool, arguments = _tool(step, _folder(story))
            block = {"type": "tool_use", "id": call, "name": tool, "input": arguments}
        message = {"id": f"msg_{number}", "role": "assistant", "content": [block]}
        lines.append({**base, "type": "assistant", "uuid": f"a{number}", "message": message})
        if step.sign in "$@":
            result = {"type": "tool_result", "tool_use_id": call, "content": _output(step)}
            message = {"role": "user", "content": [result]}
            lines.append({**base, "type": "user", "uuid": f"r{number}", "message": message})
    return lines


def _codex(story: Story) -> list[Line]:
    meta = {"id": session_id(story), "cwd": _folder(story), "timestamp": _moment(story, 0)}
    lines: list[Line] = [
        {"type": "session_meta", "timestamp": _moment(story, 0), "payload": meta},
        {"type": "turn_context", "timestamp": _moment(story, 0), "payload": {"model": "gpt-5"}},
    ]
    for number, step in enumerate(story.steps):
        items: list[Line]
        call = f"call_{number}"
        if step.sign in "><":
            role, kind = ("user", "input_text") if step.sign == ">" else ("assistant", "text")
            content = [{"type": kind, "text": step.text}]
            items = [{"type": "message", "role": role, "content": content}]
        elif step.sign == "?":
            summary = [{"type": "summary_text", "text": step.text}]
            items = [{"type": "reasoning", "summary": summary}]
        else:
            head = "Chunk ID: 2f6c01\nWall time: 0.4 seconds\nProcess exited with code 0\nOutput:\n"
            output = {"call_id": call, "output": head + _output(step)}
            if step.sign == "$":
                arguments = json.dumps({"cmd": step.text})
                kind, made = "function_call", {"name": "exec_command", "arguments": arguments}
            else:
                kind, made = "custom_tool_call", {"name": "apply_patch", "input": _patch(step)}
            items = [
                {"type": kind, "call_id": call, **made},
                {"type": f"{kind}_output", **output},
            ]
        lines += [
            {"type": "response_item", "timestamp": _moment(story, number), "payload": item}
            for item in items
        ]
    return lines


def _tool(step: Step, folder: str) -> tuple[str, Line]:
    if step.sign == "$":
        return "Bash", {"command": step.text}
    tool, path = step.text.split()
    if tool == "Write":
        return tool, {"file_path": f"{folder}/{path}", "content": ""}
    return tool, {"file_path": f"{folder}/{path}", "old_string": "a", "new_string": "b"}


def _patch(step: Step) -> str:
    tool, path = step.text.split()
    action = "Add" if tool == "Write" else "Update"
    return f"*** Begin Patch\n*** {action} File: {path}\n@@\n-a\n+b\n*** End Patch"


def _output(step: Step) -> str:
    if step.sign == "@":
        return f"The file {step.text.split()[1]} has been updated successfully."
    return "\n".join(step.output)


def _folder(story: Story) -> str:
    return f"/srv/{story.project}"


def _moment(story: Story, number: int) -> str:
    at: datetime = story.started_at + timedelta(seconds=40 * number)
    return f"{at:%Y-%m-%dT%H:%M:%S}.000Z"
