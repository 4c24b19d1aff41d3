"""What the generated files contain, counted while writing them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

PHRASES = 400
"""How many phrases from the texts to keep for searches."""


@dataclass(slots=True)
class Tokens:
    """Counted as in the index: input without cached tokens."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_creation: int = 0

    def add(self, other: Tokens) -> None:
        self.input += other.input
        self.output += other.output
        self.cache_read += other.cache_read
        self.cache_creation += other.cache_creation


@dataclass(slots=True)
class Truth:
    files: int = 0
    bytes: int = 0
    lines: int = 0
    torn_lines: int = 0
    """In the middle of a file. A partial last line doesn't count: it may still be completed."""
    prompts: int = 0
    messages: int = 0
    """As in `recall show`: prompts, and answers with all their blocks."""
    thoughts: int = 0
    tool_calls: int = 0
    commands: int = 0
    tool_results: int = 0
    claude: Tokens = field(default_factory=Tokens)
    codex: Tokens = field(default_factory=Tokens)
    phrases: list[str] = field(default_factory=list)

    @property
    def passages(self) -> int:
        """Searchable texts. An answer may have no text and only call a tool."""
        return self.texts + self.thoughts + self.commands

    texts: int = 0

    def add(self, other: Truth) -> None:
        for each in fields(Truth):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            if isinstance(mine, Tokens):
                mine.add(theirs)
            elif isinstance(mine, list):
                mine += theirs
            else:
                setattr(self, each.name, mine + theirs)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))


def read_truth(path: Path) -> Truth:
    values: dict[str, Any] = json.loads(path.read_text())
    values["claude"] = Tokens(**values["claude"])
    values["codex"] = Tokens(**values["codex"])
    return Truth(**values)
