"""Writes the full-text folder: one document per searchable text, and one card per session.

A text's document also has numeric columns for filters and results, which are cheap to write. Names
(project, agent's session id, folder) are only on the card. Deletions and additions become visible
together, at the commit, and never block a reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

import tantivy
from tantivy import FieldType, Occur, Query

from navi.memory.index_errors import IndexUnusable
from navi.memory.ingest.derived.touched_files import files_in_command, terms_of, touched_files
from navi.memory.ingest.write.folding import folded
from navi.memory.read.full_text import (
    WORDS_TOKENIZER,
    agent_number,
    number_of,
    pack_kind,
    pack_position,
)
from navi.memory.words import FOLDED_ANALYZER

if TYPE_CHECKING:
    from navi.memory.ingest.write.session_cards import Card

HEAP_BYTES = 100_000_000
SMALL_HEAP_BYTES = 15_000_000

CARD_NAMES = ("card", "source_session", "project", "host", "turn")
"""The text fields that only cards have."""

_pack_kind = cache(pack_kind)


class Text(NamedTuple):
    """One searchable text of a session."""

    kind: str
    idx: int | None
    """The number of its message; None for a call outside every message."""
    call: int | None
    """`PastToolCall.idx`; None if the text is not part of a tool call."""
    role: str | None
    tools: list[str]
    at: int | None
    """Microseconds since 1970."""
    utf8: bytes
    """The text, encoded as it comes from a `FilePart` or from DuckDB."""
    files: list[str]
    """Path terms of the files that a tool call names."""


class TextOwner(NamedTuple):
    """The session that texts belong to."""

    session_id: str
    source: str


def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_bytes_field("said", stored=True)  # the text
    builder.add_text_field("text", tokenizer_name=WORDS_TOKENIZER)
    builder.add_text_field("parts", tokenizer_name=WORDS_TOKENIZER)
    builder.add_text_field("tool", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("file", tokenizer_name="raw", index_option="basic")
    # On cards; `card` is the session's id.
    builder.add_bytes_field("shown", stored=True)  # `Card.json`
    for name in CARD_NAMES:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("listed", indexed=True)
    # On texts; `session`, `agent` and `at` on cards too.
    builder.add_unsigned_field("session", indexed=True, fast=True)
    builder.add_unsigned_field("place", fast=True)  # `pack_position`
    builder.add_unsigned_field("what", fast=True)  # `pack_kind`
    builder.add_unsigned_field("agent", fast=True)
    builder.add_integer_field("at", fast=True)
    return builder.build()


class TextWriter:
    """The only writer of the folder. Its changes take effect with `commit`."""

    def __init__(self, folder: Path, *, uses_small_heap: bool = False) -> None:
        self._schema = schema()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._index = tantivy.Index(self._schema, str(folder))
            self._index.register_tokenizer(WORDS_TOKENIZER, FOLDED_ANALYZER)
            heap = SMALL_HEAP_BYTES if uses_small_heap else HEAP_BYTES
            self._writer = self._index.writer(heap_size=heap, num_threads=1)
            # A killed commit leaves files whose names the next commit would use again.
            self._writer.garbage_collect_files()
        except (ValueError, OSError) as error:
            raise _unusable(folder, error) from error
        self._folder = folder
        self.is_dirty = False

    def delete(self, session_id: str, from_idx: int) -> None:
        """Delete a session's texts from message `from_idx` on, and those of tool calls that belong
        to no message.

        If `from_idx` is 0, the session's card is deleted too.
        """
        self.is_dirty = True
        of_session = Query.term_query(self._schema, "session", number_of(session_id), "basic")
        if from_idx <= 0:
            self._writer.delete_documents_by_query(of_session)
            return
        for low, high in ((pack_position(from_idx, None), None), (0, pack_position(0, None) - 1)):
            in_range = Query.range_query(self._schema, "place", FieldType.Unsigned, low, high)
            texts = Query.boolean_query([(Occur.Must, of_session), (Occur.Must, in_range)])
            self._writer.delete_documents_by_query(texts)

    def add(self, owner: TextOwner, texts: Iterable[Text]) -> None:
        self.is_dirty = True
        session, agent = number_of(owner.session_id), agent_number(owner.source)
        new, add = tantivy.Document, self._writer.add_document
        for kind, idx, call, role, tools, at, utf8, files in texts:
            words, parts = folded(utf8)
            document = new()
            document.add_unsigned("session", session)
            document.add_unsigned("agent", agent)
            document.add_unsigned("place", pack_position(idx, call))
            document.add_unsigned("what", _pack_kind(role, kind))
            document.add_bytes("said", utf8)
            document.add_text("text", words)
            if parts:
                document.add_text("parts", parts)
            if at is not None:
                document.add_integer("at", at)
            for tool in tools:
                document.add_text("tool", tool)
            for file in files:
                document.add_text("file", file)
            add(document)

    def add_card(self, card: Card) -> None:
        """Add the session's card in place of any earlier one."""
        self.is_dirty = True
        self._writer.delete_documents_by_term("card", card.session_id)
        document = tantivy.Document()
        document.add_text("card", card.session_id)
        document.add_unsigned("session", number_of(card.session_id))
        document.add_unsigned("agent", agent_number(card.source))
        document.add_integer("at", card.latest_at)
        document.add_bytes("shown", card.json)
        if card.source_session_id is not None:
            document.add_text("source_session", card.source_session_id)
        if card.project is not None:
            document.add_text("project", card.project)
        if card.host is not None:
            document.add_text("host", card.host)
        for turn in card.turns:
            document.add_text("turn", turn)
        if card.is_listed:
            document.add_unsigned("listed", 1)
        self._writer.add_document(document)

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
            # Fewer segments make searches faster.
            self._writer.wait_merging_threads()
        del self._writer


def remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def is_usable(folder: Path) -> bool:
    try:
        tantivy.Index.open(str(folder))
    except (ValueError, OSError):
        return False
    return True


def texts_of_messages(
    rows: Iterable[tuple[int, str | None, bytes | None, bytes | None, int | None]],
    tools: dict[int | None, list[str]],
    fields: tuple[str, ...],
) -> Iterator[Text]:
    """The texts of messages, given as `(idx, role, content, thinking, at)`."""
    wants_content, wants_thinking = "content" in fields, "thinking" in fields
    none: list[str] = []
    for idx, role, content, thinking, at in rows:
        if content and wants_content:
            yield Text("content", idx, None, role, tools.get(idx, none), at, content, none)
        if thinking and wants_thinking:
            yield Text("thinking", idx, None, role, tools.get(idx, none), at, thinking, none)


def texts_of_calls(
    rows: Iterable[tuple[int | None, int, str, bytes | None, bytes | None, int | None]],
    fields: tuple[str, ...],
) -> Iterator[Text]:
    """The texts of calls, given as `(message_idx, idx, tool_name, tool_input, command, at)`."""
    wants_bash, wants_files = "bash" in fields, "file" in fields
    for message_idx, idx, tool, tool_input, command, at in rows:
        if command and wants_bash:
            files = terms_of(files_in_command(command)) if wants_files else []
            yield Text("bash", message_idx, idx, "assistant", [tool], at, command, files)
        if wants_files and (paths := touched_files(tool_input, command)):
            utf8 = "\n".join(paths).encode("utf-8", "replace")
            yield Text("file", message_idx, idx, "assistant", [tool], at, utf8, terms_of(paths))


def texts_of_outputs(
    rows: Iterable[tuple[int | None, int, str, bytes, int | None]], fields: tuple[str, ...]
) -> Iterator[Text]:
    """The texts of outputs, given as `(message_idx, call_idx, tool_name, excerpt, at)`."""
    if "output" not in fields:
        return
    for message_idx, call_idx, tool, excerpt, at in rows:
        if excerpt:
            yield Text("output", message_idx, call_idx, None, [tool], at, excerpt, [])


def tools_by_message(calls: Iterable[tuple[int | None, str]]) -> dict[int | None, list[str]]:
    tools: dict[int | None, list[str]] = {}
    for message_idx, tool in calls:
        names = tools.setdefault(message_idx, [])
        if tool not in names:
            names.append(tool)
    return tools


def _unusable(folder: Path, error: Exception) -> IndexUnusable:
    return IndexUnusable(
        f"the full-text index in {folder} can't be written: {error}",
        hint="check that the disk is not full, then run `recall index` again",
    )
