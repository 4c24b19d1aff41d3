"""What a source finds in an agent's own files: messages, tool calls and what they cost.

Named tuples, because millions of them go straight into columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class FoundFile(NamedTuple):
    """A session's file as the file system describes it, before anybody opened it."""

    path: str
    mtime: float
    size: int


class PastMessage(NamedTuple):
    idx: int
    """Its place in the session, counted from 0 and never changed by later lines."""
    role: str
    """`user` only for a person's words; what a client injected is `system`."""
    content: str | None
    thinking: str | None
    timestamp: datetime | None


class PastToolCall(NamedTuple):
    message_idx: int | None
    """The message it belongs to; None for a call outside every message."""
    idx: int
    """Its place within the message, or among the session's calls outside messages."""
    tool_name: str
    tool_input: str | None
    """JSON, as the agent gave it."""
    command: str | None
    """The shell command, if the tool runs one, without a wrapping `bash -lc`."""
    timestamp: datetime | None


class PastUsage(NamedTuple):
    key: str
    """The same for the same answer in every file that holds a copy of it: it counts once, with
    the larger number of each kind."""
    model: str | None
    timestamp: datetime | None
    input_tokens: int
    """Without what came from a cache, for every source."""
    output_tokens: int
    cache_read_tokens: int
    cache_creation_tokens: int


@dataclass(slots=True)
class PastSession:
    """What a whole file says of its session; grows with the file."""

    source_session_id: str | None = None
    parent_source_session_id: str | None = None
    """The session that started this sub-agent, or that this one was forked from."""
    is_subagent: bool = False
    is_warmup: bool = False
    """A sub-agent that a client started only to have it ready: it costs tokens and says nothing."""
    title: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    model: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    bad_lines: int = 0
    bad_line_numbers: list[int] = field(default_factory=list)
    """Where the first of them are, counted from 1, if the source knows."""
    is_cut_off: bool = False
    """The file ends in half a line. It is read once its other half is there."""
    is_readable: bool = True
    """False if the file has lines and not one of them can be read: it is not a transcript."""
    unknown_kinds: dict[str, int] = field(default_factory=dict)
