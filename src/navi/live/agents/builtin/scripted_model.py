"""A model that follows the script in its prompt: deterministic, and without a network.

    [[think: text]]               think aloud
    [[say: text]]                 answer, word by word
    [[sleep: seconds]]            pause
    [[tool: NAME | {"json": 1}]]  call a tool
    [[bash: command]]             call the `terminal` tool
    [[ask: question | A | B]]     ask a person; the answer continues the script
    [[need: NAME | {"json": 1}]]  call a tool if a person allows it
    [[fail: message]]             end the turn with this error
    [[limit: seconds]]            end the turn at a usage limit that resets after this time
    [[loop]]                      call a harmless tool again and again, until the iteration limit

Steps are played in order; other text is ignored. A prompt without steps is answered
`ok: <prompt>`. Each tool call ends a response; the steps after it belong to the next one. The `say`
steps of one response are joined by a space. An empty response becomes `done`. A step that can't be
parsed, for instance because of broken JSON, becomes a `say` that explains the error.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from navi.base.errors import AgentFailed, UsageLimit
from navi.live.agents.builtin.tool_adapter import NEEDS_PERMISSION
from navi.live.model.question import ANSWER_PREFIX

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
MAX_DELTAS_PER_TEXT = 500
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
    needs_permission: bool = False


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

_WORDS = "think|say|sleep|tool|need|bash|ask|fail|limit|loop"
_BEGINNING = re.compile(rf"\[\[\s*({_WORDS})\s*(?::|(?=\]\]))")
_ASK = re.compile(r"\[\[\s*ask\s*:")
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
        if word in ("tool", "need"):
            step, position = _tool_step(message, beginning.end(), text, closing)
            if word == "need" and isinstance(step, Call):
                step = replace(step, needs_permission=True)
        else:
            step = _plain_step(word, text)
        steps.append(step)
        beginning = _BEGINNING.search(message, position)
    return steps


def steps_of_response(steps: Sequence[Step], calls_made: int) -> list[Step]:
    """The steps of the response after `calls_made` tool calls. If one is a call, it is the last."""
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
    """The text in pieces: single words or, if it is long, several words."""
    words = re.findall(r"\S+\s*|\s+", text)
    size = math.ceil(len(words) / MAX_DELTAS_PER_TEXT) or 1
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
    for index, step in enumerate(steps_of_response(steps, calls_made)):
        if isinstance(step, Loop):
            step = _call_to_repeat([tool.name for tool in info.function_tools])
        match step:
            case Think(text):
                for delta in deltas(text):
                    yield {index: DeltaThinkingPart(content=delta)}
            case Say(text) if text:
                for delta in deltas(f" {text}" if has_text else text):
                    yield delta
                has_text = True
            case Sleep(seconds):
                await asyncio.sleep(seconds)
            case Call(tool, arguments, needs_permission):
                prefix = NEEDS_PERMISSION if needs_permission else "scripted_"
                call_id = f"{prefix}{os.urandom(8).hex()}"
                has_call = True
                yield {index: DeltaToolCall(tool, json.dumps(arguments), tool_call_id=call_id)}
            case Fail(reason):
                raise AgentFailed(reason)
            case Limit(seconds):
                raise UsageLimit(LIMIT_MESSAGE, resets_in=timedelta(seconds=seconds))
    if not has_text and not has_call:
        yield NOTHING_TO_SAY


def _last_prompt(messages: Sequence[ModelMessage]) -> tuple[str, int]:
    """The newest user prompt, and the number of tool calls since.

    A text that comes with a tool's result is a nudge, not a new script. An answer continues the
    script that asked.
    """
    calls_made = 0
    is_answer = False
    for message in reversed(messages):
        kinds = {part.part_kind for part in message.parts}
        for part in reversed(message.parts):
            if part.part_kind == "tool-call":
                calls_made += 1
            elif part.part_kind == "user-prompt" and "tool-return" not in kinds:
                # The driver may put the current time before the prompt.
                content = part.content if isinstance(part.content, str) else part.content[-1]
                text = str(content)
                is_answer = is_answer or text.startswith(ANSWER_PREFIX)
                if not is_answer or _ASK.search(text):
                    return text, calls_made
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
        case "ask":
            question, *options = (part.strip() for part in text.split("|"))
            return Call("ask_person", {"question": question, "options": options})
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
    """The tool step at `start`, and where it ends: after its JSON, which may contain `]]`."""
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
    return Say(f"[[tool: {text}]] must be a tool name, optionally with `|` and a JSON object"), end


def _closings(message: str) -> dict[int, int]:
    """Maps the position of each `[[` to the end of its step. Steps that never end are left out.

    Brackets nest, as in `[[bash: [[ -f x ]] && cat x]]`. An unbalanced `[[` ends at the first `]]`
    after it. If a step ends with more than two brackets, the last two close it: `[[say: list[0]]]`.
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
