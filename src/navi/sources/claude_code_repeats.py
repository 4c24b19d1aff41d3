"""Lines of Claude Code's transcripts that say again what earlier ones said.

Some versions write a session's whole history once more when it is taken up again, with new uuids
but the same times, `message.id`s and tool ids; others write single lines twice. What earlier lines
said is kept as a number each, and only while a file is being read: a mark holds none of them. If a
reading that began at a mark meets a line that may be a copy, it reads the earlier lines again.
"""

from __future__ import annotations

from datetime import datetime
from zlib import crc32

from navi.sources.claude_code_lines import (
    CLIENT_ITSELF,
    Block,
    Content,
    Line,
    decoded,
    is_ignored,
    texts_of,
)


class Repeats:
    def __init__(self, path: str) -> None:
        self._path = path
        self._keys: set[int] | None = set()

    def begin_later(self) -> None:
        """The reading goes on from a mark: what stands before it is not known yet."""
        self._keys = None

    def add(self, keys: list[int]) -> None:
        if self._keys is not None:
            self._keys.update(keys)

    def keys_before(self, offset: int) -> set[int]:
        """Of everything that the lines before `offset` say."""
        if self._keys is None:
            self._keys = _keys_in(self._path, offset)
        return self._keys


def is_newer(timestamp: datetime | None, newest: datetime | None) -> bool:
    if timestamp is None:
        return False
    if newest is None:
        return True
    if (timestamp.tzinfo is None) != (newest.tzinfo is None):
        return False
    return timestamp > newest


def text_keys(line: Line, texts: list[str]) -> list[int]:
    """The same words under the same uuid or of the same moment: any of them is enough."""
    words = tuple(texts)
    return [hash((name, words)) for name in (line.uuid, line.timestamp) if name is not None]


def answer_keys(id: str | None, content: Content) -> list[int]:
    """One for each block: only if all are known is the line a copy."""
    if id is None or content is None:
        return []
    if isinstance(content, str):
        return [hash((id, content))]
    if len(content) == 1 and isinstance(block := content[0], Block) and block.text:
        return [hash((id, block.text))]
    return [
        hash((id, block)) if isinstance(block, str) else hash((id, _block_content(block)))
        for block in content
    ]


def call_key(block: Block) -> int:
    """The same in every process: it is part of a mark."""
    if block.id is None:
        return crc32(block.input)
    return crc32(f"{block.id} {len(block.input)}".encode("utf-8", "replace"))


def _block_content(block: Block) -> object:
    if block.name is not None:
        return block.id, block.name, len(block.input) if block.id else bytes(block.input)
    return block.text or block.thinking or block.type


def _keys_in(path: str, end: int) -> set[int]:
    keys: set[int] = set()
    offset = 0
    with open(path, "rb") as file:
        for text in file:
            offset += len(text)
            if offset > end:
                break
            if not is_ignored(text) and (line := decoded(text)) is not None:
                keys.update(_keys_of(line))
    return keys


def _keys_of(line: Line) -> list[int]:
    message = line.message
    if line.type == "system":
        texts = texts_of(line.content)
    elif line.attachment is not None and line.attachment.type == "queued_command":
        texts = texts_of(line.attachment.prompt)
    elif message is None:
        return []
    elif line.type == "assistant" and message.model != CLIENT_ITSELF:
        return answer_keys(message.id or line.uuid, message.content)
    else:
        texts = texts_of(message.content)
    return text_keys(line, texts) if texts else []
