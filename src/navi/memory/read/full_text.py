"""Opens the full-text folder for reading, and packs values into the numbers of its documents.

Separate from tantivy_writer.py, to keep the imports of a search light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tantivy
from tantivy import Query

from navi.memory.index_errors import IndexUnusable, NoIndex
from navi.memory.words import FOLDED_ANALYZER

if TYPE_CHECKING:
    from navi.memory.index_paths import IndexPaths

ATTEMPTS = 5

WORDS_TOKENIZER = "words"
KINDS = ("content", "thinking", "bash", "file")
"""The kinds of texts that have a role."""
ROLES = ("user", "assistant", "system")
FAILED = "failed"
"""In a filter, any of `FAILURES`."""
FAILURES = ("error", "max_iterations", "limit")
"""From `live.model.turn.Outcome`, which takes longer to import than a search takes."""
OUTPUT = "output"
OUTPUT_NUMBER = (len(ROLES) + 1) * len(KINDS)
"""What `pack_kind` returns for a tool's output, which has no role."""
CALL_KINDS = ("bash", "file", OUTPUT)
"""The kinds of texts that belong to a tool call."""
CALL_BITS = 20
MOST_CALLS = (1 << CALL_BITS) - 2


def open_for_reading(paths: IndexPaths) -> tantivy.Index:
    """Open the folder, even while another process writes to it."""
    folder = paths.texts
    if not folder.exists() and not paths.database.exists():
        raise NoIndex
    for attempt in range(ATTEMPTS):
        try:
            index = tantivy.Index.open(str(folder))
            index.register_tokenizer(WORDS_TOKENIZER, FOLDED_ANALYZER)
            Query.term_query(index.schema, "host", "")  # fails on an older version's index
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


def turn_term(origin: str | None, outcome: str | None) -> str:
    """The term on a card for a turn with this origin and outcome; None stands for any."""
    return f"{origin or ''}/{outcome or ''}"


def turn_terms(origin: str | None, outcome: str) -> list[str]:
    """All terms that find a turn with this origin and outcome."""
    origins = [None] if origin is None else [origin, None]
    return [turn_term(each, result) for each in origins for result in (outcome, None)]


def number_of(session_id: str) -> int:
    """A session's id is a number in 16 hexadecimal digits."""
    return int(session_id, 16)


def id_of(number: int) -> str:
    return f"{number:016x}"


def agent_number(source: str) -> int:
    """The number of a source in the field `agent`."""
    from zlib import crc32  # imported late, because few searches filter by agent

    return crc32(source.encode())


def pack_position(idx: int | None, call: int | None) -> int:
    """A text's position in its session as one number; calls outside messages come first."""
    message_part = 0 if idx is None else idx + 1
    call_part = 0 if call is None else min(call, MOST_CALLS) + 1
    return message_part << CALL_BITS | call_part


def unpack_position(position: int) -> tuple[int | None, int | None]:
    message_part, call_part = position >> CALL_BITS, position & (MOST_CALLS + 1)
    return message_part - 1 if message_part else None, call_part - 1 if call_part else None


def pack_kind(role: str | None, kind: str) -> int:
    """A text's role and kind in one number."""
    if kind == OUTPUT:
        return OUTPUT_NUMBER
    role_number = ROLES.index(role) if role in ROLES else len(ROLES)
    return role_number * len(KINDS) + KINDS.index(kind)


def unpack_kind(number: int) -> tuple[str | None, str]:
    if number == OUTPUT_NUMBER:
        return None, OUTPUT
    role_number, kind = divmod(number, len(KINDS))
    return ROLES[role_number] if role_number < len(ROLES) else None, KINDS[kind]
