"""Searching. Reads the full-text only, so that nothing that writes can stand in its way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import tantivy
from tantivy import FieldType, Occur, Query

from navi.index import texts
from navi.index.columns import from_microseconds, microseconds
from navi.index.errors import IndexUnusable, NoIndex
from navi.index.identity import call_id, message_id
from navi.index.places import Places
from navi.index.query import Clause, build, read_query
from navi.index.snippets import Snippet, snippet
from navi.index.texts import ORPHAN

ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Filters:
    source: str | None = None
    tool: str | None = None
    project: str | None = None
    """Part of a project's path."""
    since: datetime | None = None
    role: str | None = None
    session: str | None = None
    """An id, the beginning of one, or the source's own id."""


EVERYTHING = Filters()


@dataclass(frozen=True, slots=True)
class Hit:
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
    idx: int | None
    score: float
    snippet: Snippet


@dataclass(frozen=True, slots=True)
class Found:
    hits: list[Hit]
    has_all_words: bool
    """False if no text has all of them, and the hits have some."""


class Search:
    """An open index. `reload` shows what was committed since."""

    def __init__(self, places: Places) -> None:
        self._index = _opened(places)
        self._schema = self._index.schema

    def reload(self) -> None:
        self._index.reload()

    def find(self, text: str, filters: Filters = EVERYTHING, limit: int = 20) -> Found:
        clauses = read_query(text)
        searcher = self._index.searcher()
        wanted = self._filters(searcher, filters)
        if wanted is None or not clauses:
            return Found([], True)
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
        query = build(self._schema, clauses, needs_all=needs_all)
        assert query is not None
        if wanted:
            # A filter says yes or no; it must not count as a match.
            query = Query.boolean_query(
                [
                    (Occur.Must, query),
                    *((Occur.Must, Query.const_score_query(each, 0.0)) for each in wanted),
                ]
            )
        found = searcher.search(query, limit, count=False)
        return [
            _hit(searcher.doc(address).to_dict(), score, clauses) for score, address in found.hits
        ]

    def _filters(self, searcher: tantivy.Searcher, filters: Filters) -> list[Query] | None:
        """None if they leave nothing."""
        found: list[Query] = []
        for field, value in (
            ("source", filters.source),
            ("role", filters.role),
            ("tool", None if filters.tool is None else filters.tool.lower()),
        ):
            if value is not None:
                found.append(Query.term_query(self._schema, field, value, "basic"))
        if filters.since is not None:
            found.append(
                Query.range_query(
                    self._schema, "at", FieldType.Integer, microseconds(filters.since), None
                )
            )
        if filters.project is not None:
            part = filters.project.rstrip("/") or "/"
            names = [name for name, _ in searcher.terms_with_prefix("project", "") if part in name]
            if not names:
                return None
            found.append(Query.term_set_query(self._schema, "project", names))
        if filters.session is not None:
            sessions = [name for name, _ in searcher.terms_with_prefix("session", filters.session)]
            choices = [(Occur.Should, self._name("source_session", filters.session))]
            choices += [(Occur.Should, self._name("session", each)) for each in sessions[:100]]
            found.append(Query.boolean_query(choices))
        return found

    def _name(self, field: str, value: str) -> Query:
        return Query.term_query(self._schema, field, value, "basic")


def _opened(places: Places) -> tantivy.Index:
    if not places.texts.exists() and not places.database.exists():
        raise NoIndex
    for attempt in range(ATTEMPTS):
        try:
            return texts.opened(places.texts)
        except (ValueError, OSError) as error:
            # The folder is being made anew, or has files of a newer version.
            if attempt == ATTEMPTS - 1:
                if not places.texts.exists():
                    raise NoIndex from error
                raise IndexUnusable(
                    "the full-text can't be read", hint="recall index  (makes it anew)"
                ) from error
    raise AssertionError("unreachable")


def _hit(document: dict[str, list[Any]], score: float, clauses: list[Clause]) -> Hit:
    def value(name: str) -> Any:
        values = document.get(name)
        return values[0] if values else None

    session, kind, idx, call = value("session"), value("kind"), value("idx"), value("call")
    message_idx = None if idx == ORPHAN else idx
    at = value("at")
    return Hit(
        session_id=session,
        source=value("source"),
        source_session_id=value("source_session"),
        message_id=None if message_idx is None else message_id(session, message_idx),
        tool_call_id=call_id(session, message_idx, call) if kind == "bash" else None,
        kind=kind,
        role=value("role"),
        tool_name=value("tool_name") if kind == "bash" else None,
        timestamp=None if at is None else from_microseconds(at),
        project=value("project"),
        cwd=value("cwd"),
        idx=message_idx,
        score=score,
        snippet=snippet(value("text") or "", clauses),
    )
