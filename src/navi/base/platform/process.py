"""A running process, as both systems describe it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    started: str
    """In the system's own format. Distinguishes the process from a later one with the same id."""
    parent: int = field(compare=False)
    group: int = field(compare=False)
    name: str = field(compare=False)
