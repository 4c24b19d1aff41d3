"""Finds sessions on the server by name or id, and the calling session."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from navi.base.errors import UsageError
from navi.client import Client, ServerRefused
from navi.live.model import session_reference
from navi.live.model.session_reference import SessionUnclear

if TYPE_CHECKING:
    from navi.live.model.wire_format import SessionJson

__all__ = ["SessionUnclear", "choose", "find", "own_id", "own_id_or_none"]

_WHOLE_ID = re.compile("[0-9a-f]{16}")


def find(client: Client, text: str) -> SessionJson:
    if _WHOLE_ID.fullmatch(text):
        try:
            return client.session(text)
        except ServerRefused as error:
            if error.status != 404:
                raise
    return choose(client.sessions(), text)


def choose(sessions: Sequence[SessionJson], text: str) -> SessionJson:
    return session_reference.choose(
        sessions, text, lambda each: (each["id"], each["name"], each["title"])
    )


def own_id_or_none() -> str | None:
    """The session of the agent that runs this command; None for a person."""
    return os.environ.get("NAVI_SESSION_ID") or None


def own_id(hint: str) -> str:
    """The calling session's id. Raises UsageError with this hint if a person is calling."""
    own = own_id_or_none()
    if own is None:
        raise UsageError(
            "there is no calling session: NAVI_SESSION_ID is not set",
            hint=hint,
        )
    return own
