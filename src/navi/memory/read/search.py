"""Searches the full text. Reads only the full-text folder, so no writer can block it."""

from __future__ import annotations

from collections.abc import Container, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from tantivy import FieldType, Occur, Query

from navi.base.secrets.masking import mask
from navi.base.timestamps import from_microseconds, microseconds
from navi.memory.file_paths import is_same_file, path_term, shorter_ends
from navi.memory.read import ranking
from navi.memory.read.full_text import (
    CALL_KINDS,
    FAILED,
    FAILURES,
    KINDS,
    agent_number,
    id_of,
    number_of,
    open_for_reading,
    pack_kind,
    pack_position,
    terms,
    turn_term,
    unpack_kind,
    unpack_position,
)
from navi.memory.read.query import Clause, build_query, read_query
from navi.memory.read.ranking import Match
from navi.memory.read.session_list import (
    card_in,
    hosts_matching,
    is_here,
    projects_matching,
    total_of,
)
from navi.memory.read.snippets import Snippet, snippet
from navi.memory.record_ids import call_id, message_id
from navi.memory.words import encodable

if TYPE_CHECKING:
    import tantivy

    from navi.base.errors import NaviError
    from navi.memory.index_paths import IndexPaths


class Filters(NamedTuple):
    source: str | None = None
    tool: str | None = None
    project: str | None = None
    """Part of a project's path; with a slash at the end, that folder and those below it."""
    since: datetime | None = None
    role: str | None = None
    session: str | None = None
    """Our id or the agent's, or the start of one."""
    until: datetime | None = None
    """Exclusive."""
    file: str | None = None
    """A path, or the end of one, of a file that a tool touched in the session."""
    host: str | None = None
    """The name of the machine that the session is from; `here` is this one."""
    origin: str | None = None
    """Only sessions with a turn of this `PastTurn.origin`."""
    outcome: str | None = None
    """Only sessions with a turn that ended like this; with `origin`, the same turn. `failed` is any
    of `FAILURES`."""


EVERYTHING = Filters()


class Hit(NamedTuple):
    session_id: str
    source: str
    source_session_id: str | None
    message_id: str | None
    tool_call_id: str | None
    kind: str
    role: str | None
    tool_name: str | None
    timestamp: datetime | None
    project: str | None
    cwd: str | None
    title: str | None
    host: str | None
    """The name of the machine that the session is from; None for this one."""
    resume_command: list[str] | None
    """None if the session can't be resumed."""
    idx: int | None
    """The message's number; for a call outside messages, that of the message before it, if any."""
    score: float
    """0 if the hits are sorted by date."""
    has_all_words: bool
    snippet: Snippet


class Passage(NamedTuple):
    """A message near a hit."""

    idx: int
    role: str | None
    text: str


class SearchResult(NamedTuple):
    hits: list[Hit]
    has_all_words: bool
    """False if no text has all the words, so the hits have only some of them. If some texts have
    all of them, those that don't come last."""
    goes_by_meaning: bool = False
    """Whether hits without all of the words may match by their meaning alone."""
    problem: NaviError | None = None
    """Why the search used words alone, although it was meant to use meaning too."""


class Search:
    """An open index. Call `reload` to see later commits."""

    def __init__(self, paths: IndexPaths) -> None:
        self._paths = paths
        self._index = open_for_reading(paths)
        self._schema = self._index.schema

    def reload(self) -> None:
        self._index.reload()

    @property
    def count(self) -> int:
        return self._index.searcher().num_docs

    @property
    def segments(self) -> int:
        return self._index.searcher().num_segments

    def find(
        self,
        text: str,
        filters: Filters = EVERYTHING,
        limit: int | None = 20,
        *,
        by_date: bool = False,
    ) -> SearchResult:
        """The hits of the best session first; if `by_date`, the newest hit first.

        At most `limit` hits; if it is None, every text with all of the words. If few sessions have
        all of the words, sessions with some of them come last.
        """
        clauses = read_query(text)
        searcher = self._index.searcher()
        filter_queries = self._filter_queries(searcher, filters, has_words=bool(clauses))
        if not clauses and filters.file is None:
            return SearchResult([], True)
        most = limit or max(1, searcher.num_docs)
        query = self._query(clauses, filter_queries, needs_all=True)
        # A search for only a file has no words to rank by.
        by_date = by_date or not clauses
        matches = self._matches(searcher, query, clauses, most, by_date)
        hits = self._hits(searcher, matches, clauses)
        word_count = sum(not clause.is_excluded for clause in clauses)
        if word_count < 2:
            return SearchResult(hits, True)
        if not hits:
            query = self._query(clauses, filter_queries, needs_all=False)
            matches = self._matches(searcher, query, clauses, most, by_date)
            hits = self._hits(searcher, matches, clauses, has_all_words=False)
            return SearchResult(hits, False)
        if limit is not None and not by_date and not ranking.is_look_up(clauses):
            sessions = {match.session for match in matches}
            free = min(limit - len(hits), ranking.ENOUGH_SESSIONS - len(sessions))
            if free > 0:
                query = self._query(
                    clauses, filter_queries, needs_all=False, fewest=(word_count + 1) // 2
                )
                others = self._matches(searcher, query, clauses, free, sessions=sessions)
                hits += self._hits(searcher, others, clauses, has_all_words=False)
        return SearchResult(hits, True)

    def total(self, text: str, filters: Filters = EVERYTHING, *, has_all_words: bool = True) -> int:
        """How many texts match all the words, or at least one if not `has_all_words`."""
        clauses = read_query(text)
        if not clauses and filters.file is None:
            return 0
        searcher = self._index.searcher()
        filter_queries = self._filter_queries(searcher, filters, has_words=bool(clauses))
        query = self._query(clauses, filter_queries, needs_all=has_all_words)
        return total_of(searcher, query)

    def has_session(self, name: str) -> bool:
        """Whether `name`, as `Filters.session`, matches any session."""
        searcher = self._index.searcher()
        return bool(
            searcher.search(self._texts_by_session_prefix(searcher, name), 1, count=False).hits
        )

    def around(self, hit: Hit, count: int) -> list[Passage]:
        """Up to `count` messages before the hit's message and as many after it, in order."""
        if hit.idx is None:
            return []
        searcher = self._index.searcher()
        first, last = (
            pack_position(max(0, hit.idx - count), None),
            pack_position(hit.idx + count + 1, None),
        )
        query = Query.boolean_query(
            [
                (Occur.Must, self._texts_of_session(hit.session_id)),
                (Occur.Must, self._range("place", first, last - 1)),
            ]
        )
        hits = searcher.search(query, max(1, searcher.num_docs), count=False).hits
        addresses = [address for _, address in hits]
        numbers = zip(
            searcher.fast_field_values("place", addresses),
            searcher.fast_field_values("what", addresses),
            addresses,
            strict=True,
        )
        passages = []
        for position, packed_kind, address in numbers:
            idx, _ = unpack_position(int(position or 0))
            role, kind = unpack_kind(int(packed_kind or 0))
            if kind == "content" and idx is not None and idx != hit.idx:
                passages.append(Passage(idx, role, mask(_text_of(searcher.doc(address)))))
        return sorted(passages, key=lambda passage: passage.idx)

    def _query(
        self,
        clauses: list[Clause],
        filters: list[Query],
        *,
        needs_all: bool,
        fewest: int | None = None,
    ) -> Query:
        every_text = self._range("what", 0, None)
        query = build_query(self._schema, clauses, every_text, needs_all=needs_all, fewest=fewest)
        if not filters:
            return query
        # Filters must not add to the score.
        unscored_filters = [(Occur.Must, Query.const_score_query(each, 0.0)) for each in filters]
        return Query.boolean_query([(Occur.Must, query), *unscored_filters])

    def _matches(
        self,
        searcher: tantivy.Searcher,
        query: Query,
        clauses: list[Clause],
        limit: int,
        by_date: bool = False,
        sessions: Container[int] | None = None,
    ) -> list[Match]:
        """The best matches, ranked; if `by_date`, the newest.

        If there are `sessions`, one match for each session that is not among them.
        """
        order = "at" if by_date else None
        most = limit if by_date else min(ranking.candidates(limit), max(1, searcher.num_docs))
        top = searcher.search(query, most, count=False, order_by_field=order).hits
        numbers = searcher.fast_field_values("session", [address for _, address in top])
        matches = [
            Match(0.0 if by_date else score, int(number or 0), address)
            for (score, address), number in zip(top, numbers, strict=True)
        ]
        if by_date:
            return matches
        if sessions is not None:
            return ranking.best_of_others(matches, sessions, limit)
        weights = ranking.LOOK_UP_WEIGHTS if ranking.is_look_up(clauses) else ranking.WEIGHTS
        return ranking.ranked(matches, limit, weights)

    def _hits(
        self,
        searcher: tantivy.Searcher,
        matches: Sequence[Match],
        clauses: list[Clause],
        *,
        has_all_words: bool = True,
    ) -> list[Hit]:
        addresses = [match.address for match in matches]
        numbers = [searcher.fast_field_values(name, addresses) for name in ("place", "what", "at")]
        cards: dict[str, dict[str, Any]] = {}
        hits = []
        for match, row in zip(matches, zip(*numbers, strict=True), strict=True):
            session_id = id_of(match.session)
            if session_id not in cards:
                cards[session_id] = self._card(searcher, session_id)
            document = searcher.doc(match.address)
            hit = _hit(session_id, row, cards[session_id], document, clauses)
            if hit.idx is None and hit.timestamp is not None:
                hit = hit._replace(idx=self._message_before(searcher, session_id, hit.timestamp))
            hits.append(hit._replace(score=match.score, has_all_words=has_all_words))
        return hits

    def _message_before(
        self, searcher: tantivy.Searcher, session_id: str, moment: datetime
    ) -> int | None:
        queries = [
            self._texts_of_session(session_id),
            self._range("place", pack_position(0, None), None),
            self._range("at", None, microseconds(moment), FieldType.Integer),
        ]
        query = Query.boolean_query([(Occur.Must, each) for each in queries])
        hits = searcher.search(query, 1, count=False, order_by_field="at").hits
        positions = searcher.fast_field_values("place", [address for _, address in hits])
        return unpack_position(int(positions[0] or 0))[0] if positions else None

    def _filter_queries(
        self, searcher: tantivy.Searcher, filters: Filters, *, has_words: bool
    ) -> list[Query]:
        """A query for each filter. `file` selects the calls that touched the file; in a search for
        words, all texts of those calls' sessions."""
        queries: list[Query] = []
        if filters.source is not None:
            number = agent_number(filters.source)
            queries.append(self._range("agent", number, number))
        if filters.role is not None:
            first = pack_kind(filters.role, KINDS[0])
            queries.append(self._range("what", first, first + len(KINDS) - 1))
        if filters.since is not None or filters.until is not None:
            since = None if filters.since is None else microseconds(filters.since)
            until = None if filters.until is None else microseconds(filters.until) - 1
            queries.append(self._range("at", since, until, FieldType.Integer))
        if filters.tool is not None:
            tool = filters.tool.lower()
            tools = [each for each in terms(searcher, "tool") if each.lower() == tool]
            queries.append(Query.term_set_query(self._schema, "tool", tools))
        if filters.project is not None:
            projects = projects_matching(searcher, filters.project)
            queries.append(self._texts_by_card(searcher, "project", projects))
        if filters.host is not None:
            queries.append(self._texts_of_host(searcher, filters.host))
        if filters.origin is not None or filters.outcome is not None:
            queries.append(self._texts_by_card(searcher, "turn", _turns(filters)))
        if filters.session is not None:
            queries.append(self._texts_by_session_prefix(searcher, filters.session))
        if filters.file is not None:
            calls = self._calls_on_file(searcher, filters.file)
            if has_words:
                numbers = self._session_numbers(searcher, calls)
                queries.append(Query.term_set_query(self._schema, "session", numbers))
            else:
                queries.append(calls)
        return queries

    def _sessions_in(self, searcher: tantivy.Searcher, filters: Filters) -> set[int] | None:
        """The numbers of the sessions that the filters select; None for all.

        Reads only cards and calls: a project may have a million texts.
        """
        selections: list[set[int]] = []
        if filters.project is not None:
            projects = projects_matching(searcher, filters.project)
            selections.append(self._sessions_by_card(searcher, "project", projects))
        if filters.host is not None:
            selections.append(self._sessions_of_host(searcher, filters.host))
        if filters.origin is not None or filters.outcome is not None:
            selections.append(self._sessions_by_card(searcher, "turn", _turns(filters)))
        if filters.session is not None:
            prefix = encodable(filters.session)
            source_ids = terms(searcher, "source_session", prefix)
            by_source = self._sessions_by_card(searcher, "source_session", source_ids)
            selections.append(
                {*map(number_of, terms(searcher, "card", prefix.lower()))} | by_source
            )
        if filters.file is not None:
            calls = self._calls_on_file(searcher, filters.file)
            selections.append(set(self._session_numbers(searcher, calls)))
        return set.intersection(*selections) if selections else None

    def _sessions_of_host(self, searcher: tantivy.Searcher, name: str) -> set[int]:
        if not is_here(self._paths, name):
            return self._sessions_by_card(searcher, "host", hosts_matching(searcher, name))
        elsewhere = self._sessions_by_card(searcher, "host", terms(searcher, "host"))
        return {*map(number_of, terms(searcher, "card"))} - elsewhere

    def _texts_of_host(self, searcher: tantivy.Searcher, name: str) -> Query:
        if not is_here(self._paths, name):
            return self._texts_by_card(searcher, "host", hosts_matching(searcher, name))
        elsewhere = self._texts_by_card(searcher, "host", terms(searcher, "host"))
        return Query.boolean_query([(Occur.Must, Query.all_query()), (Occur.MustNot, elsewhere)])

    def _texts_by_session_prefix(self, searcher: tantivy.Searcher, prefix: str) -> Query:
        prefix = encodable(prefix)
        ids = terms(searcher, "card", prefix.lower())
        source_ids = terms(searcher, "source_session", prefix)
        by_id = Query.term_set_query(self._schema, "session", [number_of(each) for each in ids])
        by_source = self._texts_by_card(searcher, "source_session", source_ids)
        return Query.boolean_query([(Occur.Should, by_id), (Occur.Should, by_source)])

    def _calls_on_file(self, searcher: tantivy.Searcher, file: str) -> Query:
        """The texts of calls that name the file by any end of its path."""
        term = path_term(encodable(file))
        if term is None:
            return Query.empty_query()
        choices = [Query.term_set_query(self._schema, "file", terms(searcher, "file", term))]
        for shorter in shorter_ends(term):
            # The rest of the path may be the session's folder.
            by_name = Query.term_query(self._schema, "file", shorter, "basic")
            numbers = [
                number
                for number in self._session_numbers(searcher, by_name)
                if is_same_file(shorter, self._folder(searcher, number), term)
            ]
            if numbers:
                in_sessions = Query.term_set_query(self._schema, "session", numbers)
                choices.append(
                    Query.boolean_query([(Occur.Must, by_name), (Occur.Must, in_sessions)])
                )
        return Query.boolean_query([(Occur.Should, each) for each in choices])

    def _session_numbers(self, searcher: tantivy.Searcher, texts: Query) -> list[int]:
        """The numbers of these texts' sessions, each once."""
        hits = searcher.search(texts, max(1, searcher.num_docs), count=False).hits
        numbers = searcher.fast_field_values("session", [address for _, address in hits])
        return list(dict.fromkeys(int(number or 0) for number in numbers))

    def _folder(self, searcher: tantivy.Searcher, session_number: int) -> str:
        return str(self._card(searcher, id_of(session_number)).get("cwd") or "")

    def _texts_of_session(self, session_id: str) -> Query:
        return Query.term_query(self._schema, "session", number_of(session_id), "basic")

    def _texts_by_card(self, searcher: tantivy.Searcher, field: str, values: list[str]) -> Query:
        """The texts of the sessions whose card has one of `values` in `field`."""
        numbers = self._sessions_by_card(searcher, field, values)
        return Query.term_set_query(self._schema, "session", list(numbers))

    def _sessions_by_card(
        self, searcher: tantivy.Searcher, field: str, values: list[str]
    ) -> set[int]:
        cards = Query.term_set_query(self._schema, field, values)
        return set(self._session_numbers(searcher, cards))

    def _range(
        self, field: str, low: int | None, high: int | None, kind: FieldType = FieldType.Unsigned
    ) -> Query:
        return Query.range_query(self._schema, field, kind, low, high)

    def _card(self, searcher: tantivy.Searcher, session_id: str) -> dict[str, Any]:
        query = Query.term_query(self._schema, "card", session_id, "basic")
        for _, address in searcher.search(query, 1, count=False).hits:
            return card_in(searcher.doc(address))
        return {}


def _turns(filters: Filters) -> list[str]:
    """The turns that `origin` and `outcome` select."""
    outcomes = FAILURES if filters.outcome == FAILED else [filters.outcome]
    return [turn_term(filters.origin, outcome) for outcome in outcomes]


def _hit(
    session_id: str,
    numbers: Sequence[Any],
    card: dict[str, Any],
    document: tantivy.Document,
    clauses: list[Clause],
) -> Hit:
    position, packed_kind, at = numbers
    idx, call = unpack_position(position)
    role, kind = unpack_kind(packed_kind)
    return Hit(
        session_id=session_id,
        source=card.get("source", ""),
        source_session_id=card.get("source_session_id"),
        message_id=None if idx is None else message_id(session_id, idx),
        tool_call_id=None if call is None else call_id(session_id, idx, call),
        kind=kind,
        role=role,
        tool_name=document.get_first("tool") if kind in CALL_KINDS else None,
        timestamp=None if at is None else from_microseconds(at),
        project=card.get("project"),
        cwd=card.get("cwd"),
        title=card.get("title"),
        host=card.get("host"),
        resume_command=card.get("resume_command"),
        idx=idx,
        score=0.0,
        has_all_words=True,
        snippet=snippet(mask(_text_of(document)), clauses),
    )


def _text_of(document: tantivy.Document) -> str:
    text: bytes = document.get_first("said") or b""
    return text.decode()
