"""Writes changed files to DuckDB and tantivy, batch by batch.

A session's rows are committed to DuckDB with `texts_pending_from` set; then its texts are committed
to tantivy; then `texts_pending_from` is cleared. A kill in between loses nothing.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from math import inf

import msgspec
from duckdb import DuckDBPyConnection

from navi.base.clock import Clock
from navi.memory import database
from navi.memory.file_damage import formatted_lines, is_old
from navi.memory.index_paths import IndexPaths
from navi.memory.ingest.file_reader import Failure, FilePart, Task
from navi.memory.ingest.reading_process import read_all
from navi.memory.ingest.report import Progress, RefreshResult
from navi.memory.ingest.write.duckdb_writer import (
    UNFINISHED,
    Batch,
    Change,
    IndexedSession,
    texts_of,
)
from navi.memory.ingest.write.tantivy_writer import TextWriter
from navi.memory.model import PastSession
from navi.vendors.source import Source

BATCH_BYTES = 64 * 1024 * 1024
"""Large enough for DuckDB to be fast, small enough for memory."""
COMMIT_AFTER_SECONDS = (4.0, 10.0, 30.0)
"""How long to wait before each commit of new texts in a long pass; the last value repeats."""
SMALL_BYTES = 8 * 1024 * 1024
"""A pass that reads less than this keeps DuckDB open between its transactions."""


@dataclass(slots=True)
class Pipeline:
    paths: IndexPaths
    duckdb_writer: database.Writer
    sources: Mapping[str, Source]
    fields: tuple[str, ...]
    clock: Clock
    on_progress: Callable[[Progress], None]
    in_parallel: bool
    tasks: list[Task]
    indexed_sessions: dict[str, IndexedSession]
    """What the index has of the sessions being read, by id; kept up to date."""
    result: RefreshResult
    time_limit_seconds: float | None = None
    written_tasks: list[Task] = field(default_factory=list)
    """Files read to their end, and those that failed halfway, with the size `UNFINISHED`."""
    _batch: Batch = field(init=False)
    _uncommitted: set[str] = field(default_factory=set)
    """Sessions whose texts are in the text writer but not committed."""
    _committed: set[str] = field(default_factory=set)
    """Sessions whose texts are committed, but which are still pending in DuckDB."""
    _row_counts: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The number of messages and tool calls read so far, by task number."""
    _finished_files: int = 0
    _all_bytes: int = 0

    def run(self) -> None:
        self._batch = self._new_batch()
        self._all_bytes = sum(task.size for task in self.tasks)
        waits = list(COMMIT_AFTER_SECONDS)
        started = time.monotonic()
        commit_at = started + waits[0]
        limit = inf if self.time_limit_seconds is None else self.time_limit_seconds
        with (
            _no_garbage_collection(),
            TextWriter(self.paths.texts, uses_small_heap=self._all_bytes < SMALL_BYTES) as writer,
            closing(read_all(self.tasks, self.sources, in_parallel=self.in_parallel)) as parts,
        ):
            for part in parts:
                if isinstance(part, Failure):
                    self._count_failure(part)
                    continue
                if self._batch.bytes > BATCH_BYTES or not self._batch.can_add(part):
                    self._write(writer)
                    if time.monotonic() > commit_at:
                        self._commit(writer)
                        waits = waits[1:] or waits
                        commit_at = time.monotonic() + waits[0]
                self._batch.add(part)
                self._count_part(part)
                if time.monotonic() - started > limit:
                    break
            self.result.unfinished = len(self.tasks) - self._finished_files
            self._write(writer)
            self._commit(writer)
            with self.duckdb_writer.transaction(self.clock.now()) as connection:
                self._clear_pending(connection)
            # Others can read while the text writer waits for its segments to merge.
            self.duckdb_writer.close()

    def _new_batch(self) -> Batch:
        return Batch({task.number: task for task in self.tasks}, self.indexed_sessions, self.fields)

    def _write(self, writer: TextWriter) -> None:
        if not self._batch.parts:
            return
        now = self.clock.now()
        with self.duckdb_writer.transaction(now) as connection:
            self._clear_pending(connection)
            changes = self._batch.write(connection, now)
        self._batch = self._new_batch()
        for change in changes:
            self._write_texts(writer, change)

    def _write_texts(self, writer: TextWriter, change: Change) -> None:
        if change.delete_from is not None:
            writer.delete(change.owner.session_id, change.delete_from)
        writer.add_card(change.card)
        if change.texts is not None:
            writer.add(change.owner, change.texts)
        for part in change.parts:
            writer.add(change.owner, texts_of(part, self.fields))
        self._uncommitted.add(change.owner.session_id)

    def _commit(self, writer: TextWriter) -> None:
        if writer.is_dirty:
            writer.commit()
        self._committed |= self._uncommitted
        for session_id in self._uncommitted:
            self.indexed_sessions[session_id].texts_pending_from = None
        self._uncommitted.clear()

    def _clear_pending(self, connection: DuckDBPyConnection) -> None:
        if self._committed:
            connection.execute(
                "UPDATE sessions SET texts_pending_from = NULL WHERE id IN (SELECT unnest(?))",
                [list(self._committed)],
            )
            self._committed.clear()

    def _count_part(self, part: FilePart) -> None:
        result, task = self.result, self.tasks[part.task_number]
        messages, calls = part.messages[0], part.tool_calls[0]
        if part.task_number in self._row_counts:
            # Replaced rows were counted with an earlier part of the same file.
            messages -= len(part.replaced_message_ids)
            calls -= len(part.replaced_call_ids)
        counts = self._row_counts.get(part.task_number, (0, 0))
        self._row_counts[part.task_number] = counts[0] + messages, counts[1] + calls
        if not part.is_last:
            return
        self.written_tasks.append(task)
        result.bytes += task.size
        self._warn_about_damage(part.session, part.bad_lines_before, task)
        if not part.session.is_readable:
            result.failed += 1
            self._report_progress(task, "failed")
            return
        result.indexed += 1
        if not part.session.is_warmup:
            messages, calls = self._row_counts[part.task_number]
            result.messages += messages
            result.tool_calls += calls
        self._report_progress(task, "read")

    def _warn_about_damage(self, session: PastSession, bad_lines_before: int, task: Task) -> None:
        """Warn about damage, but not again about lines that earlier passes reported."""
        new_bad_lines = session.bad_lines - bad_lines_before
        if not session.is_readable:
            self._add_warning(
                task, f"not a transcript: {formatted_lines(session.bad_lines)} unreadable"
            )
        elif new_bad_lines:
            numbers = session.bad_line_numbers[bad_lines_before:]
            lines = formatted_lines(new_bad_lines, numbers)
            self._add_warning(task, f"skipped {lines} that can't be read")
        if session.is_cut_off and is_old(task.mtime, self.clock.now()):
            self._add_warning(task, "its last line is cut off")

    def _add_warning(self, task: Task, problem: str) -> None:
        self.result.warnings.append(f"{task.path}: {problem}")

    def _count_failure(self, failure: Failure) -> None:
        task = self.tasks[failure.task_number]
        self.result.failed += 1
        self._add_warning(task, f"can't be read: {failure.reason}")
        if failure.task_number in self._row_counts:
            # Part of it is in the index: the next pass has to continue from there.
            self.written_tasks.append(msgspec.structs.replace(task, size=UNFINISHED))
        self._report_progress(task, "failed")

    def _report_progress(self, task: Task, outcome: str) -> None:
        self._finished_files += 1
        self.on_progress(
            Progress(
                self._finished_files,
                len(self.tasks),
                self.result.bytes,
                self._all_bytes,
                task.path,
                outcome,
            )
        )


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Turn off garbage collection. Rows have no reference cycles, so it would only cost time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
