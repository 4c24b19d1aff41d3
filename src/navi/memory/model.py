"""The values a source yields: sessions, messages, tool calls and token usage.

Rows are named tuples, because millions of them go straight into columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class SessionFile(NamedTuple):
    """A session's file as the file system describes it, not opened yet."""

    path: str
    mtime: float
    size: int


class PastMessage(NamedTuple):
    idx: int
    """Its number in the session, from 0; later lines never change it."""
    role: str
    """`user` only for what a person wrote; what the agent program added is `system`."""
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


class PastOutput(NamedTuple):
    """What a tool printed or returned."""

    message_idx: int | None
    call_idx: int
    """With `message_idx`, identifies its `PastToolCall`."""
    tool_name: str
    text: str
    timestamp: datetime | None
    is_error: bool | None = None
    """None if the file doesn't say whether the call failed."""


class PastTurn(NamedTuple):
    """How a turn ended. Claude Code and Codex record only turns that were cut short."""

    key: str
    """Identifies the turn within its session."""
    origin: str | None
    """Who caused it, as in `live.model.input.Origin`; None if the file doesn't say."""
    outcome: str
    """As in `live.model.turn.Outcome`."""
    error: str | None
    timestamp: datetime | None


class PastUsage(NamedTuple):
    key: str
    """Identifies an answer of the model, even if several files have a copy of it. It counts once,
    with the largest numbers of tokens."""
    model: str | None
    timestamp: datetime | None
    input_tokens: int
    """Without cached tokens, for every source."""
    output_tokens: int
    cache_read_tokens: int
    cache_creation_tokens: int


class Origin(NamedTuple):
    """The origin of a session that another machine sent."""

    host: str
    """The machine's name."""
    source: str
    """The agent's source, as on that machine."""
    git_repo: str | None


@dataclass(slots=True)
class PastSession:
    """A session as its file describes it so far."""

    source_session_id: str | None = None
    parent_source_session_id: str | None = None
    """The session that started this sub-agent, or that this session was forked from."""
    is_subagent: bool = False
    is_warmup: bool = False
    """A sub-agent started in advance that did no work; only its tokens count."""
    title: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    model: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    bad_lines: int = 0
    bad_line_numbers: list[int] = field(default_factory=list)
    """The numbers of the first few bad lines, from 1; empty if the source counts no lines."""
    is_cut_off: bool = False
    """The file ends in an incomplete line, which is read once it is complete."""
    is_readable: bool = True
    """False if not one line of the file can be read: it is not a transcript."""
    unknown_kinds: dict[str, int] = field(default_factory=dict)
    """Lines skipped because the source does not know their kind: kind -> number of lines."""
    origin: Origin | None = None
    """None for a session of this machine."""
