"""The agents whose sessions are indexed, and how each takes one up again."""

from __future__ import annotations

import shlex
from functools import cache

from navi.sources.source import Source, installed


@cache
def agents() -> dict[str, Source]:
    """The installed sources by name."""
    return installed()


def resume_words(source: str, source_session_id: str | None, cwd: str | None) -> list[str] | None:
    """None if the agent can't resume it."""
    agent = agents().get(source)
    if agent is None or source_session_id is None:
        return None
    return agent.resume_command(source_session_id, cwd)


def resume_line(source: str, source_session_id: str | None, cwd: str | None) -> str | None:
    """The same for a shell, in the right folder."""
    words = resume_words(source, source_session_id, cwd)
    if words is None:
        return None
    line = shlex.join(words)
    return f"cd {shlex.quote(cwd)} && {line}" if cwd else line
