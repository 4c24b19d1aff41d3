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
    sessions: Sequence[Candidate],
    text: str,
    key: Callable[[Candidate], tuple[str, str, str]],
) -> Candidate:
    """The session that `text` refers to. `key` gives a session's id, its name and its title.

    A name that is also the prefix of another session's id is ambiguous.
    """
    matches = exact_matches(sessions, text, key)
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise unclear(matches, text, lambda match: _label(key(match)))
    raise not_found(sessions, text, key)


def exact_matches(
    sessions: Sequence[Candidate], text: str, key: Callable[[Candidate], tuple[str, str, str]]
) -> list[Candidate]:
    """The session whose id is `text`, or else all with that name, title or id prefix."""
    matches = matching(sessions, text, lambda session: key(session)[:2])
    return matches or [session for session in sessions if text and key(session)[2] == text]


def prefix_matches(
    sessions: Sequence[Candidate], text: str, key: Callable[[Candidate], tuple[str, str, str]]
) -> list[Candidate]:
    """All sessions whose title begins with `text`, ignoring case."""
    start = text.casefold()
    return [session for session in sessions if start and _title(key(session)).startswith(start)]


def matching(
    candidates: Sequence[Candidate], text: str, key: Callable[[Candidate], tuple[str, str]]
) -> list[Candidate]:
    """The candidate whose id is `text`, or else all with that name or id prefix.

    `key` gives a candidate's id and name.
    """
    entries = [(*key(candidate), candidate) for candidate in candidates]
    return [candidate for id_, _, candidate in entries if id_ == text] or [
        candidate
        for id_, name, candidate in entries
        if name == text or (len(text) >= SHORTEST_PREFIX and id_.startswith(text))
    ]


def unclear(
    matches: Sequence[Candidate], text: str, label: Callable[[Candidate], str]
) -> SessionUnclear:
    candidates = ", ".join(label(match) for match in matches[:SHOWN_CANDIDATES])
    more = len(matches) - SHOWN_CANDIDATES
    rest = f" and {more} more" if more > 0 else ""
    return SessionUnclear(
        f"{text!r} matches {len(matches)} sessions: {candidates}{rest}",
        hint="use the id, or more of it",
    )


def not_found(
    sessions: Sequence[Candidate], text: str, key: Callable[[Candidate], tuple[str, str, str]]
) -> NotFound:
    if text and any(key(session)[0].startswith(text) for session in sessions):
        message = f"{text!r} is too short for an id"
        return NotFound(message, hint=f"give at least {SHORTEST_PREFIX} characters")
    hint = "`sm status` lists them"
    if similar := _similar_title([key(session) for session in sessions], text):
        hint = f"did you mean {similar}? {hint}"
    return NotFound(f"there is no session {text!r}", hint=hint)


def _similar_title(keys: Sequence[tuple[str, str, str]], text: str) -> str | None:
    from difflib import get_close_matches

    titles = {_title(key)[:LONGEST_TITLE]: _label(key) for key in keys}
    close = get_close_matches(one_line(text).casefold(), titles, n=1)
    return titles[close[0]] if close else None


def _title(key: tuple[str, str, str]) -> str:
    return one_line(key[2]).casefold()


def _label(key: tuple[str, str, str]) -> str:
    id_, _, title = key
    return f"{shortened(one_line(title), LONGEST_TITLE)} ({id_})"
