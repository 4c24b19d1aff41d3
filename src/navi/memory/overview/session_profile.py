"""One session's facts, prompts, commands, files and tools, to compare it with another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from duckdb import CatalogException, DuckDBPyConnection

from navi.memory.index_schema import naive
from navi.memory.ingest.derived.touched_files import touched_files
from navi.memory.overview.changed_paths import changes_files, path_below
from navi.memory.prices import cost_of
from navi.memory.read.session_transcript import Transcript, transcript
from navi.memory.read.statistics import TOKENS

_USAGES = (
    f"SELECT model, {', '.join(f'sum({name})::BIGINT' for name in TOKENS)} FROM ("
    f"  SELECT max(model) AS model, {', '.join(f'max({name}) AS {name}' for name in TOKENS)} "
    "  FROM usages WHERE session_id = ? GROUP BY key"
    ") GROUP BY model ORDER BY model"
)
_LAST_TURN = (
    "SELECT outcome, error FROM turns WHERE session_id = ? "
    "AND (origin IS NOT NULL OR timestamp >= ?) ORDER BY timestamp DESC LIMIT 1"
)
"""Files without origins record only turns that were cut short. If such a turn comes before the last
message, it is not the last turn."""


@dataclass(frozen=True, slots=True)
class Profile:
    id: str
    source: str
    title: str | None
    project: str | None
    model: str | None
    started_at: datetime | None
    duration_seconds: int | None
    message_count: int
    tool_count: int
    tokens: Mapping[str, int]
    """By the names in `TOKENS`. Includes answers that were copied from another session."""
    cost_usd: float | None
    """At list prices; None if no model's price is known."""
    has_unpriced: bool
    """Some tokens are of models without a known price."""
    prompts: tuple[str, ...]
    commands: tuple[str, ...]
    files_read: tuple[str, ...]
    files_changed: tuple[str, ...]
    tools: Mapping[str, int] = field(default_factory=dict)
    ending: str = ""
    """The agent's last message, or why its last turn was cut short."""
    outcome: str | None = None
    """How the last turn ended, as in `live.model.turn.Outcome`; None if the file doesn't say."""
    is_unanswered: bool = False
    """Its last message is a prompt."""


def profile(connection: DuckDBPyConnection, id: str) -> Profile:
    past = transcript(connection, id)
    usages = connection.execute(_USAGES, [id]).fetchall()
    answers = [each for each in past.messages if each["role"] == "assistant" and each["content"]]
    since = past.messages[-1]["timestamp"] if past.messages else None
    turn = None if since is None else _last_turn(connection, id, since)
    return profile_of(past, usages, answers[-1]["content"] if answers else "", turn)


def _last_turn(
    connection: DuckDBPyConnection, id: str, since: datetime
) -> tuple[str, str | None] | None:
    try:
        return connection.execute(_LAST_TURN, [id, naive(since)]).fetchone()
    except CatalogException:  # an earlier version made this index, and nothing was indexed since
        return None


def profile_of(
    past: Transcript,
    usages: list[tuple[Any, ...]],
    last_answer: str,
    last_turn: tuple[str, str | None] | None,
) -> Profile:
    session = past.session
    costs = [cost_of(model, *tokens) for model, *tokens in usages if any(tokens)]
    priced = [cost for cost in costs if cost is not None]
    calls = list(_calls(past))
    read, changed = _files(calls, session["project"], session["cwd"])
    outcome, error = last_turn or (None, None)
    return Profile(
        id=session["id"],
        source=session["source"],
        title=session["title"],
        project=session["project"],
        model=session["model"],
        started_at=session["started_at"],
        duration_seconds=session["duration_seconds"],
        message_count=session["message_count"],
        tool_count=session["tool_count"],
        tokens={
            name: sum(row[column] for row in usages) for column, name in enumerate(TOKENS, start=1)
        },
        cost_usd=sum(priced) if priced or not costs else None,
        has_unpriced=len(priced) < len(costs),
        prompts=_distinct(
            each["content"] for each in past.messages if each["role"] == "user" and each["content"]
        ),
        commands=_distinct(call["bash_command"] for call in calls if call["bash_command"]),
        files_read=read,
        files_changed=changed,
        tools=dict(Counter(call["tool_name"] for call in calls).most_common()),
        ending=error or last_answer,
        outcome=outcome,
        is_unanswered=bool(past.messages) and past.messages[-1]["role"] == "user",
    )


def _calls(past: Transcript) -> Iterator[dict[str, Any]]:
    for _, calls in past.with_calls():
        yield from calls


def _files(
    calls: list[dict[str, Any]], *folders: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files that the calls only read, and those that they changed."""
    read: dict[str, None] = {}
    changed: dict[str, None] = {}
    for call in calls:
        command = (call["bash_command"] or "").encode("utf-8", "replace")
        paths = touched_files((call["tool_input"] or "").encode("utf-8", "replace"), command)
        # A shell command touches files only with a patch.
        target = changed if command or changes_files(call["tool_name"]) else read
        target.update(dict.fromkeys(path_below(path, *folders) for path in paths))
    return tuple(path for path in read if path not in changed), tuple(changed)


def _distinct(texts: Iterator[str]) -> tuple[str, ...]:
    """The texts without surrounding space, each once, in their order."""
    return tuple(dict.fromkeys(text.strip() for text in texts))
