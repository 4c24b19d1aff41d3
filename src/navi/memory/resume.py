"""The agents whose sessions are indexed, and the command that resumes a session."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from navi.base.control_characters import CONTROL_CHARACTER
from navi.base.ids import is_agent_session_id
from navi.vendors.registry import sources
from navi.vendors.source import Source


def agents() -> dict[str, Source]:
    """The installed sources by name."""
    return sources()


def reader_versions() -> dict[str, int]:
    """The current version of each source's reader."""
    return {name: source.version for name, source in agents().items()}


def resumable_id(session: Mapping[str, Any]) -> str | None:
    """The agent's own id for the session to resume; None if it can't be resumed."""
    # A sub-agent can't be resumed, but the session that started it can.
    parent = session["parent_source_session_id"] if session["is_subagent"] else None
    agent_session_id: str | None = parent or session["source_session_id"]
    if agent_session_id is None or not is_agent_session_id(agent_session_id):
        return None
    return agent_session_id


def resume_command(session: Mapping[str, Any]) -> list[str] | None:
    """`session` is a row of the index. None if it can't be resumed."""
    agent_session_id = resumable_id(session)
    agent = agents().get(session["source"])
    if agent is None or agent_session_id is None:
        return None
    return agent.resume_command(agent_session_id, session["cwd"])


def shell_line(command: Sequence[str], folder: str | None) -> str:
    """The command with a `cd` to its folder, for people to paste into bash or zsh."""
    line = " ".join(map(_quoted, command))
    if not folder:
        return line
    # A folder may be called `-P`, and `cd -` means the previous folder.
    return f"cd {_quoted(f'./{folder}' if folder.startswith('-') else folder)} && {line}"


def _quoted(word: str) -> str:
    if word.isprintable() or not any(map(_needs_escape, word)):
        return shlex.quote(word)
    return f"$'{''.join(map(_escaped, word))}'"


def _escaped(character: str) -> str:
    if _needs_escape(character):
        return f"\\u{ord(character):04x}"
    return f"\\{character}" if character in "\\'" else character


def _needs_escape(character: str) -> bool:
    return character in "\n\t" or CONTROL_CHARACTER.match(character) is not None
