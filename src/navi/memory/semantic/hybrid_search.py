"""A search by words and by meaning.

A session's score combines the scores of its best passages by words and by meaning (`scores.py`).
Sessions with all of the words still come first, so that no match by words is lost. Look-ups,
searches by date and those without a limit use words alone, because they ask for exact matches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tantivy import Occur, Query

from navi.base.timestamps import microseconds
from navi.memory.read import ranking
from navi.memory.read.full_text import (
    ROLES,
    agent_number,
    pack_kind,
    pack_position,
    unpack_position,
)
from navi.memory.read.query import Clause, read_query
from navi.memory.read.ranking import Match
from navi.memory.read.search import EVERYTHING, Filters, Search, SearchResult
from navi.memory.semantic.scores import combined
from navi.memory.semantic.semantic_errors import SemanticUnavailable
from navi.memory.semantic.vectors.nearest import Passage, Scope, nearest

if TYPE_CHECKING:
    import tantivy

    from navi.memory.index_paths import IndexPaths
    from navi.memory.semantic.vectors.vector_files import Array, Vectors

NEAREST = 100
"""How many of the nearest passages are considered."""
FEWEST_OTHERS = 3
"""Sessions without all of the words get at least this many places."""
CONTENT_KINDS = tuple(pack_kind(role, "content") for role in ROLES)

Matches = dict[int, list[Match]]
"""By session, best first."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a search by meaning needs."""

    vectors: Vectors
    embed: Callable[[str], Array]
    """The vector of a query."""
    alpha: float


class HybridSearch(Search):
    def __init__(self, paths: IndexPaths, meaning: Meaning) -> None:
        super().__init__(paths)
        self._meaning = meaning

    def find(
        self,
        text: str,
        filters: Filters = EVERYTHING,
        limit: int | None = 20,
        *,
        by_date: bool = False,
    ) -> SearchResult:
        clauses = read_query(text)
        if limit is None or by_date or filters.tool is not None or not goes_by_meaning(clauses):
            return super().find(text, filters, limit, by_date=by_date)
        try:
            vector = self._meaning.embed(text)
        except SemanticUnavailable as problem:
            by_words = super().find(text, filters, limit)
            return by_words._replace(problem=problem)
        searcher = self._index.searcher()
        queries = self._filter_queries(searcher, filters, has_words=True)
        with_all = self._best(searcher, clauses, queries, limit, needs_all=True)
        with_some = with_all
        if len(clauses) > 1:
            with_some = self._best(searcher, clauses, queries, limit, needs_all=False)
        scope = self._scope(searcher, filters)
        passages = nearest(self._meaning.vectors, vector, NEAREST, scope)
        similar = _by_session(self._located(searcher, passages, queries))
        scores = combined(
            _session_scores(_by_session(with_some)), _session_scores(similar), self._meaning.alpha
        )
        complete, others = _by_session(with_all), _joined(similar, _by_session(with_some))
        first = [session for session in scores if session in complete]
        # A session may be among the best with all of the words, but not among those with some.
        first += [session for session in complete if session not in scores]
        rest = [session for session in scores if session not in complete]
        if not first:
            best = _first_of_each(rest, others, scores, limit, ranking.SHOWN_PER_SESSION)
            hits = self._hits(searcher, best, clauses, has_all_words=False)
            return SearchResult(hits, False, goes_by_meaning=True)
        places = min(limit // 2, max(FEWEST_OTHERS, ranking.ENOUGH_SESSIONS - len(first)))
        last_matches = _first_of_each(rest, others, scores, places, 1)
        first_matches = _first_of_each(
            first, complete, scores, limit - len(last_matches), ranking.SHOWN_PER_SESSION
        )
        hits = self._hits(searcher, first_matches, clauses)
        hits += self._hits(searcher, last_matches, clauses, has_all_words=False)
        return SearchResult(hits, True, goes_by_meaning=True)

    def _best(
        self,
        searcher: tantivy.Searcher,
        clauses: list[Clause],
        filters: list[Query],
        limit: int,
        *,
        needs_all: bool,
    ) -> list[Match]:
        """The best passages by words, not grouped by session."""
        query = self._query(clauses, filters, needs_all=needs_all)
        most = min(ranking.candidates(limit), max(1, searcher.num_docs))
        top = searcher.search(query, most, count=False).hits
        numbers = searcher.fast_field_values("session", [address for _, address in top])
        return [
            Match(score, int(number or 0), address)
            for (score, address), number in zip(top, numbers, strict=True)
        ]

    def _located(
        self, searcher: tantivy.Searcher, passages: Sequence[Passage], filters: list[Query]
    ) -> list[Match]:
        """The passages' messages in the full-text index, best first, each once.

        Skips messages that are gone, and those that the filters exclude.
        """
        similarities: dict[tuple[int, int | None], float] = {}
        for passage in passages:
            similarities.setdefault((passage.session, passage.idx), passage.similarity)
        if not similarities:
            return []
        query = Query.boolean_query(
            [
                (Occur.Must, _any([self._message(*message) for message in similarities])),
                (Occur.Must, _any([self._range("what", each, each) for each in CONTENT_KINDS])),
                *((Occur.Must, each) for each in filters),
            ]
        )
        top = searcher.search(query, 2 * len(similarities), count=False).hits
        addresses = [address for _, address in top]
        rows = zip(
            searcher.fast_field_values("session", addresses),
            searcher.fast_field_values("place", addresses),
            addresses,
            strict=True,
        )
        matches = []
        for session, position, address in rows:
            number, (idx, _) = int(session or 0), unpack_position(int(position or 0))
            if (similarity := similarities.get((number, idx))) is not None:
                matches.append(Match(similarity, number, address))
        return sorted(matches, key=lambda match: -match.score)

    def _message(self, session: int, idx: int | None) -> Query:
        position = pack_position(idx, None)
        in_session = Query.term_query(self._schema, "session", session, "basic")
        at_position = self._range("place", position, position)
        return Query.boolean_query([(Occur.Must, in_session), (Occur.Must, at_position)])

    def _scope(self, searcher: tantivy.Searcher, filters: Filters) -> Scope:
        """Which vectors to compare. `_located` then applies the filters exactly."""
        sessions = self._sessions_in(searcher, filters)
        return Scope(
            sessions=None if sessions is None else frozenset(sessions),
            agent=None if filters.source is None else agent_number(filters.source),
            role=ROLES.index(filters.role) if filters.role in ROLES else None,
            since=None if filters.since is None else microseconds(filters.since),
            until=None if filters.until is None else microseconds(filters.until),
        )


def goes_by_meaning(clauses: Sequence[Clause]) -> bool:
    """Whether a query with these clauses is also searched by meaning."""
    return bool(clauses) and not ranking.is_look_up(clauses)


def _any(queries: Sequence[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, each) for each in queries])


def _by_session(matches: Sequence[Match]) -> Matches:
    by_session: Matches = {}
    for match in matches:
        by_session.setdefault(match.session, []).append(match)
    return by_session


def _session_scores(matches: Matches) -> dict[int, float]:
    return {
        session: sum(
            weight * match.score for weight, match in zip(ranking.WEIGHTS, group, strict=False)
        )
        for session, group in matches.items()
    }


def _joined(similar: Matches, with_words: Matches) -> Matches:
    """The passages of each session: first the most similar one, then those with words."""
    joined: Matches = {}
    for session in {**similar, **with_words}:
        candidates = [*similar.get(session, [])[:1], *with_words.get(session, [])]
        candidates += similar.get(session, [])[1:]
        unique = {(each.address.segment_ord, each.address.doc): each for each in candidates}
        joined[session] = list(unique.values())
    return joined


def _first_of_each(
    sessions: Sequence[int],
    matches: Matches,
    scores: Mapping[int, float],
    limit: int,
    most: int,
) -> list[Match]:
    """At most `limit` passages, session by session, and at most `most` of each."""
    best = [
        match._replace(score=scores.get(session, 0.0))
        for session in sessions
        for match in matches[session][:most]
    ]
    return best[:limit]
