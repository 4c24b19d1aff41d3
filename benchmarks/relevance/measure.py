"""The rank of the right session for each question, and the figures computed from the ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.relevance.corpus import Question
from navi.memory.read.search import Hit

DEPTH = 10
LIMIT = 100
"""How many passages to search for: enough for ten sessions."""
Find = Callable[[str], list[Hit]]


class Figures(NamedTuple):
    mrr: float
    recall: float
    questions: int


def ranks(find: Find, questions: Sequence[Question], ids: dict[str, str]) -> list[int | None]:
    """For each question the rank of its session, from 1; None if it is not among the first ten."""
    return [_rank(find(question.words), ids[question.story]) for question in questions]


def figures(ranks: Sequence[int | None]) -> Figures:
    found = [rank for rank in ranks if rank is not None]
    count = max(1, len(ranks))
    return Figures(sum(1 / rank for rank in found) / count, len(found) / count, len(ranks))


def _rank(hits: Sequence[Hit], session: str) -> int | None:
    sessions = list(dict.fromkeys(hit.source_session_id for hit in hits))[:DEPTH]
    return sessions.index(session) + 1 if session in sessions else None
