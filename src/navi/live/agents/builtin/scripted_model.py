"""A model that follows the script in its prompt: deterministic, and without a network.

    [[think: text]]               think aloud
    [[say: text]]                 answer, word by word
    [[sleep: seconds]]            pause
    [[tool: NAME | {"json": 1}]]  call a tool
    [[bash: command]]             call the `terminal` tool
    [[fail: message]]             end the turn with this error
    [[limit: seconds]]            end the turn at a usage limit that resets after this time
    [[loop]]                      call a harmless tool again and again, until the iteration limit

Steps are played in order; other text is ignored. A prompt without steps is answered
`ok: <prompt>`. Each tool call ends a response; the steps after it are the next response. The `say`
steps of one response are joined by a space. A response that would be empty says `done`.
A step that can't be understood, such as broken JSON, becomes a `say` that explains the error.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from navi.base.errors import AgentFailed, UsageLimit

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models.function import (
        AgentInfo,
        DeltaThinkingCalls,
        DeltaToolCalls,
        FunctionModel,
    )

NOTHING_TO_SAY = "done"
LONGEST_SLEEP_SECONDS = 86_400.0
LONGEST_LIMIT_SECONDS = 30 * 86_400.0
LIMIT_MESSAGE = "the script's usage limit is reached"
MOST_DELTAS_PER_TEXT = 500
"""With a delta for each word, a megabyte of text would be more events than clients can replay."""


@dataclass(frozen=True, slots=True)
class Think:
    text: str


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class Sleep:
    seconds: float


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fail:
    message: str


@dataclass(frozen=True, slots=True)
class Limit:
    seconds: float


@dataclass(frozen=True, slots=True)
class Loop:
    pass


Step = Think | Say | Sleep | Call | Fail | Limit | Loop

_BEGINNING = re.compile(r"\[\[\s*(think|say|sleep|tool|bash|fail|limit|loop)\s*(?::|(?=\]\]))")
_BRACKETS = re.compile(r"\[{2,}|\]{2,}")
_TOOL_NAME = re.compile(r"\s*([^\s|\]]+)\s*(\|)?\s*")
_CLOSING = re.compile(r"\s*\]\]")


def parse(message: str) -> list[Step]:
    """The steps in the message."""
    steps: list[Step] = []
    beginning = _BEGINNING.search(message)
    closings = _closings(message) if beginning else {}
    while beginning and (closing := closings.get(beginning.start())):
        word, text = beginning[1], message[beginning.end() : closing - 2].strip()
        position = closing
        if word == "tool":
            step, position = _tool_step(message, beginning.end(), text, closing)
        else:
            step = _plain_step(word, text)
        steps.append(step)
        beginning = _BEGINNING.search(message, position)
    return steps


def steps_of_response(steps: Sequence[Step], calls_made: int) -> list[Step]:
    """The steps of the response after `calls_made` tool calls, up to its own tool call."""
    earlier_calls = 0
    response: list[Step] = []
    for step in steps:
        if isinstance(step, Loop):
            return [*response, step] if earlier_calls == calls_made else [step]
        if not isinstance(step, Call):
            response.append(step)
        elif earlier_calls == calls_made:
            return [*response, step]
        else:
            earlier_calls += 1
            response = []
    return response


def deltas(text: str) -> list[str]:
    """The text in pieces of about a word."""
    words = re.findall(r"\S+\s*|\s+", text)
    size = math.ceil(len(words) / MOST_DELTAS_PER_TEXT) or 1
    return ["".join(words[start : start + size]) for start in range(0, len(words), size)]


def scripted_model() -> FunctionModel:
    from pydantic_ai.models.function import FunctionModel

    return FunctionModel(stream_function=_respond, model_name="scripted")


async def _respond(
    messages: list[ModelMessage], info: AgentInfo
) -> AsyncIterator[str | DeltaToolCalls | DeltaThinkingCalls]:
    from pydantic_ai.models.function import DeltaThinkingPart, DeltaToolCall

    prompt, calls_made = _last_prompt(messages)
    steps: Sequence[Step] = parse(prompt) or [Say(f"ok: {prompt}")]
    has_text = has_call = False
    for part, step in enumerate(steps_of_response(steps, calls_made)):
        if isinstance(step, Loop):
            step = _call_to_repeat([tool.name for tool in info.function_tools])
        match step:
            case Think(text):
                for delta in deltas(text):
                    yield {part: DeltaThinkingPart(content=delta)}
            case Say(text) if text:
                for delta in deltas(f" {text}" if has_text else text):
                    yield delta
                has_text = True
            case Sleep(seconds):
                await asyncio.sleep(seconds)
            case Call(tool, arguments):
                call_id = f"scripted_{os.urandom(8).hex()}"
                has_call = True
                yield {part: DeltaToolCall(tool, json.dumps(arguments), tool_call_id=call_id)}
            case Fail(reason):
                raise AgentFailed(reason)
            case Limit(seconds):
                raise UsageLimit(LIMIT_MESSAGE, resets_in=timedelta(seconds=seconds))
    if not has_text and not has_call:
        yield NOTHING_TO_SAY


def _last_prompt(messages: Sequence[ModelMessage]) -> tuple[str, int]:
    """The newest user prompt, and the number of tool calls since.

    A text that comes with a tool's result is a nudge, not a new script.
    """
    calls_made = 0
    for message in reversed(messages):
        kinds = {part.part_kind for part in message.parts}
        for part in reversed(message.parts):
            if part.part_kind == "tool-call":
                calls_made += 1
            elif part.part_kind == "user-prompt" and "tool-return" not in kinds:
                # The current time may come before it.
                content = part.content if isinstance(part.content, str) else part.content[-1]
                return str(content), calls_made
    return "", calls_made


def _call_to_repeat(tool_names: Sequence[str]) -> Step:
    if "filesystem" in tool_names:
        return Call("filesystem", {"action": "list", "path": "."})
    if "terminal" in tool_names:
        return Call("terminal", {"command": "true"})
    if tool_names:
        return Call(tool_names[0], {})
    return Say("there is no tool to call repeatedly")


def _plain_step(word: str, text: str) -> Step:
    match word:
        case "think":
            return Think(text)
        case "sleep" | "limit":
            return _timed_step(word, text)
        case "bash":
            return Call("terminal", {"command": text})
        case "fail":
            return Fail(text or "the script failed")
        case "loop":
            return Loop()
        case _:
            return Say(text)


def _timed_step(word: str, text: str) -> Step:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:
        return Say(f"[[{word}: {text}]] needs a number of seconds")
    if word == "limit":
        return Limit(min(seconds, LONGEST_LIMIT_SECONDS))
    return Sleep(min(seconds, LONGEST_SLEEP_SECONDS))


def _tool_step(message: str, start: int, text: str, end: int) -> tuple[Step, int]:
    """Parse a tool step as JSON, because its arguments may contain `]]`."""
    name = _TOOL_NAME.match(message, start)
    if name and not name[2] and (closing := _CLOSING.match(message, name.end())):
        return Call(name[1], {}), closing.end()
    if name and name[2]:
        try:
            arguments, end_of_json = json.JSONDecoder().raw_decode(message, name.end())
            json.dumps(arguments, allow_nan=False)
        except (ValueError, RecursionError):
            arguments, end_of_json = None, start
        closing = _CLOSING.match(message, end_of_json)
        if isinstance(arguments, dict) and closing:
            return Call(name[1], arguments), closing.end()
    return Say(f"[[tool: {text}]] must be a tool name, `|` and a JSON object"), end


def _closings(message: str) -> dict[int, int]:
    """Where the step that opens at each `[[` ends. Steps that never end are left out.

    Brackets nest, as in `[[bash: [[ -f x ]] && cat x]]`. An unbalanced `[[` ends at the first `]]`
    after it. Of more than two brackets in a row, the last two close the step: `[[say: list[0]]]`.
    """
    closings: dict[int, int] = {}
    open_at: list[int] = []
    unmatched: list[int] = []
    for run in _BRACKETS.finditer(message):
        pairs = len(run[0]) // 2
        if run[0][0] == "[":
            open_at.extend(run.end() - 2 * pair for pair in range(pairs, 0, -1))
            unmatched.extend(open_at[-pairs:])
            continue
        for opening in unmatched:
            closings[opening] = run.end()
        unmatched.clear()
        for pair in range(1, min(pairs, len(open_at)) + 1):
            is_last = pair == pairs or len(open_at) == 1
            closings[open_at.pop()] = run.end() if is_last else run.start() + 2 * pair
    return closings
