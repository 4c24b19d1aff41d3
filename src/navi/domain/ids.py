"""Names for new things: random, short enough to type, long enough never to meet twice."""

from __future__ import annotations

import secrets


def new_id() -> str:
    return secrets.token_hex(8)
