"""A browser that is logged in, and the link that logs one in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class Login:
    user_id: str
    owner_sha256: str
    """The digest of the user's own token. The login ends when that token is replaced."""
    created_at: datetime
    last_used_at: datetime


def login_link(address: str, user_id: str, code: str) -> str:
    """Browsers send no fragment to a server, so the code reaches no log on the way."""
    return f"{address}/login#{urlencode({'user': user_id, 'code': code})}"
