"""Reads what the picker asks for from the index. One thread uses it at a time."""

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
"""Filters of passages; sessions alone don't have them."""


class _Card(NamedTuple):
    session: Session
    title: str
    """Folded as words are."""
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
        """Whether somebody wrote to the index since it was opened."""
        return _last_commit(self.paths) != self._commit

    def load(self, generation: int) -> tuple[str, ...]:
        """Read all sessions, which a query needs, and return their agents. Takes a moment."""
        self._renew(generation)
        self._read_cards()
        return self._agents

    def _read_cards(self) -> None:
        if not self._cards:
            self._cards = {each["id"]: _card(each) for each in self._list.sessions()}
            self._agents = tuple(sorted({each.session["source"] for each in self._cards.values()}))

    def listing(self, request: ListRequest, result: SearchResult | None = None) -> SessionListing:
        """The sessions for a query, best first; without words, the latest first.

        `result` has the hits if another search than that by words found them.
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
                return SessionListing(problem="add words: tool: and role: narrow what they find")
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
        """Read the index again if it has changed since."""
        if generation > self._generation:
            self._generation = generation
            self._open()

    def _latest(self, filters: Filters, limit: int) -> tuple[list[Item], int]:
        if filters.session is not None:
            self._read_cards()
            sessions = [card.session for card in self._cards.values() if _is_in(card, filters)]
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
        """First the sessions in which a passage has all of the words, the last one perhaps not
        typed to its end; then those whose title has them; then those with some of the words, or
        the same meaning."""
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
            and _is_in(card, filters)
            and matches_query(card.session["title"] or "", clauses)
        ]


def most_passages(limit: int) -> int:
    """How many passages to find for a list with this limit."""
    return min(limit, MOST_PASSAGES)


def read_request(request: ListRequest) -> tuple[str, Filters]:
    """The words and filters of the query, with the filters that have keys."""
    now, zone = clock().now(), machine_timezone

    def project_at(name: str) -> str:
        return ProjectPath().convert(name, None, None)

    narrowing = request.narrowing
    beside = Filters(
        source=narrowing.agent,
        project=project_at(".") if narrowing.is_here else None,
        since=parse_since(narrowing.period, now, zone()) if narrowing.period else None,
    )
    typed = read_filters(request.query, now, zone, project_at)
    return typed.words, beside._replace(**combined(beside._asdict(), typed.filters, LABEL))


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
    """When something was last written to the full-text folder."""
    try:
        return os.stat(paths.texts / "meta.json").st_mtime_ns
    except FileNotFoundError:  # the folder is being rebuilt
        return 0


def _card(session: Session) -> _Card:
    latest = session["ended_at"] or session["started_at"]
    at = None if latest is None else datetime.fromisoformat(latest)
    return _Card(session, fold(session["title"] or ""), at)


def _is_in(card: _Card, filters: Filters) -> bool:
    """Whether the session is in what the filters of sessions leave."""
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
