"""Reads lists and previews from the index. Not safe for use by several threads at once."""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from navi.base.errors import InvalidInput
from navi.base.system_clock import machine_timezone
from navi.base.time_ranges import parse_since
from navi.cli.recall.options import ProjectPath, clock
from navi.cli.recall.picker.state import Item, ListRequest, PreviewRequest, Session, SessionListing
from navi.memory.read.excerpts import Excerpt, Excerpts
from navi.memory.read.query import Clause, read_query
from navi.memory.read.query_filters import combined, read_filters
from navi.memory.read.search import Filters, Hit, Search, SearchResult
from navi.memory.read.session_list import SessionFilters, SessionList, in_project
from navi.memory.read.snippets import fold, matches_query
from navi.memory.words import has_unspaced

if TYPE_CHECKING:
    from navi.memory.index_paths import IndexPaths

MOST_PASSAGES = 5_000
SHORTEST_PREFIX = 2
"""With one letter, nearly everything would match."""
LABEL = "the filter {} below the query"
NEEDS_WORDS = ("tool", "role")
"""Filters that apply to passages, not to sessions, so that a query needs words too."""


class _Card(NamedTuple):
    session: Session
    title: str
    """Folded like the words of a query."""
    at: datetime | None


class SessionReader:
    def __init__(self, paths: IndexPaths) -> None:
        self.paths = paths
        self._generation = 0
        self._agents: tuple[str, ...] = ()
        self._open()

    def _open(self) -> None:
        self._commit = _last_commit(self.paths)
        self._list = SessionList(self.paths)
        self._search = Search(self.paths)
        self._excerpts = Excerpts(self.paths)
        self._cards: dict[str, _Card] = {}

    def has_changed(self) -> bool:
        """Whether the index has changed since it was opened."""
        return _last_commit(self.paths) != self._commit

    def load(self, generation: int) -> tuple[str, ...]:
        """Read all sessions, because queries need them, and return their agents. Takes a moment."""
        self._renew(generation)
        self._read_cards()
        return self._agents

    def _read_cards(self) -> None:
        if not self._cards:
            self._cards = {each["id"]: _card(each) for each in self._list.sessions()}
            self._agents = tuple(sorted({each.session["source"] for each in self._cards.values()}))

    def listing(self, request: ListRequest, result: SearchResult | None = None) -> SessionListing:
        """The sessions for a query, best first; without words, the latest first.

        `result` is that of a search by meaning; without it, this searches by words.
        """
        self._renew(request.generation)
        try:
            words, filters = read_request(request)
        except InvalidInput as error:
            return SessionListing(problem=error.sentence)
        clauses = read_query(words)
        count: int | None
        if not clauses and filters.file is None:
            if any(getattr(filters, name) is not None for name in NEEDS_WORDS):
                return SessionListing(
                    problem="add words to search for: tool: and role: only narrow a search"
                )
            items, count = self._latest(filters, request.limit)
        else:
            items, count = self._matching(words, clauses, filters, request.limit, result)
        has_more = count is None or count > len(items)
        return SessionListing(tuple(items), count, self._list.total(), has_more, self._agents)

    def excerpt(self, request: PreviewRequest) -> Excerpt | None:
        self._renew(request.generation)
        item = request.item
        if item is None:
            return None
        if item.hit is None:
            return self._excerpts.last(item.id)
        return self._excerpts.around(item.hit, item.query)

    def _renew(self, generation: int) -> None:
        """Open the index again if the request belongs to a newer generation."""
        if generation > self._generation:
            self._generation = generation
            self._open()

    def _latest(self, filters: Filters, limit: int) -> tuple[list[Item], int]:
        if filters.session is not None:
            self._read_cards()
            sessions = [card.session for card in self._cards.values() if _passes(card, filters)]
            return [Item(session) for session in sessions], len(sessions)
        narrowed = SessionFilters(
            filters.source, filters.since, filters.project, until=filters.until
        )
        sessions = self._list.sessions(narrowed, limit)
        return [Item(session) for session in sessions], self._list.total(narrowed)

    def _matching(
        self,
        words: str,
        clauses: list[Clause],
        filters: Filters,
        limit: int,
        result: SearchResult | None,
    ) -> tuple[list[Item], int | None]:
        """The matching sessions, in this order: a passage has all of the words, of which the last
        may be incomplete; the title has them; a passage has some of them, or a similar meaning.
        """
        self._read_cards()
        most = most_passages(limit)
        if result is None:
            result = self._search.find(words, filters, most)
        hits = result.hits
        complete = [(hit, words) for hit in hits if hit.has_all_words]
        is_cut = len(hits) == most < MOST_PASSAGES
        if prefix := _as_prefix(words, clauses):
            longer = self._search.find(prefix, filters, most).hits
            complete += [(hit, prefix) for hit in longer if hit.has_all_words]
        partial = [(hit, words) for hit in hits if not hit.has_all_words]
        items: dict[str, Item] = {}
        self._add(items, complete)
        for session in self._titled(clauses, filters):
            items.setdefault(session["id"], Item(session))
        self._add(items, partial)
        return list(items.values()), None if is_cut else len(items)

    def _add(self, items: dict[str, Item], hits: list[tuple[Hit, str]]) -> None:
        for hit, query in hits:
            if (card := self._cards.get(hit.session_id)) is not None:
                items.setdefault(hit.session_id, Item(card.session, hit, query))

    def _titled(self, clauses: list[Clause], filters: Filters) -> list[Session]:
        """The sessions whose title has all of the words, or the beginnings of them."""
        if not clauses or any(getattr(filters, name) for name in ("tool", "role", "file")):
            return []
        words = [word for each in clauses if not each.is_excluded for word in each.words]
        return [
            card.session
            for card in self._cards.values()
            if all(word in card.title for word in words)
            and _passes(card, filters)
            and matches_query(card.session["title"] or "", clauses)
        ]


def most_passages(limit: int) -> int:
    """How many passages to find for a list with this limit."""
    return min(limit, MOST_PASSAGES)


def read_request(request: ListRequest) -> tuple[str, Filters]:
    """The words of the query, and its filters together with those set by keys."""
    now, zone = clock().now(), machine_timezone

    def project_at(name: str) -> str:
        return ProjectPath().convert(name, None, None)

    narrowing = request.narrowing
    set_by_keys = Filters(
        source=narrowing.agent,
        project=project_at(".") if narrowing.is_here else None,
        since=parse_since(narrowing.period, now, zone()) if narrowing.period else None,
    )
    typed = read_filters(request.query, now, zone, project_at)
    return typed.words, set_by_keys._replace(
        **combined(set_by_keys._asdict(), typed.filters, LABEL)
    )


def _as_prefix(words: str, clauses: list[Clause]) -> str | None:
    """The query with its last word as the beginning of a longer one; None if it can't be one."""
    if not clauses or not words[-1:].isalnum():
        return None
    last = clauses[-1]
    is_plain = not (last.is_quoted or last.is_excluded or last.is_prefix or last.is_emoji)
    if not is_plain or len(last.words[-1]) < SHORTEST_PREFIX or has_unspaced(last.text):
        return None
    return f"{words}*"


def _last_commit(paths: IndexPaths) -> int:
    """When the full-text index was last written."""
    try:
        return os.stat(paths.texts / "meta.json").st_mtime_ns
    except FileNotFoundError:  # the folder is being rebuilt
        return 0


def _card(session: Session) -> _Card:
    latest = session["ended_at"] or session["started_at"]
    at = None if latest is None else datetime.fromisoformat(latest)
    return _Card(session, fold(session["title"] or ""), at)


def _passes(card: _Card, filters: Filters) -> bool:
    """Whether the session passes the filters that apply to sessions."""
    session, reference = card.session, filters.session
    return (
        filters.source in (None, session["source"])
        and (filters.project is None or in_project(session["project"] or "", filters.project))
        and (filters.since is None or (card.at is not None and card.at >= filters.since))
        and (filters.until is None or (card.at is not None and card.at < filters.until))
        and (
            reference is None
            or session["id"].startswith(reference.lower())
            or (session["source_session_id"] or "").startswith(reference)
        )
    )
