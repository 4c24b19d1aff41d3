"""Finds a session by id, id prefix or name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from navi.base.control_characters import one_line
from navi.base.errors import InvalidInput, NotFound
from navi.base.shortened_text import shortened

SHORTEST_PREFIX = 4
SHOWN_CANDIDATES = 10
LONGEST_TITLE = 60

Candidate = TypeVar("Candidate")


class SessionUnclear(InvalidInput):
    kind = "session_unclear"


def choose(
    sessions: Sequence[Candidate], text: str, key: Callable[[Candidate], tuple[str, str, str]]
) -> Candidate:
    """The candidate that `text` means. `key` gives its id, its name and the title people see.

    A name that is also the prefix of another session's id is ambiguous.
    """
    matches = matching(sessions, text, lambda session: key(session)[:2])
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise _unclear([key(match) for match in matches], text)
    if text and any(key(session)[0].startswith(text) for session in sessions):
        message = f"{text!r} is too short for an id"
        raise NotFound(message, hint=f"give at least {SHORTEST_PREFIX} characters")
    raise NotFound(f"there is no session {text!r}", hint="`sm status` lists them")


def matching(
    candidates: Sequence[Candidate], text: str, key: Callable[[Candidate], tuple[str, str]]
) -> list[Candidate]:
    """The candidate with this id, else all with this name or id prefix.

    `key` gives a candidate's id and name.
    """
    keys = [(*key(candidate), candidate) for candidate in candidates]
    return [candidate for id_, _, candidate in keys if id_ == text] or [
        candidate
        for id_, name, candidate in keys
        if name == text or (len(text) >= SHORTEST_PREFIX and id_.startswith(text))
    ]


def _unclear(matches: Sequence[tuple[str, str, str]], text: str) -> SessionUnclear:
    candidates = ", ".join(
        f"{shortened(one_line(title), LONGEST_TITLE)} ({id_})"
        for id_, _, title in matches[:SHOWN_CANDIDATES]
    )
    more = len(matches) - SHOWN_CANDIDATES
    rest = f" and {more} more" if more > 0 else ""
    return SessionUnclear(
        f"{text!r} matches {len(matches)} sessions: {candidates}{rest}",
        hint="use the id, or more of it",
    )
