"""Which session somebody means: its id, the beginning of its id, or its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from navi.base.errors import InvalidInput, NotFound

SHORTEST_PREFIX = 4
SHOWN_CANDIDATES = 10
LONGEST_TITLE = 60

Candidate = TypeVar("Candidate")


class SessionUnclear(InvalidInput):
    kind = "session_unclear"


def choose(
    sessions: Sequence[Candidate], text: str, key: Callable[[Candidate], tuple[str, str, str]]
) -> Candidate:
    """The one that `text` means; `key` gives an id, a name, and the title that people see.

    A name that begins another session's id is unclear, too.
    """
    known = [(*key(each), each) for each in sessions]
    found = [each for each in known if each[0] == text] or [
        each for each in known if each[1] == text or _begins(each[0], text)
    ]
    if len(found) == 1:
        return found[0][3]
    if found:
        raise _unclear([(id_, title) for id_, _, title, _ in found], text)
    if any(each[0].startswith(text) for each in known if text):
        message = f"{text!r} is too short for an id"
        raise NotFound(message, hint=f"give at least {SHORTEST_PREFIX} characters")
    raise NotFound(f"there is no session {text!r}", hint="`sm status` lists them")


def _begins(session_id: str, text: str) -> bool:
    return len(text) >= SHORTEST_PREFIX and session_id.startswith(text)


def _unclear(found: Sequence[tuple[str, str]], text: str) -> SessionUnclear:
    shown = ", ".join(f"{_plain(title)} ({id_})" for id_, title in found[:SHOWN_CANDIDATES])
    more = len(found) - SHOWN_CANDIDATES
    rest = f" and {more} more" if more > 0 else ""
    return SessionUnclear(
        f"{text!r} matches {len(found)} sessions: {shown}{rest}", hint="use the id, or more of it"
    )


def _plain(title: str) -> str:
    shown = "".join(each for each in " ".join(title.split()) if each.isprintable())
    return shown if len(shown) <= LONGEST_TITLE else shown[: LONGEST_TITLE - 1] + "…"
