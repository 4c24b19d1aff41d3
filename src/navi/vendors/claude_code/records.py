"""The lines of Claude Code's transcripts and its output, with the fields that Navi reads.

`Line` has what the index needs, with the outputs of tools undecoded. `LiveLine` adds what a turn's
events need.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec

from navi.vendors.damaged_line import decode_damaged, replace_lone_surrogates

IGNORED = frozenset(
    (
        *("agent-color", "agent-name", "agent-setting", "api-request", "api-request-blob"),
        *("api-request-shape", "atis-latch", "attribution-snapshot", "content-replacement"),
        *("cost-state", "file-history-delta", "file-history-snapshot", "last-prompt", "mode"),
        *("permission-mode", "pr-link", "progress", "queue-operation", "tag", "tools-used"),
        "worktree-state",
    )
)
"""Kinds of lines to skip: Claude Code's own notes, and copies of other content."""
TYPE_FIRST = b'{"type":"'
LONGEST_TYPE = 60
IGNORED_AT_START = frozenset(TYPE_FIRST + kind.encode() + b'"' for kind in IGNORED)

ATTACHMENT = b'"attachment":{"type":"'
QUEUED = ATTACHMENT + b'queued_command"'
ATTACHMENT_WITHIN = 160
"""How far into a line to look for `ATTACHMENT`: no message's text begins that early."""
SYNTHETIC = "<synthetic>"
"""The `model` of messages that Claude Code, not a model, has written."""

Tokens = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Usage(msgspec.Struct, gc=False):
    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cache_read_input_tokens: Tokens | None = None
    cache_creation_input_tokens: Tokens | None = None


class Block(msgspec.Struct, gc=False):
    type: str = ""
    id: str | None = None
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"")
    # Of a tool's result.
    tool_use_id: msgspec.Raw = msgspec.Raw(b"")
    content: msgspec.Raw = msgspec.Raw(b"")
    is_error: msgspec.Raw = msgspec.Raw(b"")


class ResultPart(msgspec.Struct, gc=False):
    text: str | None = None


Content = str | list[Block | str] | None


class Message(msgspec.Struct, gc=False):
    id: str | None = None
    model: str | None = None
    content: Content = None
    usage: Usage | None = None


class Origin(msgspec.Struct, gc=False):
    kind: str | None = None


class Attachment(msgspec.Struct, gc=False):
    type: str = ""
    prompt: Content = None
    commandMode: str | None = None
    origin: Origin | None = None


class Fork(msgspec.Struct, gc=False):
    sessionId: str | None = None


class Line(msgspec.Struct, gc=False):
    type: str | None = None
    message: Message | None = None
    timestamp: datetime | None = None
    sessionId: str | None = None
    cwd: str | None = None
    gitBranch: str | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    attachment: Attachment | None = None
    summary: str | None = None
    customTitle: str | None = None
    aiTitle: str | None = None
    content: Content = None
    uuid: str | None = None
    forkedFrom: Fork | None = None
    isApiErrorMessage: bool | None = None
    # Only in the earliest description of the format.
    inputTokens: Tokens | None = None
    outputTokens: Tokens | None = None


class LiveBlock(Block, gc=False):
    input: Any = None
    tool_use_id: str | None = None  # type: ignore[assignment]
    content: Any = None
    is_error: Any = None


class LiveMessage(Message, gc=False):
    content: str | list[LiveBlock | str] | None = None  # type: ignore[assignment]


class Delta(msgspec.Struct, gc=False):
    type: str = ""
    text: str = ""
    thinking: str = ""


class PartialMessage(msgspec.Struct, gc=False):
    type: str = ""
    message: Message | None = None
    delta: Delta | None = None


class RateLimit(msgspec.Struct, gc=False):
    status: Any = None
    resetsAt: Any = None
    rateLimitType: Any = None
    utilization: Any = None
    unifiedWindows: Any = None


class Denial(msgspec.Struct, gc=False):
    tool_name: str = ""
    tool_use_id: str = ""
    tool_input: dict[str, Any] | None = None


class LiveLine(Line, gc=False):
    message: LiveMessage | None = None
    subtype: Any = None
    # Sub-agents' lines have one of these two.
    isSidechain: Any = None
    parent_tool_use_id: Any = None
    toolDenialKind: Any = None
    toolUseResult: msgspec.Raw = msgspec.Raw(b"")
    isApiErrorMessage: Any = None
    apiErrorStatus: Any = None
    quotaLimits: RateLimit | None = None
    # Only in the output.
    session_id: str | None = None
    status: Any = None
    state: Any = None
    task_id: str | None = None
    event: PartialMessage | None = None
    rate_limit_info: RateLimit | None = None
    is_error: Any = None
    stop_reason: Any = None
    terminal_reason: Any = None
    """Why the turn ended; missing in older versions."""
    api_error_status: Any = None
    result: Any = None
    errors: Any = None
    permission_denials: list[Denial] | None = None
    usage: Usage | None = None


class ShellInput(msgspec.Struct, gc=False):
    command: str | None = None


EXPENDABLE = frozenset(
    (
        *("timestamp", "cwd", "gitBranch", "isMeta", "isCompactSummary", "usage", "origin"),
        *("uuid", "id", "forkedFrom", "inputTokens", "outputTokens"),
        "isApiErrorMessage",
    )
)
"""Fields to drop from a line that can't be decoded with them."""
SHELL_TOOLS = frozenset(("Bash",))
line_decoder = msgspec.json.Decoder(Line)
live_line_decoder = msgspec.json.Decoder(LiveLine)
_shell_input_decoder = msgspec.json.Decoder(ShellInput)
_id_decoder = msgspec.json.Decoder(str)
_output_decoder = msgspec.json.Decoder(str | list[ResultPart | str])


def is_ignored(text: bytes) -> bool:
    """Whether a line's first bytes show that it has nothing to read."""
    if text.startswith(TYPE_FIRST):
        return text[: text.find(b'"', len(TYPE_FIRST), LONGEST_TYPE) + 1] in IGNORED_AT_START
    at = text.find(ATTACHMENT, 0, ATTACHMENT_WITHIN)
    return at >= 0 and not text.startswith(QUEUED, at)


def decode_line(text: bytes) -> Line | None:
    try:
        return line_decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return decode_damaged(text, line_decoder, EXPENDABLE)


def decode_live_line(text: bytes) -> LiveLine | None:
    """None if the text is not a record: Claude Code prints warnings as well."""
    try:
        return live_line_decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return decode_damaged(text, live_line_decoder, EXPENDABLE)


def tool_input(block: Block) -> tuple[str | None, str | None]:
    """A tool's input as JSON, and the shell command in it, if any."""
    if not block.input:
        return None, None
    text = str(block.input, "utf-8", "replace")
    if "\\ud" in text or "\\uD" in text:
        text = replace_lone_surrogates(text)
    if block.name not in SHELL_TOOLS:
        return text, None
    try:
        return text, _shell_input_decoder.decode(text).command
    except (msgspec.DecodeError, RecursionError):
        return text, None


def answered_call(block: Block) -> str | None:
    """The id of the call whose result this block holds; None for any other block."""
    if not block.tool_use_id:
        return None
    try:
        return _id_decoder.decode(block.tool_use_id)
    except msgspec.DecodeError:
        return None


def output_text(block: Block) -> str:
    """The text of a tool's result; empty if it has none, such as a picture."""
    if not block.content:
        return ""
    try:
        output = _output_decoder.decode(block.content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        text = replace_lone_surrogates(str(block.content, "utf-8", "replace"))
        try:
            output = _output_decoder.decode(text)
        except (msgspec.DecodeError, RecursionError):
            return ""
    if isinstance(output, str):
        return output
    texts = [part if isinstance(part, str) else part.text for part in output]
    return "\n".join(text for text in texts if text)


def collect(content: Content, texts: list[str], thoughts: list[str]) -> bool:
    """Add texts and thoughts that are not in the lists yet. Returns False if there are none."""
    before = len(texts) + len(thoughts)
    if isinstance(content, str):
        if content and content not in texts:
            texts.append(content)
    elif content is not None:
        for block in content:
            if isinstance(block, str):
                if block not in texts:
                    texts.append(block)
            elif block.type == "text":
                if block.text and block.text not in texts:
                    texts.append(block.text)
            elif block.thinking and block.thinking not in thoughts:
                thoughts.append(block.thinking)
    return len(texts) + len(thoughts) > before


def texts_of(content: str | Sequence[Block | str] | None) -> list[str]:
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    texts = [
        block if isinstance(block, str) else block.text if block.type == "text" else None
        for block in content
    ]
    return [text for text in texts if text]
