"""What the stand-in for the models plays: the script inside the last prompt.

A prompt without any script is answered `ok: <prompt>`. Directives:

    [[say: text]]  [[think: text]]       text, reasoning
    [[bash: command]]                    run a command
    [[tool: NAME | {"json": 1}]]         call an offered tool that is, or ends with, NAME
    [[&tool: NAME | {"json": 1}]]        in the same response as the call before it
    [[wait: gate]]                       pause until the test opens the gate
    [[error: 400]]                       an HTTP error
    [[error: 429 | {"headers": {}}]]     with headers, or with a "body" of its own
    [[limited]]                          the error that the test has set, as long as it is set

No conversation is kept here: the number of tool calls since the prompt is the place in its script.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

DIRECTIVE = re.compile(r"\[\[(&?\w+)(?::\s?(.*?))?\]\]", re.DOTALL)
TOOLS = {"bash", "tool"}


@dataclass(frozen=True)
class Step:
    verb: str
    argument: str
    is_parallel: bool = False

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


def response(
    prompt: str, calls_made: int, otherwise: str = "", limit: str | None = None
) -> list[Step]:
    """The steps of the next response, up to and including the next tool call.

    `limit` is the argument of an `error` step: what `limited` stands for, if anything.
    """
    directives = DIRECTIVE.findall(prompt) or DIRECTIVE.findall(otherwise)
    script = [
        Step(verb.removeprefix("&"), argument, verb.startswith("&"))
        for verb, argument in directives
    ]
    if not script:
        return [Step("say", "ok: " + " ".join(prompt.split())[:80])]
    steps: list[Step] = []
    seen = 0
    for position, step in enumerate(script, 1):
        if step.verb in TOOLS:
            seen += 1
            if seen > calls_made:
                return [*steps, step, *takewhile(lambda each: each.is_parallel, script[position:])]
        elif seen == calls_made:
            if step.verb == "error":
                raise ScriptedError(step.argument)
            if step.verb == "limited" and limit is not None:
                raise ScriptedError(limit)
            if step.verb != "limited":
                steps.append(step)
    return steps if any(step.verb != "wait" for step in steps) else [*steps, Step("say", "done")]


def offered(names: Iterable[str], wanted: str) -> str | None:
    return next((name for name in names if name == wanted or name.endswith(wanted)), None)
