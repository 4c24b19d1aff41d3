"""The command that resumes an indexed session, and the versions of the readers."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from navi.base.control_characters import CONTROL_CHARACTER
from navi.base.ids import is_agent_session_id
from navi.memory.hosts.host_source import RECEIVED, HostSource
from navi.vendors.registry import sources


def reader_versions() -> dict[str, int]:
    """The current version of each source's reader."""
    return {RECEIVED: HostSource.version} | {
        name: source.version for name, source in sources().items()
    }


def resumable_id(session: Mapping[str, Any]) -> str | None:
    """The agent's own id for the session to resume; None if it can't be resumed.

    A session of another machine can be resumed only there.
    """
    if session.get("host") is not None:
        return None
    # A sub-agent can't be resumed, but the session that started it can.
    parent = session["parent_source_session_id"] if session["is_subagent"] else None
    agent_session_id: str | None = parent or session["source_session_id"]
    if agent_session_id is None or not is_agent_session_id(agent_session_id):
        return None
    return agent_session_id


def resume_command(session: Mapping[str, Any]) -> list[str] | None:
    """The command that resumes `session`, a row of the index; None if it can't be resumed."""
    agent_session_id = resumable_id(session)
    source = sources().get(session["source"])
    if source is None or agent_session_id is None:
        return None
    return source.resume_command(agent_session_id, session["cwd"])


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
