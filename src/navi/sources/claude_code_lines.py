"""The lines of Claude Code's transcripts, as far as anything is read from them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from navi.sources.damage import mended, without_half_characters

Tokens = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Usage(msgspec.Struct, gc=False):
    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cache_read_input_tokens: Tokens | None = None
    cache_creation_input_tokens: Tokens | None = None


class Block(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"")


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
    # Where the first description of the format has them.
    inputTokens: Tokens | None = None
    outputTokens: Tokens | None = None


class ShellInput(msgspec.Struct, gc=False):
    command: str | None = None


DOUBTFUL = frozenset(
    (
        *("timestamp", "cwd", "gitBranch", "isMeta", "isCompactSummary", "usage", "origin"),
        *("uuid", "forkedFrom", "inputTokens", "outputTokens"),
    )
)
SHELL_TOOLS = frozenset(("Bash",))
lines = msgspec.json.Decoder(Line)
_shell_input = msgspec.json.Decoder(ShellInput)


def decoded(text: bytes) -> Line | None:
    try:
        return lines.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return mended(text, lines, DOUBTFUL)


def given_to_tool(block: Block) -> tuple[str | None, str | None]:
    """A tool's input as JSON, and the shell command in it."""
    if not block.input:
        return None, None
    given = str(block.input, "utf-8", "replace")
    if "\\ud" in given or "\\uD" in given:
        given = without_half_characters(given)
    if block.name not in SHELL_TOOLS:
        return given, None
    try:
        return given, _shell_input.decode(given).command
    except (msgspec.DecodeError, RecursionError):
        return given, None


def collect(content: Content, said: list[str], thought: list[str]) -> bool:
    """Add what an answer's line says and thinks; whether it did either."""
    before = len(said) + len(thought)
    if isinstance(content, str):
        if content:
            said.append(content)
    elif content is not None:
        for block in content:
            if isinstance(block, str):
                said.append(block)
            elif block.type == "text":
                if block.text:
                    said.append(block.text)
            elif block.thinking:
                thought.append(block.thinking)
    return len(said) + len(thought) > before


def texts_of(content: Content) -> list[str]:
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    texts = [
        block if isinstance(block, str) else block.text if block.type == "text" else None
        for block in content
    ]
    return [text for text in texts if text]
