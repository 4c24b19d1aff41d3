"""The progress and the result of a pass."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class RefreshResult:
    """`indexed`, `skipped`, `failed`, `total` and `unfinished` are numbers of files."""

    indexed: int = 0
    skipped: int = 0
    failed: int = 0
    total: int = 0
    messages: int = 0
    tool_calls: int = 0
    bytes: int = 0
    seconds: float = 0.0
    unfinished: int = 0
    """Changed files that a pass with a time limit did not finish."""
    warnings: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "unfinished"}


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of a pass is finished."""

    files: int
    all_files: int
    bytes: int
    all_bytes: int
    path: str
    """The file just finished."""
    outcome: str
    """`read` or `failed`, for the log."""


def ignore_progress(_: Progress) -> None:
    pass
