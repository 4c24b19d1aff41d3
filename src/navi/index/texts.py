"""The full-text folder: one document per searchable text, with all that a result shows.

Deleting and adding become visible together, at the commit, and never disturb a reader.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import tantivy
from tantivy import FieldType, Occur, Query

from navi.index.errors import IndexUnusable
from navi.index.words import analyzer, composed, parts

VERSION = 1
"""Raised when documents or words are made differently: the folder is then made anew."""

HEAP_BYTES = 100_000_000
SMALL_HEAP_BYTES = 15_000_000
ORPHAN = -1
"""The `idx` of calls outside every message; the `call` of texts that are no call."""

WORDS = "words"
NAMES = (
    "session",
    "source",
    "source_session",
    "project",
    "cwd",
    "role",
    "kind",
    "tool",
    "tool_name",
)


class Text(NamedTuple):
    """One searchable text of a session."""

    kind: str
    idx: int
    call: int
    role: str | None
    tools: list[str]
    """In lower case: what `--tool` finds."""
    tool_name: str | None
    at: int | None
    """Microseconds since 1970."""
    text: str


class Owner(NamedTuple):
    """The session a text belongs to, as far as results show or filter it."""

    session_id: str
    source: str
    source_session_id: str | None
    project: str | None
    cwd: str | None


def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=True, tokenizer_name=WORDS)
    builder.add_text_field("parts", tokenizer_name=WORDS)
    for name in NAMES:
        builder.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
    for name in ("idx", "call", "at"):
        builder.add_integer_field(name, stored=True, fast=True)
    return builder.build()


def opened(folder: Path) -> tantivy.Index:
    """For searching, beside any writer."""
    index = tantivy.Index.open(str(folder))
    index.register_tokenizer(WORDS, analyzer())
    return index


class TextWriter:
    """The only writer; what it does counts from `commit` on."""

    def __init__(self, folder: Path, *, is_small: bool = False) -> None:
        self._schema = schema()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._index = tantivy.Index(self._schema, str(folder))
            self._index.register_tokenizer(WORDS, analyzer())
            heap = SMALL_HEAP_BYTES if is_small else HEAP_BYTES
            self._writer = self._index.writer(heap_size=heap, num_threads=1)
        except (ValueError, OSError) as error:
            raise _unusable(folder, error) from error
        self._folder = folder
        self.is_dirty = False

    def delete(self, session_id: str, from_idx: int) -> None:
        """All texts of a session from a message on, and those outside messages."""
        self.is_dirty = True
        if from_idx <= 0:
            self._writer.delete_documents_by_term("session", session_id)
            return
        mine = Query.term_query(self._schema, "session", session_id, "basic")
        for low, high in ((from_idx, None), (ORPHAN, ORPHAN)):
            stretch = Query.range_query(self._schema, "idx", FieldType.Integer, low, high)
            both = Query.boolean_query([(Occur.Must, mine), (Occur.Must, stretch)])
            self._writer.delete_documents_by_query(both)

    def add(self, owner: Owner, texts: Iterable[Text]) -> int:
        """How many were added."""
        self.is_dirty = True
        fixed: dict[str, Any] = {
            "session": owner.session_id,
            "source": owner.source,
            "source_session": owner.source_session_id or [],
            "project": owner.project or [],
            "cwd": owner.cwd or [],
        }
        make, add, count = tantivy.Document.from_dict, self._writer.add_document, 0
        for each in texts:
            text = composed(each.text)
            values = {
                **fixed,
                "kind": each.kind,
                "idx": each.idx,
                "call": each.call,
                "text": text,
                "tool": each.tools,
                "tool_name": each.tool_name or [],
                "role": each.role or [],
                "at": [] if each.at is None else each.at,
            }
            if hidden := parts(text):
                values["parts"] = hidden
            add(make(values, self._schema))
            count += 1
        return count

    def commit(self) -> None:
        try:
            self._writer.commit()
        except (ValueError, OSError) as error:
            raise _unusable(self._folder, error) from error
        self.is_dirty = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            # Merging keeps the number of segments, and so the time of a search, small.
            self._writer.wait_merging_threads()
        del self._writer


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def is_usable(folder: Path) -> bool:
    try:
        tantivy.Index.open(str(folder))
    except (ValueError, OSError):
        return False
    return True


def texts_of_messages(
    rows: Iterable[tuple[int, str | None, str | None, str | None, int | None]],
    tools: dict[int, list[str]],
    fields: tuple[str, ...],
) -> Iterator[Text]:
    """From `(idx, role, content, thinking, at)`."""
    has_content, has_thinking = "content" in fields, "thinking" in fields
    none: list[str] = []
    for idx, role, content, thinking, at in rows:
        if content and has_content:
            yield Text("content", idx, ORPHAN, role, tools.get(idx, none), None, at, content)
        if thinking and has_thinking:
            yield Text("thinking", idx, ORPHAN, role, tools.get(idx, none), None, at, thinking)


def texts_of_calls(
    rows: Iterable[tuple[int | None, int, str, str | None, int | None]], fields: tuple[str, ...]
) -> Iterator[Text]:
    """From `(message_idx, idx, tool_name, command, at)`."""
    if "bash" not in fields:
        return
    for message_idx, idx, tool, command, at in rows:
        if command:
            place = ORPHAN if message_idx is None else message_idx
            yield Text("bash", place, idx, "assistant", [tool.lower()], tool, at, command)


def _unusable(folder: Path, error: Exception) -> IndexUnusable:
    return IndexUnusable(
        f"the full-text in {folder} can't be written: {error}",
        hint="see if the disk is full; then `recall index` again",
    )
