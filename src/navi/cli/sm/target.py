"""Finds a session on the server by name or id, and the calling session."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from navi.base.errors import UsageError
from navi.cli import output
from navi.cli.sm import lines
from navi.client import Client, ServerRefused
from navi.live.model import session_reference
from navi.live.model.session_reference import SessionUnclear

if TYPE_CHECKING:
    from navi.live.model.wire_format import SessionJson

__all__ = ["SessionUnclear", "choose", "find", "own_id", "own_id_or_none", "warn_of_namesakes"]

_WHOLE_ID = re.compile("[0-9a-f]{16}")


def find(client: Client, text: str, *, is_exact: bool = False) -> SessionJson:
    """The session that `text` refers to: see `choose`. Set `is_exact` if there is no undo."""
    if _WHOLE_ID.fullmatch(text):
        try:
            return client.session(text)
        except ServerRefused as error:
            if error.status != 404:
                raise
    return choose(client.sessions(archived=True), text, client.now, is_exact=is_exact)


def choose(
    sessions: Sequence[SessionJson],
    text: str,
    now: Callable[[], datetime],
    *,
    is_exact: bool = False,
) -> SessionJson:
    """The session that `text` refers to: its id, the start of its id, its name or its title.

    Unless `is_exact`, the start of a title is enough if no other title starts with it. If several
    sessions share a name and only one of them has not ended, that one is chosen.
    """
    matches = session_reference.exact_matches(sessions, text, _key)
    if not is_exact:
        matches = matches or session_reference.prefix_matches(sessions, text, _key)
        matches = [match for match in matches if match["state"] != "stopped"] or matches
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise session_reference.unclear(matches, text, lambda each: lines.candidate(each, now()))
    raise session_reference.not_found(sessions, text, _key)


def _key(session: SessionJson) -> tuple[str, str, str]:
    return session["id"], session["name"], session["title"]


def warn_of_namesakes(client: Client, session: SessionJson) -> None:
    """Warn that another session has the same title, so that the title alone is ambiguous."""
    others = [
        each
        for each in client.sessions(archived=True)
        if each["title"] == session["title"] and each["id"] != session["id"]
    ]
    if others:
        output.note(
            f"note: {len(others) + 1} sessions are called {lines.plain(session['title'])}; "
            f"use the id {session['id']} for this one"
        )


def own_id_or_none() -> str | None:
    """The id of the session whose agent runs this command; None if a person runs it."""
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
