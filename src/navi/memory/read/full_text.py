"""Opens the full-text folder for reading; the numbers in its documents.

Separate from tantivy_writer.py, so that a search imports only what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tantivy
from tantivy import Query

from navi.memory.index_errors import IndexUnusable, NoIndex
from navi.memory.words import FOLDED_ANALYZER

if TYPE_CHECKING:
    from navi.memory.index_paths import Places

ATTEMPTS = 5

WORDS = "words"
KINDS = ("content", "thinking", "bash", "file")
ROLES = ("user", "assistant", "system")
CALL_BITS = 20
MOST_CALLS = (1 << CALL_BITS) - 2


def open_for_reading(places: Places) -> tantivy.Index:
    """Works while another process writes."""
    folder = places.texts
    if not folder.exists() and not places.database.exists():
        raise NoIndex
    for attempt in range(ATTEMPTS):
        try:
            index = tantivy.Index.open(str(folder))
            index.register_tokenizer(WORDS, FOLDED_ANALYZER)
            Query.term_query(index.schema, "file", "")  # fails on an older version's index
            return index
        except (ValueError, OSError) as error:
            # The folder is just being rebuilt, or a newer version wrote it.
            if attempt == ATTEMPTS - 1:
                if not folder.exists():
                    raise NoIndex from error
                raise IndexUnusable(
                    "the full-text index can't be read", hint="recall index  (rebuilds it)"
                ) from error
    raise AssertionError("unreachable")


def terms(searcher: tantivy.Searcher, field: str, prefix: str = "") -> list[str]:
    """The terms of a field."""
    return [term for term, _ in searcher.terms_with_prefix(field, prefix)]


def number_of(session_id: str) -> int:
    """A session's id is a number in 16 hexadecimal digits."""
    return int(session_id, 16)


def id_of(number: int) -> str:
    return f"{number:016x}"


def agent_number(source: str) -> int:
    from zlib import crc32  # late, because few searches filter by agent

    return crc32(source.encode())


def place_of(idx: int | None, call: int | None) -> int:
    """Both in one number, in the order of the conversation; calls outside messages come first."""
    first = 0 if idx is None else idx + 1
    second = 0 if call is None else min(call, MOST_CALLS) + 1
    return first << CALL_BITS | second


def read_place(place: int) -> tuple[int | None, int | None]:
    first, second = place >> CALL_BITS, place & MOST_CALLS + 1
    return first - 1 if first else None, second - 1 if second else None


def what_of(role: str | None, kind: str) -> int:
    """Role and kind of a text in one number."""
    who = ROLES.index(role) if role in ROLES else len(ROLES)
    return who * len(KINDS) + KINDS.index(kind)


def read_what(what: int) -> tuple[str | None, str]:
    who, kind = divmod(what, len(KINDS))
    return ROLES[who] if who < len(ROLES) else None, KINDS[kind]
