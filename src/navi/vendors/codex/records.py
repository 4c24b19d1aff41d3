"""The lines of Codex's rollouts, with the fields that Navi reads.

An item is a message, a thought, a tool call or a call's output. There are three formats: bare items
(until 0.29), items in an envelope with a time (since 0.34), and the same with numbered lines and a
record of each answer's tokens (since 0.148). One structure fits them all, so a file may mix them.

`Line` has what the index needs, with the outputs of tools undecoded. `LiveLine` adds what a turn's
events need.
"""

from __future__ import annotations

import re
import shlex
from datetime import datetime
from typing import Annotated, Any

import msgspec

from navi.memory.model import PastToolCall
from navi.vendors.damaged_line import decode_damaged

Tokens = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Part(msgspec.Struct, gc=False):
    """A piece of a message's content or of a reasoning's summary."""

    type: str = ""
    text: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"")


class TokenCounts(msgspec.Struct, gc=False):
    input_tokens: Tokens = 0
    cached_input_tokens: Tokens = 0
    cache_write_input_tokens: Tokens = 0
    output_tokens: Tokens = 0


class TokenInfo(msgspec.Struct, gc=False):
    total_token_usage: TokenCounts | None = None
    last_token_usage: TokenCounts | None = None


class Git(msgspec.Struct, gc=False):
    branch: str | None = None


class Failure(msgspec.Struct, gc=False):
    message: str | None = None


class Payload(msgspec.Struct, gc=False):
    type: str | None = None
    id: str | None = None
    role: str | None = None
    content: str | list[Part | str] | None = None
    summary: str | list[Part | str] | None = None
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"")
    parameters: msgspec.Raw = msgspec.Raw(b"")
    input: msgspec.Raw = msgspec.Raw(b"")
    action: msgspec.Raw = msgspec.Raw(b"")
    source: msgspec.Raw = msgspec.Raw(b"")
    timestamp: datetime | None = None
    cwd: str | None = None
    model: str | None = None
    git: Git | None = None
    session_id: str | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    turn_id: str | None = None
    info: TokenInfo | None = None
    usage: TokenCounts | None = None
    response_id: str | None = None
    message: str | None = None
    text: str | None = None
    author: str | None = None
    recipient: str | None = None
    thread_name: str | None = None
    error: Failure | None = None
    call_id: str | None = None
    output: msgspec.Raw = msgspec.Raw(b"")
    """A tool's result."""


class Line(msgspec.Struct, gc=False):
    type: str | None = None
    timestamp: datetime | None = None
    payload: Payload | None = None


class LiveFailure(Failure, gc=False):
    codex_error_info: Any = None


class LivePayload(Payload, gc=False):
    arguments: Any = None
    input: Any = None
    output: Any = None
    rate_limits: Any = None
    error: LiveFailure | None = None


class LiveLine(Line, gc=False):
    payload: LivePayload | None = None


class OutputMetadata(msgspec.Struct, gc=False):
    exit_code: Any = None


class WrappedOutput(msgspec.Struct, gc=False):
    output: str
    metadata: OutputMetadata | None = None


class ShellArguments(msgspec.Struct, gc=False):
    cmd: str | list[str] | None = None
    command: str | list[str] | None = None


EXPENDABLE = frozenset(
    (
        *("timestamp", "cwd", "model", "git", "info", "usage", "turn_id", "error", "summary"),
        *("author", "recipient", "call_id"),
    )
)
"""Fields to drop from a line that can't be decoded with them."""
line_decoder = msgspec.json.Decoder(Line)
live_line_decoder = msgspec.json.Decoder(LiveLine)
bare_item_decoder = msgspec.json.Decoder(Payload)
_shell_arguments_decoder = msgspec.json.Decoder(ShellArguments)
_wrapped_output_decoder = msgspec.json.Decoder(WrappedOutput)
_json_decoder = msgspec.json.Decoder(msgspec.Raw)
_string_decoder = msgspec.json.Decoder(str)
_output_decoder = msgspec.json.Decoder(str | list[Part | str])

BOILERPLATE = (
    *("<environment_context>", "<user_instructions>", "# AGENTS.md instructions"),
    *("<permissions instructions>", "<skills_instructions>", "<apps_instructions>"),
    *("<plugins_instructions>", "<collaboration_mode>", "<INSTRUCTIONS>", "<personality_spec>"),
)
"""Beginnings of texts that Codex puts before every conversation."""
ABORTED = "turn_aborted"
TURN_BEGINNINGS, TURN_ENDS = {"task_started"}, {"task_complete", ABORTED}
"""The events at which a turn begins and ends."""
CALLS = {"function_call", "custom_tool_call"}
CALL_OUTPUTS = {"function_call_output", "custom_tool_call_output"}
CONFIRMATIONS = ("Success. Updated the following files:", "Plan updated")
"""Beginnings of outputs that only repeat the call."""
SHELL_TOOLS = frozenset(
    ("exec_command", "shell", "shell_command", "container.exec", "local_shell_call")
)

_IN_ONE_TAG = re.compile(r"<([A-Za-z_-]+)[^<>\n]*>.*</\1>\s*", re.DOTALL)
_SHELL_NAME = re.compile(r"(?:.*/)?(?:ba|z|da|k)?sh")
_SHELL_CALL = re.compile(r"\s*(?:\S*/)?(?:ba|z|da|k)?sh\s+-l?c\s")
_OUTPUT_HEAD = re.compile(r"(?:[A-Z][a-z]+(?: [A-Za-z]+)*(?::| with code) [^\n]*\n){1,6}Output:\n")
"""The lines that Codex writes above a command's output, such as its duration and exit code."""
_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)
_CWD = re.compile(r"<cwd>([^<]+)</cwd>")


def decode_live_line(text: bytes) -> LiveLine | None:
    """None if the text is not a line of a rollout."""
    try:
        return live_line_decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return decode_damaged(text, live_line_decoder, EXPENDABLE)


def event_in(text: bytes) -> tuple[str | None, float]:
    """The kind of the event in a line, and when it was written; None and 0 for other lines."""
    line = decode_live_line(text) if b'"event_msg"' in text else None
    if line is None or line.payload is None or line.timestamp is None:
        return None, 0.0
    return line.payload.type, line.timestamp.timestamp()


def is_injected(text: str) -> bool:
    """Whether the text is all inside one tag, like texts that Codex writes in the user's name."""
    return text.startswith("<") and _IN_ONE_TAG.fullmatch(text) is not None


def folder_in(text: str) -> str | None:
    match = _CWD.search(text)
    return match[1] if match else None


def texts_of(content: str | list[Part | str] | None) -> list[str]:
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    texts = [part if isinstance(part, str) else part.text for part in content]
    return [text for text in texts if text]


def past_call(
    message_idx: int | None, idx: int, name: str, raw: msgspec.Raw, timestamp: datetime | None
) -> PastToolCall:
    input = tool_input(raw)
    command = command_in(input) if name in SHELL_TOOLS else None
    return PastToolCall(message_idx, idx, name, input, command, timestamp)


def tool_input(raw: msgspec.Raw) -> str | None:
    """A tool's input as JSON. Codex writes arguments as JSON in a string, a patch as plain text."""
    if not raw:
        return None
    data = bytes(raw)
    if not data.startswith(b'"'):
        return data.decode("utf-8", "replace")
    text = _string_decoder.decode(data)
    try:
        _json_decoder.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return data.decode("utf-8", "replace")
    return text


def output_text(raw: msgspec.Raw) -> tuple[str, bool | None]:
    """A tool's output, and whether the tool failed; None if Codex doesn't record that.

    The output excludes the lines that Codex adds. It is empty if it only repeats the call.
    """
    exit_code = None
    try:
        text = _output_decoder.decode(raw)
        if isinstance(text, list):
            text = "\n".join(texts_of(text))
        elif text.startswith('{"output":'):
            wrapped = _wrapped_output_decoder.decode(text)
            text = wrapped.output
            exit_code = None if wrapped.metadata is None else wrapped.metadata.exit_code
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "", None
    if head := _OUTPUT_HEAD.match(text):
        if code := _EXIT_CODE.search(head[0]):
            exit_code = int(code[1])
        text = text[head.end() :]
    is_error = None if exit_code is None else exit_code != 0
    return "" if text.startswith(CONFIRMATIONS) else text, is_error


def command_in(input: str | None) -> str | None:
    """The shell command in a tool's input, without a `sh -c` around it."""
    if input is None:
        return None
    try:
        arguments = _shell_arguments_decoder.decode(input)
    except (msgspec.DecodeError, RecursionError):
        return None
    command = arguments.cmd if arguments.cmd is not None else arguments.command
    if isinstance(command, list):
        return _without_shell(command) or shlex.join(command)
    if command is not None and _SHELL_CALL.match(command):
        try:
            return _without_shell(shlex.split(command)) or command
        except ValueError:
            return command
    return command


def _without_shell(words: list[str]) -> str | None:
    if len(words) == 3 and words[1] in ("-c", "-lc") and _SHELL_NAME.fullmatch(words[0]):
        return words[2]
    return None
