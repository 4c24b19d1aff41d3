"""Searching. Reads the full-text only, so that nothing that writes can stand in its way."""

from __future__ import annotations

from tantivy import FieldType, Occur, Query

from navi.domain.instants import from_microseconds, microseconds
from navi.domain.light_typing import NamedTuple
from navi.domain.secrets import mask
from navi.index.catalogue import card_in
from navi.index.file_paths import is_same_file, path_term, shorter_ends
from navi.index.identity import call_id, message_id
from navi.index.opening import (
    KINDS,
    agent_number,
    id_of,
    named,
    number_of,
    opened_for_reading,
    read_place,
    read_what,
    what_of,
)
from navi.index.query import build, read_query
from navi.index.snippets import snippet
from navi.index.words import encodable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

    import tantivy

    from navi.index.places import Places
    from navi.index.query import Clause
    from navi.index.snippets import Snippet


class Filters(NamedTuple):
    source: str | None = None
    tool: str | None = None
    project: str | None = None
    """Part of a project's path."""
    since: datetime | None = None
    role: str | None = None
    session: str | None = None
    """An id, the beginning of one, or the source's own id."""
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
    """None if its agent can't take it up again."""
    idx: int | None
    score: float
    snippet: Snippet


class Found(NamedTuple):
    hits: list[Hit]
    has_all_words: bool
    """False if no text has all of them, and the hits have some."""


class Search:
    """An open index. `reload` shows what was committed since."""

    def __init__(self, places: Places) -> None:
        self._index = opened_for_reading(places)
        self._schema = self._index.schema

    def reload(self) -> None:
        self._index.reload()

    @property
    def count(self) -> int:
        return self._index.searcher().num_docs

    @property
    def segments(self) -> int:
        return self._index.searcher().num_segments

    def find(self, text: str, filters: Filters = EVERYTHING, limit: int = 20) -> Found:
        clauses = read_query(text)
        searcher = self._index.searcher()
        wanted = self._filters(searcher, filters)
        if not clauses:
            if filters.file is None:
                return Found([], True)
            return Found(self._touches(searcher, filters.file, wanted, limit), True)
        hits = self._hits(searcher, clauses, wanted, limit, needs_all=True)
        if hits or sum(not clause.is_excluded for clause in clauses) < 2:
            return Found(hits, True)
        return Found(self._hits(searcher, clauses, wanted, limit, needs_all=False), False)

    def _hits(
        self,
        searcher: tantivy.Searcher,
        clauses: list[Clause],
        wanted: list[Query],
        limit: int,
        *,
        needs_all: bool,
    ) -> list[Hit]:
        every_text = self._range("what", 0, None)
        query = build(self._schema, clauses, every_text, needs_all=needs_all)
        if wanted:
            # A filter says yes or no; it must not count as a match.
            filters = [(Occur.Must, Query.const_score_query(each, 0.0)) for each in wanted]
            query = Query.boolean_query([(Occur.Must, query), *filters])
        found = searcher.search(query, limit, count=False).hits
        return self._shown(searcher, found, clauses)

    def _touches(
        self, searcher: tantivy.Searcher, file: str, wanted: list[Query], limit: int
    ) -> list[Hit]:
        """The calls that touched the file, newest first."""
        touched = self._touching(searcher, file)
        query = Query.boolean_query([(Occur.Must, each) for each in (touched, *wanted)])
        newest = searcher.search(query, limit, count=False, order_by_field="at").hits
        return self._shown(searcher, [(0.0, address) for _, address in newest], [])

    def _shown(
        self, searcher: tantivy.Searcher, found: list[Any], clauses: list[Clause]
    ) -> list[Hit]:
        addresses = [address for _, address in found]
        numbers = [
            searcher.fast_field_values(name, addresses)
            for name in ("session", "place", "what", "at")
        ]
        cards: dict[str, dict[str, Any]] = {}
        hits = []
        for (score, address), row in zip(found, zip(*numbers, strict=True), strict=True):
            session = id_of(int(row[0] or 0))
            if session not in cards:
                cards[session] = self._card(searcher, session)
            hits.append(_hit(session, row, cards[session], searcher.doc(address), score, clauses))
        return hits

    def _filters(self, searcher: tantivy.Searcher, filters: Filters) -> list[Query]:
        found: list[Query] = []
        if filters.source is not None:
            number = agent_number(filters.source)
            found.append(self._range("agent", number, number))
        if filters.role is not None:
            first = what_of(filters.role, KINDS[0])
            found.append(self._range("what", first, first + len(KINDS) - 1))
        if filters.since is not None:
            found.append(self._range("at", microseconds(filters.since), None, FieldType.Integer))
        if filters.tool is not None:
            tool = filters.tool.lower()
            tools = named(searcher, "tool", lambda name: name.lower() == tool)
            found.append(Query.term_set_query(self._schema, "tool", tools))
        if filters.project is not None:
            part = filters.project.rstrip("/") or "/"
            projects = named(searcher, "project", lambda name: part in name)
            found.append(self._of_sessions(searcher, "project", projects))
        if filters.session is not None:
            wanted = encodable(filters.session)
            ids = named(searcher, "card", lambda _: True, wanted.lower())
            numbers = [number_of(each) for each in ids]
            by_id = Query.term_set_query(self._schema, "session", numbers)
            by_source = self._of_sessions(searcher, "source_session", [wanted])
            found.append(Query.boolean_query([(Occur.Should, by_id), (Occur.Should, by_source)]))
        if filters.file is not None:
            numbers = self._sessions(searcher, self._touching(searcher, filters.file))
            found.append(Query.term_set_query(self._schema, "session", numbers))
        return found

    def _touching(self, searcher: tantivy.Searcher, file: str) -> Query:
        """The texts of calls that name the file, by whatever end of its path."""
        wanted = path_term(encodable(file))
        if wanted is None:
            return Query.empty_query()
        longer = [name for name, _ in searcher.terms_with_prefix("file", wanted)]
        choices = [Query.term_set_query(self._schema, "file", longer)]
        for shorter in shorter_ends(wanted):
            # The rest of the path may be the folder that its session worked in.
            named_so = Query.term_query(self._schema, "file", shorter, "basic")
            numbers = [
                number
                for number in self._sessions(searcher, named_so)
                if is_same_file(shorter, self._folder(searcher, number), wanted)
            ]
            if numbers:
                there = Query.term_set_query(self._schema, "session", numbers)
                both = Query.boolean_query([(Occur.Must, named_so), (Occur.Must, there)])
                choices.append(both)
        return Query.boolean_query([(Occur.Should, each) for each in choices])

    def _sessions(self, searcher: tantivy.Searcher, texts: Query) -> list[int]:
        """Whose texts they are, each once."""
        found = searcher.search(texts, max(1, searcher.num_docs), count=False).hits
        numbers = searcher.fast_field_values("session", [address for _, address in found])
        return list(dict.fromkeys(int(number or 0) for number in numbers))

    def _folder(self, searcher: tantivy.Searcher, session: int) -> str:
        return str(self._card(searcher, id_of(session)).get("cwd") or "")

    def _of_sessions(self, searcher: tantivy.Searcher, field: str, names: list[str]) -> Query:
        """The texts of the sessions on whose card one of the names stands."""
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
    score: float,
    clauses: list[Clause],
) -> Hit:
    _, place, what, at = numbers
    idx, call = read_place(place)
    role, kind = read_what(what)
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
        score=score,
        snippet=snippet(mask((document.get_first("said") or b"").decode()), clauses),
    )
