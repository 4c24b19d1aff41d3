"""The agents whose sessions are indexed, and how each takes one up again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from navi.sources.source import Source, installed, version_of
from navi.sources.source import unreadable_places as unreadable_places


@cache
def agents() -> dict[str, Source]:
    """The installed sources by name."""
    return installed()


def reader_versions() -> dict[str, int]:
    """How each of them reads its files now."""
    return {name: version_of(source) for name, source in agents().items()}


def speaking_session(session: Mapping[str, Any]) -> str | None:
    """Which of its agent's sessions can be spoken to, by the agent's own name."""
    # A sub-agent can't be; the session that started it can.
    parent = session["parent_source_session_id"] if session["is_subagent"] else None
    name: str | None = parent or session["source_session_id"]
    return name


def resume_command(session: Mapping[str, Any]) -> list[str] | None:
    """What takes a session, given as its row, up again; None if nothing can."""
    known = speaking_session(session)
    agent = agents().get(session["source"])
    if agent is None or known is None:
        return None
    return agent.resume_command(known, session["cwd"])
