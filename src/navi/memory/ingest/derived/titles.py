"""Titles for sessions whose agent gave them none: the first thing that a person wrote.

Failing that, a typed command, an answer, a text by the agent program, a thought or a tool call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from duckdb import DuckDBPyConnection

LONGEST = 200
SHORTEST_CUT = 120
"""A long title is cut at a space, if there is one after this many characters."""
LONGEST_TEXT = 4_000
"""How many characters at the start of a text are searched for a title."""
MESSAGES_PER_ROLE = 20
"""How many messages are read from DuckDB. Nobody remembers a session by its later messages."""

# Ranks: where a title can come from, best first. `PROGRAM` is text that the agent program added.
PERSON, COMMAND, ANSWER, PROGRAM, THOUGHT, CALL = range(6)

INJECTED = (
    *("# AGENTS.md instructions", "Caveat: The messages below were generated"),
    *("[Request interrupted by user", "This session is being continued from a previous"),
)
"""Beginnings of texts that an agent program wrote in the person's name."""
IDE_REQUEST = "## My request for Codex:"
"""The person's text comes after this line, and the editor's before it."""
WARMUP = "Warmup"

_INJECTED_TAG = re.compile(
    r"<((?:command|local-command|bash)-[a-z-]+|task-notification|system-reminder|teammate-message"
    r"|user-prompt-submit-hook|ide_[a-z_]+|new-diagnostics|environment_context|user_instructions"
    r"|user_shell_command|subagent_notification|turn_aborted|INSTRUCTIONS|skill"
    r"|[a-z_]+ ?instructions)\b[^>]*>"
)
_COMMAND = re.compile(r"<command-name>\s*([^<]+?)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>\s*([^<]*?)\s*</command-args>")
_SHELL = re.compile(r"<bash-input>\s*(.+?)\s*</bash-input>", re.DOTALL)
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


class Hint(NamedTuple):
    """A possible title; a lower rank is better."""

    rank: int
    text: str


def clean(text: str | None) -> str | None:
    """The start of a text, as one line of at most `LONGEST` characters; None if nothing is left."""
    if not text:
        return None
    text = _ESCAPE.sub("", text[:LONGEST_TEXT])
    if not text.isprintable():
        # A zero-width joiner holds the parts of an emoji together.
        text = "".join(
            character if character.isprintable() or character == "\u200d" else " "
            for character in text
        )
    text = " ".join(text.split())
    if len(text) <= LONGEST:
        return text or None
    cut = text.rfind(" ", SHORTEST_CUT, LONGEST)
    return text[: cut if cut > 0 else LONGEST - 1] + "…"


def hint_of_messages(messages: Iterable[tuple[str, str | None, str | None]]) -> Hint | None:
    """The best hint in `messages`, which are `(role, content, thinking)` in order."""
    best: Hint | None = None
    for role, content, thinking in messages:
        if best is None or best.rank > (PERSON if role == "user" else COMMAND):
            hint = _hint(role, content, thinking)
            if hint is not None and (best is None or hint.rank < best.rank):
                best = hint
                if best.rank == PERSON:
                    break
    return best


def hint_of_call(tool_name: str, command: str | None) -> Hint | None:
    text = clean(f"{tool_name}: {command}" if command else tool_name)
    return None if text is None else Hint(CALL, text)


def best_of(hints: Iterable[Hint | None]) -> str | None:
    """The text of the first hint of the best rank."""
    best = min(
        (hint for hint in hints if hint is not None), key=lambda hint: hint.rank, default=None
    )
    return None if best is None else best.text


def stored_titles(connection: DuckDBPyConnection, ids: Sequence[str]) -> dict[str, str]:
    """Titles from the messages and calls in DuckDB, by session id."""
    if not ids:
        return {}
    messages: dict[str, list[tuple[str, str | None, str | None]]] = {}
    for id, *message in connection.execute(
        f"SELECT session_id, role, left(content, {LONGEST_TEXT}), left(thinking, {LONGEST_TEXT}) "
        "FROM messages WHERE session_id IN (SELECT unnest(?)) "
        "QUALIFY row_number() OVER (PARTITION BY session_id, role ORDER BY idx) "
        f"<= {MESSAGES_PER_ROLE} ORDER BY session_id, idx",
        [list(ids)],
    ).fetchall():
        messages.setdefault(id, []).append((message[0], message[1], message[2]))
    hints = {id: hint_of_messages(rows) for id, rows in messages.items()}
    untitled = [id for id in ids if hints.get(id) is None]
    if untitled:
        for id, tool_name, command in connection.execute(
            "SELECT session_id, tool_name, bash_command FROM tool_calls "
            "WHERE session_id IN (SELECT unnest(?)) QUALIFY row_number() OVER "
            "(PARTITION BY session_id ORDER BY message_idx NULLS FIRST, idx) = 1",
            [untitled],
        ).fetchall():
            hints[id] = hint_of_call(tool_name, command)
    return {id: hint.text for id, hint in hints.items() if hint is not None}


def _hint(role: str, content: str | None, thinking: str | None) -> Hint | None:
    content = (content or "")[:LONGEST_TEXT]
    if role == "user":
        if text := _first_line(_without_injected(content)):
            return Hint(PERSON, text)
    elif role == "assistant":
        if text := _first_line(content):
            return Hint(ANSWER, text)
    else:
        if text := _typed_command(content):
            return Hint(COMMAND, text)
        if text := _first_line(_without_injected(content)):
            return Hint(PROGRAM, text)
    text = _first_line((thinking or "")[:LONGEST_TEXT])
    return Hint(THOUGHT, text) if text else None


def _without_injected(text: str) -> str:
    """The text without what programs inserted before it; empty if nothing is left."""
    _, marker, request = text.partition(IDE_REQUEST)
    text = (request if marker else text).lstrip()
    while tag := _INJECTED_TAG.match(text):
        end = text.find(f"</{tag[1]}>")
        if end < 0:
            return ""
        text = text[end + len(tag[1]) + 3 :].lstrip()
    return "" if text.startswith(INJECTED) or text.strip() == WARMUP else text


def _typed_command(text: str) -> str | None:
    if shell := _SHELL.search(text):
        return clean(f"! {shell[1]}")
    if command := _COMMAND.search(text):
        arguments = _ARGUMENTS.search(text)
        return clean(f"{command[1]} {arguments[1] if arguments else ''}")
    return None


def _first_line(text: str) -> str | None:
    """The first line with a letter or digit, else the first that is not blank."""
    fallback = None
    for line in text.splitlines():
        if any(map(str.isalnum, line)):
            return clean(line)
        fallback = fallback or clean(line)
    return fallback
