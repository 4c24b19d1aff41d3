#!/usr/bin/env python3
"""A stand-in for Claude Code without a terminal, which asks before each of its calls.

The words of its prompt are its calls: each appends its word to the file `ran`, once a person allows
it. Before `0.3:word` it thinks for so many seconds. Each result says when it asked and when it read
the answer. Like the real one, it asks again if it is killed and told to go on with its turn. A word
that ends with `later` is put off: it ends, and asks when it is told to go on.
"""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from pathlib import Path
from typing import Any


def main() -> None:
    options = dict(each.partition("=")[::2] for each in sys.argv[1:])
    session_id = options.get("--resume") or options["--session-id"]
    transcript = Path.home() / ".claude" / "projects" / "stand-in" / f"{session_id}.jsonl"
    transcript.parent.mkdir(parents=True, exist_ok=True)
    if os.environ.get("CLAUDE_CODE_RESUME_INTERRUPTED_TURN"):
        prompt, *done = transcript.read_text().splitlines()
    else:
        prompt, done = json.loads(sys.stdin.readline())["message"]["content"], []
        transcript.write_text(prompt + "\n")
    say(type="system", subtype="init", session_id=session_id)
    deferred = transcript.with_suffix(".deferred")
    for word in prompt.split()[len(done) :]:
        call_id = deferred.read_text() if deferred.exists() else None
        if word.endswith("later") and call_id is None:
            put_off(word, deferred)
            return
        call(word, call_id)
        with transcript.open("a") as file:
            file.write(word + "\n")
        deferred.unlink(missing_ok=True)
    say(type="result", subtype="success", is_error=False, result="done")
    sys.stdin.read()  # ends when Navi ends it


def put_off(word: str, deferred: Path) -> None:
    call_id = announce(word)
    deferred.write_text(call_id)
    use = {"id": call_id, "name": "Append", "input": {"word": word}}
    ending = {"stop_reason": "tool_deferred", "deferred_tool_use": use}
    say(type="result", subtype="success", is_error=False, result="", **ending)
    sys.stdin.read()  # ends when Navi ends it


def announce(word: str) -> str:
    call_id = uuid.uuid4().hex
    use = {"type": "tool_use", "id": call_id, "name": "Append", "input": {"word": word}}
    say(type="assistant", message={"id": call_id, "content": [use]})
    return call_id


def call(word: str, call_id: str | None) -> None:
    """Ask and, if it is allowed, append; `call_id` is that of a call that was put off."""
    call_id, request_id = call_id or announce(word), uuid.uuid4().hex
    time.sleep(float(word.rpartition(":")[0] or 0))
    asked_at = time.time()
    request = {"subtype": "can_use_tool", "tool_name": "Append", "input": {"word": word}}
    say(
        type="control_request",
        request_id=request_id,
        request={**request, "tool_use_id": call_id},
    )
    decision = answer(request_id)
    answered_at = time.time()
    is_allowed = decision["behavior"] == "allow"
    if is_allowed:
        with Path("ran").open("a") as file:
            file.write(decision.get("updatedInput", {"word": word})["word"] + "\n")
    result = {"type": "tool_result", "tool_use_id": call_id, "is_error": not is_allowed}
    content = {**result, "content": decision.get("message", "appended")}
    say(type="user", message={"content": [content]}, asked_at=asked_at, answered_at=answered_at)


def answer(request_id: str) -> Any:
    for line in sys.stdin:
        response = json.loads(line)["response"]
        if response["request_id"] == request_id:
            return response["response"]
    raise SystemExit("the input ended while a question was open")


def say(**record: Any) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
