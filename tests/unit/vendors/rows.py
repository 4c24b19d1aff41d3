"""Builders of agents' files, and their rows as the index keeps them: later replace earlier ones."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from navi.memory.model import (
    PastMessage,
    PastOutput,
    PastSession,
    PastToolCall,
    PastTurn,
    PastUsage,
    SessionFile,
)
from navi.vendors.source import Source
from tests.paths import CORPUS

EXPECTED: dict[str, dict[str, Any]] = json.loads((CORPUS / "EXPECTED.json").read_text())


@dataclass
class Rows:
    by_idx: dict[int, PastMessage] = field(default_factory=dict)
    by_place: dict[tuple[int | None, int], PastToolCall] = field(default_factory=dict)
    by_key: dict[str, PastUsage] = field(default_factory=dict)
    outputs: list[PastOutput] = field(default_factory=list)
    turns: list[PastTurn] = field(default_factory=list)
    session: PastSession = field(default_factory=PastSession)
    mark: bytes = b""

    def read(self, source: Source, path: Path | str, mark: bytes | None = None) -> Rows:
        reading = source.read(SessionFile(str(path), 0, 0), mark)
        for chunk in reading:
            self.by_idx |= {message.idx: message for message in chunk.messages}
            self.by_place |= {(call.message_idx, call.idx): call for call in chunk.tool_calls}
            self.outputs += chunk.outputs
            self.turns += chunk.turns
            self.by_key |= {usage.key: usage for usage in chunk.usages}
        self.session = reading.session
        self.mark = reading.mark
        return self

    @property
    def messages(self) -> list[PastMessage]:
        ordered = [self.by_idx[idx] for idx in sorted(self.by_idx)]
        assert [message.idx for message in ordered] == list(range(len(ordered)))
        return ordered

    @property
    def tool_calls(self) -> list[PastToolCall]:
        return list(self.by_place.values())

    @property
    def contents(self) -> list[tuple[str, str | None]]:
        return [(message.role, message.content) for message in self.messages]

    def words(self, role: str) -> list[str]:
        return [m.content for m in self.messages if m.role == role and m.content]

    @property
    def thoughts(self) -> list[str]:
        return [message.thinking for message in self.messages if message.thinking]

    @property
    def tokens(self) -> tuple[int, int, int, int]:
        return total(self.by_key.values())


def total(usages: Iterable[PastUsage]) -> tuple[int, int, int, int]:
    """Input, output, cache read and cache write tokens."""
    input_tokens = output_tokens = read = written = 0
    for usage in usages:
        input_tokens += usage.input_tokens
        output_tokens += usage.output_tokens
        read += usage.cache_read_tokens
        written += usage.cache_creation_tokens
    return input_tokens, output_tokens, read, written


def rows_of(source: Source, path: Path | str, mark: bytes | None = None) -> Rows:
    return Rows().read(source, path, mark)


def written(path: Path, *lines: Any, end: str = "\n") -> Path:
    """Write a file of these lines: values as JSON like the agents', bytes unchanged."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for line in lines:
            text = line if isinstance(line, bytes) else compact(line)
            file.write(text + end.encode())
    return path


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
