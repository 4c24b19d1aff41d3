"""The agents whose sessions are indexed, and how each takes one up again."""

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
    """How each of them reads its files now."""
    return {name: source.version for name, source in agents().items()}


def speaking_session(session: Mapping[str, Any]) -> str | None:
    """Which of its agent's sessions can be spoken to, by the agent's own name; None if none can."""
    # A sub-agent can't be; the session that started it can.
    parent = session["parent_source_session_id"] if session["is_subagent"] else None
    name: str | None = parent or session["source_session_id"]
    return name if name is not None and is_agent_session_id(name) else None


def resume_command(session: Mapping[str, Any]) -> list[str] | None:
    """What takes a session, given as its row, up again; None if nothing can."""
    known = speaking_session(session)
    agent = agents().get(session["source"])
    if agent is None or known is None:
        return None
    return agent.resume_command(known, session["cwd"])


def shell_line(command: Sequence[str], folder: str | None) -> str:
    """The command for people to paste into bash or zsh, with the way to its folder."""
    line = " ".join(map(_quoted, command))
    if not folder:
        return line
    # A folder may be called `-P`; `cd -` goes elsewhere.
    return f"cd {_quoted(f'./{folder}' if folder.startswith('-') else folder)} && {line}"


def _quoted(word: str) -> str:
    if word.isprintable() or not any(map(_is_lost_in_print, word)):
        return shlex.quote(word)
    escaped = (
        f"\\u{ord(each):04x}" if _is_lost_in_print(each) else f"\\{each}" if each in "\\'" else each
        for each in word
    )
    return f"$'{''.join(escaped)}'"


def _is_lost_in_print(character: str) -> bool:
    return character in "\n\t" or CONTROL_CHARACTER.match(character) is not None
