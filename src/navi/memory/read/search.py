"""Searches the full text. Reads only the full-text folder, so no writer can block it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from tantivy import FieldType, Occur, Query

from navi.base.secrets.masking import mask
from navi.base.timestamps import from_microseconds, microseconds
from navi.memory.file_paths import is_same_file, path_term, shorter_ends
from navi.memory.read.full_text import (
    KINDS,
    agent_number,
    id_of,
    number_of,
    open_for_reading,
    pack_kind,
    pack_position,
    terms,
    unpack_kind,
    unpack_position,
)
from navi.memory.read.query import Clause, build, read_query
from navi.memory.read.session_list import card_in, projects_matching, total_of
from navi.memory.read.snippets import Snippet, snippet
from navi.memory.record_ids import call_id, message_id
from navi.memory.words import encodable

if TYPE_CHECKING:
    import tantivy

    from navi.memory.index_paths import Places


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
    """A path, or the end of one: only sessions in which a tool touched that file."""


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
    resume_command: list[str] | None
    """None if its agent can't resume it."""
    idx: int | None
    """The message's number; for a command outside every message, that of the message before it."""
    score: float
    """0 if the hits are sorted by date."""
    snippet: Snippet


class Passage(NamedTuple):
    """A message near a hit."""

    idx: int
    role: str | None
    text: str


class SearchResult(NamedTuple):
    hits: list[Hit]
    has_all_words: bool
    """False if no text has all the words, so that the hits have only some of them."""


class Search:
    """An open index. Call `reload` to see later commits."""

    def __init__(self, places: Places) -> None:
        self._index = open_for_reading(places)
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
        """The best hits first, or the newest; without a limit, all of them."""
        clauses = read_query(text)
        searcher = self._index.searcher()
        filter_queries = self._filter_queries(searcher, filters, has_words=bool(clauses))
        if not clauses and filters.file is None:
            return SearchResult([], True)
        limit = limit or max(1, searcher.num_docs)
        query = self._query(clauses, filter_queries, needs_all=True)
        # A search for only a file has no words to rank by.
        by_date = by_date or not clauses
        hits = self._hits(searcher, query, clauses, limit, by_date)
        if hits or sum(not clause.is_excluded for clause in clauses) < 2:
            return SearchResult(hits, True)
        query = self._query(clauses, filter_queries, needs_all=False)
        return SearchResult(self._hits(searcher, query, clauses, limit, by_date), False)

    def total(self, text: str, filters: Filters = EVERYTHING, *, has_all_words: bool = True) -> int:
        """How many passages match all the words, or some of them."""
        clauses = read_query(text)
        if not clauses and filters.file is None:
            return 0
        searcher = self._index.searcher()
        filter_queries = self._filter_queries(searcher, filters, has_words=bool(clauses))
        query = self._query(clauses, filter_queries, needs_all=has_all_words)
        return total_of(searcher, query)

    def has_session(self, name: str) -> bool:
        """Whether `Filters.session` matches any session."""
        searcher = self._index.searcher()
        return bool(searcher.search(self._session_named(searcher, name), 1, count=False).hits)

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
                (Occur.Must, self._session(hit.session_id)),
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
        for position, what, address in numbers:
            idx, _ = unpack_position(int(position or 0))
            role, kind = unpack_kind(int(what or 0))
            if kind == "content" and idx is not None and idx != hit.idx:
                passages.append(Passage(idx, role, mask(_text_of(searcher.doc(address)))))
        return sorted(passages, key=lambda passage: passage.idx)

    def _query(self, clauses: list[Clause], filters: list[Query], *, needs_all: bool) -> Query:
        every_text = self._range("what", 0, None)
        query = build(self._schema, clauses, every_text, needs_all=needs_all)
        if not filters:
            return query
        # Filters must not add to the score.
        unscored_filters = [(Occur.Must, Query.const_score_query(each, 0.0)) for each in filters]
        return Query.boolean_query([(Occur.Must, query), *unscored_filters])

    def _hits(
        self,
        searcher: tantivy.Searcher,
        query: Query,
        clauses: list[Clause],
        limit: int,
        by_date: bool,
    ) -> list[Hit]:
        order = "at" if by_date else None
        matches = searcher.search(query, limit, count=False, order_by_field=order).hits
        addresses = [address for _, address in matches]
        numbers = [
            searcher.fast_field_values(name, addresses)
            for name in ("session", "place", "what", "at")
        ]
        cards: dict[str, dict[str, Any]] = {}
        hits = []
        for (score, address), row in zip(matches, zip(*numbers, strict=True), strict=True):
            session = id_of(int(row[0] or 0))
            if session not in cards:
                cards[session] = self._card(searcher, session)
            hit = _hit(session, row, cards[session], searcher.doc(address), clauses)
            if hit.idx is None and hit.timestamp is not None:
                hit = hit._replace(idx=self._message_before(searcher, session, hit.timestamp))
            hits.append(hit if by_date else hit._replace(score=score))
        return hits

    def _message_before(
        self, searcher: tantivy.Searcher, session: str, moment: datetime
    ) -> int | None:
        queries = [
            self._session(session),
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
        """`file` selects the calls that touched it; if there are words, those calls' sessions."""
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
            queries.append(self._texts_of_sessions(searcher, "project", projects))
        if filters.session is not None:
            queries.append(self._session_named(searcher, filters.session))
        if filters.file is not None:
            calls = self._calls_on_file(searcher, filters.file)
            if has_words:
                numbers = self._sessions(searcher, calls)
                queries.append(Query.term_set_query(self._schema, "session", numbers))
            else:
                queries.append(calls)
        return queries

    def _session_named(self, searcher: tantivy.Searcher, name: str) -> Query:
        prefix = encodable(name)
        ids = terms(searcher, "card", prefix.lower())
        source_ids = terms(searcher, "source_session", prefix)
        by_id = Query.term_set_query(self._schema, "session", [number_of(each) for each in ids])
        by_source = self._texts_of_sessions(searcher, "source_session", source_ids)
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
                for number in self._sessions(searcher, by_name)
                if is_same_file(shorter, self._folder(searcher, number), term)
            ]
            if numbers:
                in_sessions = Query.term_set_query(self._schema, "session", numbers)
                choices.append(
                    Query.boolean_query([(Occur.Must, by_name), (Occur.Must, in_sessions)])
                )
        return Query.boolean_query([(Occur.Should, each) for each in choices])

    def _sessions(self, searcher: tantivy.Searcher, texts: Query) -> list[int]:
        """The sessions of these texts, each once."""
        hits = searcher.search(texts, max(1, searcher.num_docs), count=False).hits
        numbers = searcher.fast_field_values("session", [address for _, address in hits])
        return list(dict.fromkeys(int(number or 0) for number in numbers))

    def _folder(self, searcher: tantivy.Searcher, session: int) -> str:
        return str(self._card(searcher, id_of(session)).get("cwd") or "")

    def _session(self, id: str) -> Query:
        return Query.term_query(self._schema, "session", number_of(id), "basic")

    def _texts_of_sessions(self, searcher: tantivy.Searcher, field: str, names: list[str]) -> Query:
        """The texts of the sessions that have one of the names on their card."""
        cards = Query.term_set_query(self._schema, field, names)
        return Query.term_set_query(self._schema, "session", self._sessions(searcher, cards))

    def _range(
        self, field: str, low: int | None, high: int | None, kind: FieldType = FieldType.Unsigned
    ) -> Query:
        return Query.range_query(self._schema, field, kind, low, high)

    def _card(self, searcher: tantivy.Searcher, session: str) -> dict[str, Any]:
        query = Query.term_query(self._schema, "card", session, "basic")
        for _, address in searcher.search(query, 1, count=False).hits:
            return card_in(searcher.doc(address))
        return {}


def _hit(
    session: str,
    numbers: Sequence[Any],
    card: dict[str, Any],
    document: tantivy.Document,
    clauses: list[Clause],
) -> Hit:
    _, position, what, at = numbers
    idx, call = unpack_position(position)
    role, kind = unpack_kind(what)
    return Hit(
        session_id=session,
        source=card.get("source", ""),
        source_session_id=card.get("source_session_id"),
        message_id=None if idx is None else message_id(session, idx),
        tool_call_id=None if call is None else call_id(session, idx, call),
        kind=kind,
        role=role,
        tool_name=document.get_first("tool") if kind in ("bash", "file") else None,
        timestamp=None if at is None else from_microseconds(at),
        project=card.get("project"),
        cwd=card.get("cwd"),
        title=card.get("title"),
        resume_command=card.get("resume_command"),
        idx=idx,
        score=0.0,
        snippet=snippet(mask(_text_of(document)), clauses),
    )


def _text_of(document: tantivy.Document) -> str:
    text: bytes = document.get_first("said") or b""
    return text.decode()
