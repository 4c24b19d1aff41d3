"""The full-text folder, opened for reading, and the numbers that its documents hold.

Apart from `texts.py`, which writes it, so that searching imports only what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tantivy
from tantivy import Query

from navi.memory.index_errors import IndexUnusable, NoIndex
from navi.memory.words import FOLDED_ANALYZER

if TYPE_CHECKING:
    from collections.abc import Callable

    from navi.memory.index_paths import Places

ATTEMPTS = 5

WORDS = "words"
KINDS = ("content", "thinking", "bash", "file")
ROLES = ("user", "assistant", "system")
CALL_BITS = 20
MOST_CALLS = (1 << CALL_BITS) - 2


def opened(folder: str) -> tantivy.Index:
    """For searching, beside any writer."""
    index = tantivy.Index.open(folder)
    index.register_tokenizer(WORDS, FOLDED_ANALYZER)
    return index


def opened_for_reading(places: Places) -> tantivy.Index:
    """The same, for a command: errors say what to do next."""
    folder = places.texts
    if not folder.exists() and not places.database.exists():
        raise NoIndex
    for attempt in range(ATTEMPTS):
        try:
            index = opened(str(folder))
            Query.term_query(index.schema, "file", "")  # fails if an older version made it
            return index
        except (ValueError, OSError) as error:
            # The folder is being made anew, or has files of a newer version.
            if attempt == ATTEMPTS - 1:
                if not folder.exists():
                    raise NoIndex from error
                raise IndexUnusable(
                    "the full-text index can't be read", hint="recall index  (rebuilds it)"
                ) from error
    raise AssertionError("unreachable")


def named(
    searcher: tantivy.Searcher, field: str, is_wanted: Callable[[str], bool], prefix: str = ""
) -> list[str]:
    """The names in a field that are wanted."""
    return [name for name, _ in searcher.terms_with_prefix(field, prefix) if is_wanted(name)]


def number_of(session_id: str) -> int:
    """A session's id is 16 hexadecimal digits: a number."""
    return int(session_id, 16)


def id_of(number: int) -> str:
    return f"{number:016x}"


def agent_number(source: str) -> int:
    from zlib import crc32  # only now: few ask for the sessions of one agent

    return crc32(source.encode())


def place_of(idx: int | None, call: int | None) -> int:
    """Both in one number, growing with the conversation; what is outside messages comes first."""
    first = 0 if idx is None else idx + 1
    second = 0 if call is None else min(call, MOST_CALLS) + 1
    return first << CALL_BITS | second


def read_place(place: int) -> tuple[int | None, int | None]:
    first, second = place >> CALL_BITS, place & MOST_CALLS + 1
    return first - 1 if first else None, second - 1 if second else None


def what_of(role: str | None, kind: str) -> int:
    """Whose text it is and of which kind."""
    who = ROLES.index(role) if role in ROLES else len(ROLES)
    return who * len(KINDS) + KINDS.index(kind)


def read_what(what: int) -> tuple[str | None, str]:
    who, kind = divmod(what, len(KINDS))
    return ROLES[who] if who < len(ROLES) else None, KINDS[kind]
