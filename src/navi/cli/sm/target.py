"""Which session somebody means: its id, the beginning of its id, or its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from navi.cli.sm.lines import named
from navi.client import Client, ServerRefused
from navi.domain.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from navi.domain.wire import SessionJson

SHORTEST_PREFIX = 4
SHOWN_CANDIDATES = 10
_WHOLE_ID = re.compile("[0-9a-f]{16}")


class SessionUnclear(InvalidInput):
    kind = "session_unclear"


def find(client: Client, text: str) -> SessionJson:
    if _WHOLE_ID.fullmatch(text):
        try:
            return client.session(text)
        except ServerRefused as error:
            if error.status != 404:
                raise
    return choose(client.sessions(), text)


def choose(sessions: Sequence[SessionJson], text: str) -> SessionJson:
    """The one that `text` means. A name that begins another session's id is unclear, too."""
    found = [each for each in sessions if each["id"] == text] or [
        each for each in sessions if each["name"] == text or _begins(each["id"], text)
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise _unclear(found, text)
    if any(each["id"].startswith(text) for each in sessions if text):
        message = f"{text!r} is too short for the beginning of an id"
        raise NotFound(message, hint=f"give at least {SHORTEST_PREFIX} characters of it")
    raise NotFound(f"there is no session {text!r}", hint="`sm status` lists them")


def _begins(session_id: str, text: str) -> bool:
    return len(text) >= SHORTEST_PREFIX and session_id.startswith(text)


def _unclear(found: Sequence[SessionJson], text: str) -> SessionUnclear:
    shown = ", ".join(named(each) for each in found[:SHOWN_CANDIDATES])
    more = len(found) - SHOWN_CANDIDATES
    rest = f" and {more} more" if more > 0 else ""
    return SessionUnclear(
        f"{text!r} can be {len(found)} sessions: {shown}{rest}", hint="give the id, or more of it"
    )
