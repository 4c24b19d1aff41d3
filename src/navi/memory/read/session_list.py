"""Lists sessions, latest first, from their cards. Reads only the full-text folder."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from tantivy import FieldType, Occur, Query

from navi.base.timestamps import microseconds
from navi.memory.read.full_text import agent_number, number_of, open_for_reading, terms

if TYPE_CHECKING:
    import tantivy

    from navi.memory.index_paths import IndexPaths

Session = dict[str, Any]
"""As in `recall list --json`, but with secrets unmasked."""


class SessionFilters(NamedTuple):
    source: str | None = None
    since: datetime | None = None
    project: str | None = None
    """Part of a project's path; with a slash at the end, that folder and those below it."""
    tag: str | None = None
    until: datetime | None = None
    """Exclusive."""
    host: str | None = None
    """The name of the machine that the session is from; `here` is this one."""


EVERY_SESSION = SessionFilters()


class SessionList:
    """The cards of an open index."""

    def __init__(self, paths: IndexPaths) -> None:
        self._paths = paths
        self._index = open_for_reading(paths)
        self._searcher = self._index.searcher()
        self._tags = read_tags(paths)

    def sessions(
        self, filters: SessionFilters = EVERY_SESSION, limit: int | None = None
    ) -> list[Session]:
        """The latest first."""
        hits = self._searcher.search(
            self._query(filters),
            limit or max(1, self._searcher.num_docs),
            count=False,
            order_by_field="at",
        ).hits
        cards = [card_in(self._searcher.doc(address)) for _, address in hits]
        return [{**card, "tags": self._tags.get(card["id"], [])} for card in cards]

    def total(self, filters: SessionFilters = EVERY_SESSION) -> int:
        return total_of(self._searcher, self._query(filters))

    def tags(self) -> list[str]:
        return sorted({tag for tags in self._tags.values() for tag in tags})

    def projects(self) -> list[str]:
        """The paths of all projects."""
        return terms(self._searcher, "project")

    def tools(self) -> list[str]:
        """The names of all tools that were used."""
        return terms(self._searcher, "tool")

    def hosts(self) -> list[str]:
        """The names of the other machines whose sessions are here."""
        return terms(self._searcher, "host")

    def ids(self) -> list[str]:
        """The ids of all sessions, including those that a list leaves out."""
        return terms(self._searcher, "card")

    def _of_host(self, name: str) -> Query:
        schema = self._index.schema
        if not is_here(self._paths, name):
            names = hosts_matching(self._searcher, name)
            return Query.term_set_query(schema, "host", names)
        elsewhere = Query.term_set_query(schema, "host", self.hosts())
        return Query.boolean_query([(Occur.Must, Query.all_query()), (Occur.MustNot, elsewhere)])

    def _query(self, filters: SessionFilters) -> Query:
        schema = self._index.schema
        queries = [Query.term_query(schema, "listed", 1, "basic")]
        if filters.source is not None:
            number = agent_number(filters.source)
            queries.append(Query.range_query(schema, "agent", FieldType.Unsigned, number, number))
        if filters.since is not None or filters.until is not None:
            first = None if filters.since is None else microseconds(filters.since)
            last = None if filters.until is None else microseconds(filters.until) - 1
            queries.append(Query.range_query(schema, "at", FieldType.Integer, first, last))
        if filters.project is not None:
            projects = projects_matching(self._searcher, filters.project)
            queries.append(Query.term_set_query(schema, "project", projects))
        if filters.host is not None:
            queries.append(self._of_host(filters.host))
        if filters.tag is not None:
            ids = [id for id, tags in self._tags.items() if filters.tag in tags]
            queries.append(Query.term_set_query(schema, "session", list(map(number_of, ids))))
        return Query.boolean_query([(Occur.Must, each) for each in queries])


def is_here(paths: IndexPaths, name: str) -> bool:
    """Whether `name` means this machine."""
    from navi.memory.hosts.this_machine import HERE, existing

    own = existing(paths)
    return name.lower() in (HERE, "" if own is None else own.name.lower())


def hosts_matching(searcher: tantivy.Searcher, name: str) -> list[str]:
    return [host for host in terms(searcher, "host") if host.lower() == name.lower()]


def total_of(searcher: tantivy.Searcher, query: Query) -> int:
    """How many documents match."""
    total: int = searcher.search(query, 1).count  # type: ignore[attr-defined]
    return total


def projects_matching(searcher: tantivy.Searcher, part: str) -> list[str]:
    return [path for path in terms(searcher, "project") if in_project(path, part)]


def in_project(path: str, part: str) -> bool:
    """`shop/` matches /home/me/shop and what is below it; `shop` also matches /home/me/shop-old."""
    return part in f"{path}/"


def card_in(document: tantivy.Document) -> Session:
    value: Session = json.loads(document["shown"][0])
    return value


def read_tags(paths: IndexPaths) -> dict[str, list[str]]:
    try:
        value: dict[str, list[str]] = json.loads(paths.tags.read_bytes())
    except FileNotFoundError:
        return {}
    return value
