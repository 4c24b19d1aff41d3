"""Ids: random, short enough to type, long enough not to collide."""

from __future__ import annotations

import re
import secrets

_AGENT_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def new_id() -> str:
    return secrets.token_hex(8)


def is_agent_session_id(name: str) -> bool:
    """Whether an agent's program will take this for a session's id, and never for an option.

    Ids come from the names of transcript files, and any program may choose such a name.
    """
    return _AGENT_SESSION.fullmatch(name) is not None
