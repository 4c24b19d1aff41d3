"""What the stand-in for the models plays: the script inside the last prompt.

A prompt without any script is answered `ok: <prompt>`. Directives:

    [[say: text]]  [[think: text]]       text, reasoning
    [[bash: command]]                    run a command
    [[tool: NAME | {"json": 1}]]         call an offered tool that is, or ends with, NAME
    [[wait: gate]]                       pause until the test opens the gate
    [[error: 400]]                       an HTTP error
    [[error: 429 | {"headers": {}}]]     with headers, or with a "body" of its own

No conversation is kept here: the number of tool calls since the prompt is the place in its script.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

DIRECTIVE = re.compile(r"\[\[(\w+)(?::\s?(.*?))?\]\]", re.DOTALL)
TOOLS = {"bash", "tool"}


@dataclass(frozen=True)
class Step:
    verb: str
    argument: str

    def call(self) -> tuple[str, dict[str, object]]:
        """The name and arguments of a `tool` step."""
        name, _, arguments = self.argument.partition(" | ")
        return name.strip(), json.loads(arguments or "{}")


ERROR_TYPES = {429: "rate_limit_error", 529: "overloaded_error"}


class ScriptedError(Exception):
    def __init__(self, argument: str) -> None:
        status, _, details = argument.partition(" | ")
        super().__init__(f"scripted error {status}")
        self.status = int(status)
        self.headers: dict[str, str] = {}
        kind = ERROR_TYPES.get(self.status, "invalid_request_error")
        self.body: object = {"type": "error", "error": {"type": kind, "message": str(self)}}
        vars(self).update(json.loads(details or "{}"))


def response(prompt: str, calls_made: int, otherwise: str = "") -> list[Step]:
    """The steps of the next response, up to and including the next tool call."""
    directives = DIRECTIVE.findall(prompt) or DIRECTIVE.findall(otherwise)
    script = [Step(verb, argument) for verb, argument in directives]
    if not script:
        return [Step("say", "ok: " + " ".join(prompt.split())[:80])]
    steps: list[Step] = []
    seen = 0
    for step in script:
        if step.verb in TOOLS:
            seen += 1
            if seen > calls_made:
                return [*steps, step]
        elif seen == calls_made:
            if step.verb == "error":
                raise ScriptedError(step.argument)
            steps.append(step)
    return steps if any(step.verb != "wait" for step in steps) else [*steps, Step("say", "done")]


def offered(names: Iterable[str], wanted: str) -> str | None:
    return next((name for name in names if name == wanted or name.endswith(wanted)), None)
