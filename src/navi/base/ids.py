"""Names for new things: random, short enough to type, long enough never to meet twice."""

from __future__ import annotations

import re
import secrets

_AGENT_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def new_id() -> str:
    return secrets.token_hex(8)


def is_agent_session_id(name: str) -> bool:
    """Whether an agent's program takes it for a session's id, and never for an option.

    Names of transcripts' files are taken for ids, and anybody who can write there chooses them.
    """
    return _AGENT_SESSION.fullmatch(name) is not None
