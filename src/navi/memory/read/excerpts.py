"""A stretch of a session: the messages and commands around a hit, or the last ones.

Reads only the full-text folder, so no writer can block it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from tantivy import FieldType, Occur, Query

from navi.base.secrets.masking import mask
from navi.base.timestamps import from_microseconds
from navi.memory.read.full_text import (
    CALL_KINDS,
    KINDS,
    OUTPUT,
    number_of,
    open_for_reading,
    pack_position,
    unpack_kind,
    unpack_position,
)
from navi.memory.read.query import Clause, read_query
from navi.memory.read.snippets import matches_in

if TYPE_CHECKING:
    import tantivy

    from navi.memory.index_paths import IndexPaths
    from navi.memory.read.search import Hit

MESSAGES_BEFORE = 5
MESSAGES_AFTER = 10
LAST_TEXTS = 60
"""For a session without a hit: enough for a screen, even if most are not shown."""
LONGEST_TEXT = 4000
"""Longer texts are cut, around the match if there is one."""
KIND_ORDER = (*KINDS, OUTPUT)
SHOWN_KINDS = ("content", "bash")
"""The kinds of text to show; texts of other kinds are shown only if they are the match."""


class ExcerptText(NamedTuple):
    idx: int | None
    """The message's number; None for a call outside messages."""
    role: str | None
    kind: str
    tool_name: str | None
    timestamp: datetime | None
    text: str
    """Secrets are masked."""
    highlights: tuple[tuple[int, int], ...]
    """Start and end of each match in `text`."""
    is_match: bool


class Excerpt(NamedTuple):
    session_id: str
    texts: tuple[ExcerptText, ...]
    """In their order. At most one is the match."""


class Excerpts:
    """An open index. Call `reload` to see later commits."""

    def __init__(self, paths: IndexPaths) -> None:
        self._index = open_for_reading(paths)

    def reload(self) -> None:
        self._index.reload()

    def last(self, session_id: str) -> Excerpt:
        """The last messages of a session."""
        searcher = self._index.searcher()
        hits = searcher.search(
            self._texts(session_id, 0, None), LAST_TEXTS, count=False, order_by_field="place"
        ).hits
        addresses = [address for _, address in hits]
        texts = [text for text in _texts_at(searcher, addresses, []) if text.kind in SHOWN_KINDS]
        return Excerpt(session_id, tuple(texts))

    def around(self, hit: Hit, query: str) -> Excerpt:
        """The hit's whole message with its neighbours, and the matches of `query` in them."""
        clauses = read_query(query)
        texts: list[ExcerptText] = []
        if hit.idx is not None:
            first = pack_position(max(0, hit.idx - MESSAGES_BEFORE), None)
            last = pack_position(hit.idx + MESSAGES_AFTER + 1, None) - 1
            searcher = self._index.searcher()
            hits = searcher.search(
                self._texts(hit.session_id, first, last), max(1, searcher.num_docs), count=False
            ).hits
            texts = list(_texts_at(searcher, [address for _, address in hits], clauses))
        is_inside = hit.message_id is not None
        match = next((text for text in texts if is_inside and _is_of(text, hit)), None)
        visible = [text for text in texts if text is match or text.kind in SHOWN_KINDS]
        if match is None:  # a call outside messages
            position = sum(text.idx is not None and text.idx <= (hit.idx or 0) for text in visible)
            visible.insert(position if hit.idx is not None else 0, _text_of_hit(hit))
        return Excerpt(
            hit.session_id,
            tuple(text._replace(is_match=True) if text is match else text for text in visible),
        )

    def _texts(self, session_id: str, first: int, last: int | None) -> Query:
        schema = self._index.schema
        queries = [
            Query.term_query(schema, "session", number_of(session_id), "basic"),
            Query.range_query(schema, "place", FieldType.Unsigned, first, last),
        ]
        return Query.boolean_query([(Occur.Must, each) for each in queries])


def _texts_at(
    searcher: tantivy.Searcher, addresses: list[tantivy.DocAddress], clauses: list[Clause]
) -> Iterator[ExcerptText]:
    columns = [searcher.fast_field_values(name, addresses) for name in ("place", "what", "at")]
    rows = sorted(
        (
            (int(position or 0), int(kind or 0), at, address)
            for address, (position, kind, at) in zip(
                addresses, zip(*columns, strict=True), strict=True
            )
        ),
        key=lambda row: (row[0], KIND_ORDER.index(unpack_kind(row[1])[1])),
    )
    for position, packed_kind, at, address in rows:
        role, kind = unpack_kind(packed_kind)
        document = searcher.doc(address)
        text = mask((document.get_first("said") or b"").decode())
        text, highlights = _cut(text, matches_in(text, clauses))
        yield ExcerptText(
            unpack_position(position)[0],
            role,
            kind,
            document.get_first("tool") if kind in CALL_KINDS else None,
            None if at is None else from_microseconds(at),
            text,
            highlights,
            False,
        )


def _cut(text: str, matches: list[tuple[int, int]]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """At most about `LONGEST_TEXT` characters, from a little before the first match."""
    if len(text) <= LONGEST_TEXT:
        return text, tuple(matches)
    start = max(0, matches[0][0] - LONGEST_TEXT // 4) if matches else 0
    end = start + LONGEST_TEXT
    head = "… " if start else ""
    moved = [
        (first - start + len(head), min(last, end) - start + len(head))
        for first, last in matches
        if start <= first < end
    ]
    return f"{head}{text[start:end]}{' …' if end < len(text) else ''}", tuple(moved)


def _is_of(text: ExcerptText, hit: Hit) -> bool:
    return (text.idx, text.kind) == (hit.idx, hit.kind) and (
        bool(text.highlights) or hit.kind in ("content", "thinking")
    )


def _text_of_hit(hit: Hit) -> ExcerptText:
    return ExcerptText(
        hit.idx,
        hit.role,
        hit.kind,
        hit.tool_name,
        hit.timestamp,
        hit.snippet.text,
        hit.snippet.highlights,
        True,
    )
