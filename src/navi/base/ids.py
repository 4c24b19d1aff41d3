"""Ids: random, short enough to type, long enough not to collide."""

from __future__ import annotations

import re
import secrets

_AGENT_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def new_id() -> str:
    return secrets.token_hex(8)


def is_agent_session_id(name: str) -> bool:
    """Whether this is safe to pass to an agent's program as a session id, never as an option.

    Ids are read from the names of transcript files, which any program can create.
    """
    return _AGENT_SESSION.fullmatch(name) is not None
