"""Orders the passages that a search finds: session by session, those with the best passages first.

People look for a session, and one with several good passages is a better answer than one with a
single good passage.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, NamedTuple

from navi.memory.read.query import Clause

if TYPE_CHECKING:
    import tantivy

WEIGHTS = (1.0, 0.5, 0.25)
"""The weights of a session's best passages in its rank."""
LOOK_UP_WEIGHTS = (1.0,)
"""The same for a look-up: the one passage that contains it is the answer."""
SHOWN_PER_SESSION = 3
"""How many of a session's passages come before other sessions get a place."""
CANDIDATES = 200
"""How many passages to rank, or `CANDIDATES_PER_HIT` for each hit, if that is more."""
CANDIDATES_PER_HIT = 5
ENOUGH_SESSIONS = 10
"""With fewer sessions than this, those that have only some of the words are added."""


class Match(NamedTuple):
    score: float
    session: int
    address: tantivy.DocAddress


def candidates(limit: int) -> int:
    return max(CANDIDATES, CANDIDATES_PER_HIT * limit)


def ranked(
    matches: Sequence[Match],
    limit: int,
    weights: Sequence[float] = WEIGHTS,
) -> list[Match]:
    """The `limit` matches to show, session by session. `matches` come best first."""
    sessions = _sessions(matches, weights)
    counts = [0] * len(sessions)
    free = limit
    # First a few of each session, then the rest of the best sessions, as long as there is room.
    for most in (SHOWN_PER_SESSION, limit):
        for number, group in enumerate(sessions):
            added = min(free, max(0, min(len(group), most) - counts[number]))
            counts[number] += added
            free -= added
    return [match for group, count in zip(sessions, counts, strict=True) for match in group[:count]]


def best_of_others(matches: Sequence[Match], sessions: Container[int], limit: int) -> list[Match]:
    """The best match of each of the `limit` best sessions that are not in `sessions`."""
    others = [match for match in matches if match.session not in sessions]
    return [group[0] for group in _sessions(others, WEIGHTS)[:limit]]


def is_look_up(clauses: Sequence[Clause]) -> bool:
    """Whether the query has something to match literally: a path, an identifier, a phrase."""
    return any(_is_exact(clause) for clause in clauses)


def _sessions(matches: Sequence[Match], weights: Sequence[float]) -> list[list[Match]]:
    """The matches of each session, the best session first."""
    by_session: dict[int, list[Match]] = {}
    for match in matches:
        by_session.setdefault(match.session, []).append(match)
    return sorted(by_session.values(), key=lambda group: -_score(group, weights))


def _score(group: Sequence[Match], weights: Sequence[float]) -> float:
    return sum(weight * match.score for weight, match in zip(weights, group, strict=False))


def _is_exact(clause: Clause) -> bool:
    if clause.is_quoted or clause.is_prefix or clause.is_excluded or clause.is_emoji:
        return True
    text = clause.text.strip("?!.,;:'")
    if text.startswith("-") or any(sign in text for sign in ("/", "\\", "_", "::", "`", "=", "()")):
        return True
    return "." in text or re.search("[a-z][A-Z]", text) is not None
