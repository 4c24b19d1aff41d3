"""The sessions, latest first, as their cards show them. Reads the full-text only."""

from __future__ import annotations

from tantivy import FieldType, Occur, Query

from navi.domain import plain_json
from navi.domain.instants import microseconds
from navi.domain.light_typing import NamedTuple
from navi.index.opening import agent_number, named, number_of, opened_for_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from navi.index.places import Places

    Session = dict[str, Any]
    """As `recall list --json` has it, but for masks."""


class Wanted(NamedTuple):
    source: str | None = None
    since: datetime | None = None
    project: str | None = None
    """Part of a project's path."""
    tag: str | None = None


EVERY_SESSION = Wanted()


def sessions(places: Places, wanted: Wanted, limit: int | None) -> list[Session]:
    index = opened_for_reading(places)
    schema, searcher = index.schema, index.searcher()
    tags = read_tags(places)
    needed = [Query.term_query(schema, "listed", 1, "basic")]
    if wanted.source is not None:
        number = agent_number(wanted.source)
        needed.append(Query.range_query(schema, "agent", FieldType.Unsigned, number, number))
    if wanted.since is not None:
        since = microseconds(wanted.since)
        needed.append(Query.range_query(schema, "at", FieldType.Integer, since, None))
    if wanted.project is not None:
        # A path's end does not matter: `repo/` is `repo`.
        part = wanted.project.rstrip("/") or "/"
        projects = named(searcher, "project", lambda name: part in name)
        needed.append(Query.term_set_query(schema, "project", projects))
    if wanted.tag is not None:
        tagged = [number_of(session) for session, words in tags.items() if wanted.tag in words]
        needed.append(Query.term_set_query(schema, "session", tagged))
    found = searcher.search(
        Query.boolean_query([(Occur.Must, each) for each in needed]),
        limit or max(1, searcher.num_docs),
        count=False,
        order_by_field="at",
    ).hits
    listed = [card_in(searcher.doc(address)) for _, address in found]
    return [{**each, "tags": tags.get(each["id"], [])} for each in listed]


def card_in(document: Any) -> Session:
    value: Session = plain_json.loads(document.get_first("shown").decode())
    return value


def read_tags(places: Places) -> dict[str, list[str]]:
    try:
        with open(places.beside(".tags"), encoding="utf-8") as file:
            value: dict[str, list[str]] = plain_json.loads(file.read())
    except FileNotFoundError:
        return {}
    return value
