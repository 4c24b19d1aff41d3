"""The sessions, latest first, as their cards show them. Reads the full-text only."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from tantivy import FieldType, Occur, Query

from navi.base.timestamps import microseconds
from navi.memory.read.full_text import agent_number, named, number_of, opened_for_reading

if TYPE_CHECKING:
    import tantivy

    from navi.memory.index_paths import Places

Session = dict[str, Any]
"""As `recall list --json` has it, but for masks."""


class Wanted(NamedTuple):
    source: str | None = None
    since: datetime | None = None
    project: str | None = None
    """Part of a project's path; with a slash at its end, that folder and those below it."""
    tag: str | None = None
    until: datetime | None = None
    """Not included."""


EVERY_SESSION = Wanted()


class Catalogue:
    """The cards of an open index."""

    def __init__(self, places: Places) -> None:
        self._index = opened_for_reading(places)
        self._searcher = self._index.searcher()
        self._tags = read_tags(places)

    def sessions(self, wanted: Wanted = EVERY_SESSION, limit: int | None = None) -> list[Session]:
        """The latest first."""
        found = self._searcher.search(
            self._query(wanted),
            limit or max(1, self._searcher.num_docs),
            count=False,
            order_by_field="at",
        ).hits
        cards = [card_in(self._searcher.doc(address)) for _, address in found]
        return [{**card, "tags": self._tags.get(card["id"], [])} for card in cards]

    def total(self, wanted: Wanted = EVERY_SESSION) -> int:
        return total_of(self._searcher, self._query(wanted))

    def tags(self) -> list[str]:
        return sorted({tag for tags in self._tags.values() for tag in tags})

    def projects(self) -> list[str]:
        """The paths of all projects."""
        return named(self._searcher, "project", lambda _: True)

    def tools(self) -> list[str]:
        """The names of all tools that were used."""
        return named(self._searcher, "tool", lambda _: True)

    def ids(self) -> list[str]:
        """Of all sessions, also of those that a list leaves out."""
        return named(self._searcher, "card", lambda _: True)

    def _query(self, wanted: Wanted) -> Query:
        schema, searcher = self._index.schema, self._searcher
        needed = [Query.term_query(schema, "listed", 1, "basic")]
        if wanted.source is not None:
            number = agent_number(wanted.source)
            needed.append(Query.range_query(schema, "agent", FieldType.Unsigned, number, number))
        if wanted.since is not None or wanted.until is not None:
            first = None if wanted.since is None else microseconds(wanted.since)
            last = None if wanted.until is None else microseconds(wanted.until) - 1
            needed.append(Query.range_query(schema, "at", FieldType.Integer, first, last))
        if wanted.project is not None:
            part = wanted.project
            projects = named(searcher, "project", lambda name: in_project(name, part))
            needed.append(Query.term_set_query(schema, "project", projects))
        if wanted.tag is not None:
            tag = wanted.tag
            tagged = [number_of(session) for session, tags in self._tags.items() if tag in tags]
            needed.append(Query.term_set_query(schema, "session", tagged))
        return Query.boolean_query([(Occur.Must, each) for each in needed])


def sessions(places: Places, wanted: Wanted, limit: int | None) -> list[Session]:
    return Catalogue(places).sessions(wanted, limit)


def total_of(searcher: tantivy.Searcher, query: Query) -> int:
    """How many documents match."""
    total: int = searcher.search(query, 1).count  # type: ignore[attr-defined]
    return total


def in_project(path: str, part: str) -> bool:
    """`shop/` is found in /home/me/shop and below it, `shop` in /home/me/shop-old too."""
    return part in f"{path}/"


def card_in(document: tantivy.Document) -> Session:
    value: Session = json.loads(document["shown"][0])
    return value


def read_tags(places: Places) -> dict[str, list[str]]:
    try:
        value: dict[str, list[str]] = json.loads(places.tags.read_bytes())
    except FileNotFoundError:
        return {}
    return value
