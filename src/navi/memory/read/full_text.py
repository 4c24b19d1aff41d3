"""Opens the full-text folder for reading, and packs values into the numbers of its documents.

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
            # The folder is being rebuilt right now, or another version wrote it.
            if attempt == ATTEMPTS - 1:
                if not folder.exists():
                    raise NoIndex from error
                raise IndexUnusable(
                    "the full-text index can't be read", hint="recall index  (rebuilds it)"
                ) from error
    raise AssertionError("unreachable")


def terms(searcher: tantivy.Searcher, field: str, prefix: str = "") -> list[str]:
    """The terms of a field that begin with `prefix`."""
    return [term for term, _ in searcher.terms_with_prefix(field, prefix)]


def number_of(session_id: str) -> int:
    """A session's id is a number in 16 hexadecimal digits."""
    return int(session_id, 16)


def id_of(number: int) -> str:
    return f"{number:016x}"


def agent_number(source: str) -> int:
    from zlib import crc32  # late, because few searches filter by agent

    return crc32(source.encode())


def pack_position(idx: int | None, call: int | None) -> int:
    """A text's message and call in one number, in order; calls outside messages come first."""
    first = 0 if idx is None else idx + 1
    second = 0 if call is None else min(call, MOST_CALLS) + 1
    return first << CALL_BITS | second


def unpack_position(position: int) -> tuple[int | None, int | None]:
    first, second = position >> CALL_BITS, position & MOST_CALLS + 1
    return first - 1 if first else None, second - 1 if second else None


def pack_kind(role: str | None, kind: str) -> int:
    """A text's role and kind in one number."""
    role_number = ROLES.index(role) if role in ROLES else len(ROLES)
    return role_number * len(KINDS) + KINDS.index(kind)


def unpack_kind(number: int) -> tuple[str | None, str]:
    role_number, kind = divmod(number, len(KINDS))
    return ROLES[role_number] if role_number < len(ROLES) else None, KINDS[kind]
