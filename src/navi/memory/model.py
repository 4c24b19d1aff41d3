"""The values a source yields: sessions, messages, tool calls and token usage.

Named tuples, because millions of them go straight into columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class FoundFile(NamedTuple):
    """A session's file as the file system describes it, not opened yet."""

    path: str
    mtime: float
    size: int


class PastMessage(NamedTuple):
    idx: int
    """Its number in the session, from 0; later lines never change it."""
    role: str
    """`user` only for what a person wrote; what a client injected is `system`."""
    content: str | None
    thinking: str | None
    timestamp: datetime | None


class PastToolCall(NamedTuple):
    message_idx: int | None
    """The message it belongs to; None for a call outside every message."""
    idx: int
    """Its number within the message, or among the session's calls outside messages."""
    tool_name: str
    tool_input: str | None
    """JSON, as the agent wrote it."""
    command: str | None
    """The shell command, if the tool runs one, without the `bash -lc` around it."""
    timestamp: datetime | None


class PastUsage(NamedTuple):
    key: str
    """The same in every file with a copy of this answer: it counts once, with the largest
    numbers."""
    model: str | None
    timestamp: datetime | None
    input_tokens: int
    """Without cached tokens, for every source."""
    output_tokens: int
    cache_read_tokens: int
    cache_creation_tokens: int


@dataclass(slots=True)
class PastSession:
    """What a file says about its session so far."""

    source_session_id: str | None = None
    parent_source_session_id: str | None = None
    """The session that started this sub-agent, or that this session was forked from."""
    is_subagent: bool = False
    is_warmup: bool = False
    """A sub-agent that a client started only to have it ready: costs tokens, says nothing."""
    title: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    model: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    bad_lines: int = 0
    bad_line_numbers: list[int] = field(default_factory=list)
    """The first of them, counted from 1, if the source can tell."""
    is_cut_off: bool = False
    """The file ends in half a line, which is read when the other half is there."""
    is_readable: bool = True
    """False if not one line of the file can be read: it is not a transcript."""
    unknown_kinds: dict[str, int] = field(default_factory=dict)
