"""A logged-in browser, and the link that logs a browser in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class Login:
    user_id: str
    owner_sha256: str
    """The digest of the user's token. Replacing the token ends the login."""
    created_at: datetime
    last_used_at: datetime


def login_link(address: str, user_id: str, code: str) -> str:
    """The link that logs a browser in. Servers never see what follows #, so no log has the code."""
    return f"{address}/login#{urlencode({'user': user_id, 'code': code})}"
