"""Recognises lines of Claude Code's transcripts that repeat earlier ones.

When a session is resumed, some versions write its whole history again, with new uuids but the same
times, `message.id`s and tool ids; others write single lines twice. Lines are written in order of
time, so only a line that is not newer than all before it can be a repeat. If it has the newest
time, it is compared with the other lines of that time; if it is older, with the whole file up to
it, which is then read again. So neither memory nor the mark has to hold all earlier lines.
"""

from __future__ import annotations

from datetime import datetime
from zlib import crc32

from navi.vendors.claude_code.records import (
    SYNTHETIC,
    Block,
    Content,
    Line,
    decode_line,
    is_ignored,
    texts_of,
)


class Repeats:
    """Remembers as much of one file's lines as it takes to recognise repeats."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._latest: list[Line] | None = []
        """The lines with the newest time whose keys are not in `_latest_keys` yet. None after a
        start at a mark, because such lines may be before it."""
        self._latest_keys: set[int] = set()
        """Keys of the other lines with the newest time."""
        self._keys: set[int] | None = None
        """Keys of all earlier lines; None until they are needed."""

    def start_at_mark(self) -> None:
        """Start at a mark: the lines before it have not been read."""
        self._latest = None

    def add_newest(self, line: Line) -> None:
        """Add a line that is newer than all before it."""
        self._latest = [line]
        if self._latest_keys:
            self._latest_keys = set()
        if self._keys is not None:
            self._keys.update(_keys_of(line))

    def add(self, line: Line, newest_at: datetime | None) -> None:
        """Add a line that is not newer than all before it."""
        if self._latest is not None and line.timestamp == newest_at:
            self._latest.append(line)
        if self._keys is not None:
            self._keys.update(_keys_of(line))

    def check_and_add(self, line: Line, newest_at: datetime | None, offset: int) -> bool:
        """Add a line that begins at `offset`. True if it repeats lines before it."""
        keys = _keys_of(line)
        if not keys:
            return False
        if line.timestamp is not None and line.timestamp == newest_at:
            if self._latest is None:
                self._read_earlier_lines(offset, newest_at)
            earlier = self._latest_keys
            earlier.update(key for other in self._latest or () for key in _keys_of(other))
            self._latest = []
        else:
            if self._keys is None:
                self._read_earlier_lines(offset, newest_at)
            earlier = self._keys or set()
        is_repeat = (all if _is_answer(line) else any)(key in earlier for key in keys)
        self.add(line, newest_at)
        return is_repeat

    def _read_earlier_lines(self, end: int, newest_at: datetime | None) -> None:
        self._keys, self._latest, self._latest_keys = set(), [], set()
        offset = 0
        with open(self._path, "rb") as file:
            for text in file:
                offset += len(text)
                if offset > end:
                    break
                if is_ignored(text) or (line := decode_line(text)) is None:
                    continue
                keys = _keys_of(line)
                self._keys.update(keys)
                if line.timestamp == newest_at:
                    self._latest_keys.update(keys)


def call_key(block: Block) -> int:
    """Identifies a tool call. The same in every process, because it is stored in marks."""
    if block.id is None:
        return crc32(block.input)
    return crc32(f"{block.id} {len(block.input)}".encode("utf-8", "replace"))


def _is_answer(line: Line) -> bool:
    message = line.message
    return line.type == "assistant" and message is not None and message.model != SYNTHETIC


def _keys_of(line: Line) -> list[int]:
    """The keys that identify a line.

    An answer has a key for each block, and is a repeat if all its keys have occurred before. Any
    other line is a repeat if one of its keys has.
    """
    message = line.message
    if line.type == "system":
        texts = texts_of(line.content)
    elif line.attachment is not None and line.attachment.type == "queued_command":
        texts = texts_of(line.attachment.prompt)
    elif message is None:
        return []
    elif _is_answer(line):
        return _answer_keys(message.id or line.uuid, message.content)
    else:
        texts = texts_of(message.content)
    if not texts:
        return []
    # The same text with the same uuid or the same time.
    text = tuple(texts)
    return [hash((origin, text)) for origin in (line.uuid, line.timestamp) if origin is not None]


def _answer_keys(id: str | None, content: Content) -> list[int]:
    if id is None or content is None:
        return []
    if isinstance(content, str):
        return [hash((id, content))]
    return [
        hash((id, block if isinstance(block, str) else _content_of(block))) for block in content
    ]


def _content_of(block: Block) -> object:
    if block.name is not None:
        return block.id, block.name, bytes(block.input)
    return block.text or block.thinking or block.type
