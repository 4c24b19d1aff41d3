"""Changed files into both engines, batch by batch.

A session's rows are committed to DuckDB together with a note that the full-text still lacks them;
then the full-text takes them and commits; then the note goes.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from math import inf

from duckdb import DuckDBPyConnection

from navi.domain.clock import Clock
from navi.index import database
from navi.index.batch import Batch, Before, Change, texts_of
from navi.index.crew import read_all
from navi.index.outcome import Progress, Refreshed
from navi.index.places import Places
from navi.index.reading import Failure, Frame, Task
from navi.index.texts import TextWriter
from navi.sources.source import Source

BATCH_BYTES = 64 * 1024 * 1024
"""Written at once: large enough for DuckDB to be quick, small enough to stay in memory."""
COMMIT_AFTER_SECONDS = (4.0, 10.0, 30.0)
"""How long new texts wait to become searchable during a long run; the last one repeats."""
SMALL_BYTES = 8 * 1024 * 1024


@dataclass(slots=True)
class Loading:
    places: Places
    rows: database.Writer
    sources: Mapping[str, Source]
    fields: tuple[str, ...]
    clock: Clock
    tell: Callable[[Progress], None]
    workers: int
    tasks: list[Task]
    before: dict[str, Before]
    """What the index has of the sessions that are read; kept up to date."""
    result: Refreshed
    time_limit_seconds: float | None = None
    done: list[Task] = field(default_factory=list)
    """Read to their end, and written."""
    _batch: Batch = field(init=False)
    _written: set[str] = field(default_factory=set)
    """Sessions whose texts the writer has, but has not committed."""
    _committed: set[str] = field(default_factory=set)
    """Sessions whose note in DuckDB can go."""
    _begun: set[int] = field(default_factory=set)
    """Files of which something was read."""
    _files: int = 0
    _all_bytes: int = 0

    def load(self) -> None:
        self._batch = self._new_batch()
        self._all_bytes = sum(task.size for task in self.tasks)
        waits = list(COMMIT_AFTER_SECONDS)
        started = time.monotonic()
        commit_at = started + waits[0]
        limit = inf if self.time_limit_seconds is None else self.time_limit_seconds
        with (
            _no_garbage_collection(),
            TextWriter(self.places.texts, is_small=self.rows.is_kept_open) as writer,
            closing(read_all(self.tasks, self.sources, self.workers)) as results,
        ):
            for found in results:
                if isinstance(found, Failure):
                    self._count_failure(found)
                    continue
                if self._batch.bytes > BATCH_BYTES or not self._batch.takes(found):
                    self._write(writer)
                    if time.monotonic() > commit_at:
                        self._commit(writer)
                        waits = waits[1:] or waits
                        commit_at = time.monotonic() + waits[0]
                self._batch.add(found)
                self._count(found)
                if time.monotonic() - started > limit:
                    break
            self.result.left = len(self.tasks) - self._files
            self._write(writer)
            self._commit(writer)
            with self.rows.transaction(self.clock.now()) as connection:
                self._clear_notes(connection)
            # Before the writer waits for its segments to be merged: others may read meanwhile.
            self.rows.close()

    def _new_batch(self) -> Batch:
        return Batch({task.number: task for task in self.tasks}, self.before, self.fields)

    def _write(self, writer: TextWriter) -> None:
        if not self._batch.frames:
            return
        now = self.clock.now()
        with self.rows.transaction(now) as connection:
            self._clear_notes(connection)
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
        for frame in change.frames:
            writer.add(change.owner, texts_of(frame, self.fields))
        self._written.add(change.owner.session_id)

    def _commit(self, writer: TextWriter) -> None:
        if writer.is_dirty:
            writer.commit()
        self._committed |= self._written
        for session in self._written:
            self.before[session].pending_from = None
        self._written.clear()

    def _clear_notes(self, connection: DuckDBPyConnection) -> None:
        if self._committed:
            connection.execute(
                "UPDATE sessions SET texts_pending_from = NULL WHERE id IN (SELECT unnest(?))",
                [list(self._committed)],
            )
            self._committed.clear()

    def _count(self, frame: Frame) -> None:
        result, task = self.result, self.tasks[frame.number]
        result.messages += frame.messages[0]
        if frame.number in self._begun:
            # What began in an earlier stretch of the file was counted there.
            result.messages -= len(frame.replaced_messages)
        self._begun.add(frame.number)
        result.tool_calls += frame.tool_calls[0]
        if not frame.is_last:
            return
        result.indexed += 1
        self.done.append(task)
        result.bytes += task.size
        outcome = "read"
        if bad := frame.session.bad_lines:
            outcome = f"read, but {bad} {'line' if bad == 1 else 'lines'} could not be understood"
            result.warnings.append(f"{task.path}: {outcome}")
        self._tell(task, outcome)

    def _count_failure(self, failure: Failure) -> None:
        task = self.tasks[failure.number]
        outcome = f"can't be read: {failure.reason}"
        self.result.failed += 1
        self.result.warnings.append(f"{task.path}: {outcome}")
        self._tell(task, outcome)

    def _tell(self, task: Task, outcome: str) -> None:
        self._files += 1
        done = self.result.bytes
        self.tell(Progress(self._files, len(self.tasks), done, self._all_bytes, task.path, outcome))


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Rows come and go by the million and hold no circles: looking for circles is a waste."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
