"""Bring the index up to date with the agents' files.

DuckDB is the truth. A session's rows are committed together with a note that the full-text still
lacks them; then the full-text takes them and commits; then the note goes. Whenever the process is
killed, the next run finds the note and writes those texts again from DuckDB.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from navi.domain.clock import Clock
from navi.index import backup, database, lock, texts
from navi.index.batch import Batch, Before, Change, texts_in, texts_of
from navi.index.crew import WORKERS, read_all
from navi.index.places import Places
from navi.index.plan import Known, Plan, plan
from navi.index.reading import Failure, Frame, Task
from navi.index.texts import Owner, TextWriter
from navi.sources.source import Source

BATCH_BYTES = 64 * 1024 * 1024
"""Written at once: large enough for DuckDB to be quick, small enough to stay in memory."""
COMMIT_AFTER_SECONDS = (4.0, 10.0, 30.0)
"""How long new texts wait to become searchable during a long run; the last one repeats."""
REPAIRED_AT_ONCE = 20_000
SMALL_BYTES = 8 * 1024 * 1024


@dataclass(slots=True)
class Refreshed:
    indexed: int = 0
    skipped: int = 0
    failed: int = 0
    total: int = 0
    messages: int = 0
    tool_calls: int = 0
    bytes: int = 0
    seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Progress:
    files: int
    all_files: int
    bytes: int
    all_bytes: int
    path: str
    """The file just finished."""
    outcome: str
    """What became of it, for the log."""


def silent(_: Progress) -> None:
    pass


@dataclass(slots=True)
class Refresh:
    """One run. `sources` by name are the ones to look at."""

    places: Places
    sources: Mapping[str, Source]
    fields: tuple[str, ...]
    clock: Clock
    tell: Callable[[Progress], None] = silent
    workers: int = WORKERS
    is_full: bool = False

    def run(self, *, doing: str = "recall index", recreate: bool = False) -> Refreshed:
        started = time.perf_counter()
        self.places.prepare()
        with lock.held(self.places.lock, doing, self.clock.now()):
            backup.finish_interrupted(self.places)
            warnings = backup.start_over(self.places, self.clock.now()) if recreate else []
            result = self._run()
        result.warnings[:0] = warnings
        result.seconds = round(time.perf_counter() - started, 3)
        return result

    def _run(self) -> Refreshed:
        known, pending = self._look()
        planned = plan(self.sources.values(), known, is_full=self.is_full)
        result = Refreshed(
            skipped=planned.skipped, total=planned.total, warnings=list(planned.warnings)
        )
        if planned.vanished or planned.returned:
            self._note_files(planned)
        if pending:
            self._repair(pending)
        if planned.changed:
            tasks, before = self._tasks(planned, known)
            with _no_garbage_collection():
                _Run(self, tasks, before, result).read()
        return result

    def _look(self) -> tuple[dict[tuple[str, str], Known], list[tuple[str, int]]]:
        """The files the index knows, and the sessions whose texts are not written yet."""
        if not self.places.database.exists():
            self._empty_texts()
            with database.writing(self.places, self.clock.now()) as connection:
                connection.execute("INSERT INTO facts VALUES ('texts', ?)", [self._texts_are()])
            return {}, []
        with database.reading(self.places) as connection:
            facts = dict(connection.execute("SELECT name, value FROM facts").fetchall())
            rows = connection.execute(
                "SELECT source, source_path, id, file_mtime, file_size, is_archived, "
                "texts_pending_from FROM sessions"
            ).fetchall()
        known = {(row[0], row[1]): Known(*row[2:6]) for row in rows}
        if facts.get("texts") == self._texts_are() and (
            not rows or texts.is_usable(self.places.texts)
        ):
            return known, [(row[2], row[6]) for row in rows if row[6] is not None]
        self._forget_texts()
        return known, [(row[2], 0) for row in rows]

    def _texts_are(self) -> str:
        """How the full-text is made; if that changes, it is made anew."""
        return f"{texts.VERSION} {','.join(self.fields)}"

    def _forget_texts(self) -> None:
        with database.writing(self.places, self.clock.now()) as connection:
            connection.execute("UPDATE sessions SET texts_pending_from = 0")
            connection.execute("DELETE FROM facts WHERE name = 'texts'")
            connection.execute("INSERT INTO facts VALUES ('texts', ?)", [self._texts_are()])
        self._empty_texts()

    def _empty_texts(self) -> None:
        texts.remove(self.places.texts)
        with TextWriter(self.places.texts, is_small=True) as writer:
            writer.commit()

    def _note_files(self, planned: Plan) -> None:
        with database.writing(self.places, self.clock.now()) as connection:
            for is_archived, ids in ((True, planned.vanished), (False, planned.returned)):
                connection.execute(
                    "UPDATE sessions SET is_archived = ? WHERE id IN (SELECT unnest(?))",
                    [is_archived, ids],
                )

    def _repair(self, pending: list[tuple[str, int]]) -> None:
        with TextWriter(self.places.texts) as writer:
            while pending:
                pending = self._repair_some(writer, pending)
            writer.commit()
            with database.writing(self.places, self.clock.now()) as connection:
                connection.execute("UPDATE sessions SET texts_pending_from = NULL")

    def _repair_some(
        self, writer: TextWriter, pending: list[tuple[str, int]]
    ) -> list[tuple[str, int]]:
        """The rest."""
        found: list[tuple[Owner, int, list[texts.Text]]] = []
        with database.reading(self.places) as connection:
            owners = _owners(connection, [session for session, _ in pending])
            count = 0
            while pending and count < REPAIRED_AT_ONCE:
                session, from_idx = pending.pop()
                each = texts_in(connection, session, from_idx, self.fields)
                found.append((owners[session].owner, from_idx, each))
                count += len(each)
        for owner, from_idx, each in found:
            writer.delete(owner.session_id, from_idx)
            writer.add_card(owner)
            writer.add(owner, each)
        return pending

    def _tasks(
        self, planned: Plan, known: Mapping[tuple[str, str], Known]
    ) -> tuple[list[Task], dict[str, Before]]:
        before: dict[str, Before] = {}
        marks: dict[str, tuple[str, int]] = {}
        ids = [session for session, source, file in planned.changed if (source, file.path) in known]
        if ids:
            with database.reading(self.places) as connection:
                before = _owners(connection, ids)
                marks = {
                    row[0]: row[1:]
                    for row in connection.execute(
                        "SELECT sessions.id, mark, coalesce(max(idx) + 1, 0) FROM sessions "
                        "LEFT JOIN messages ON session_id = sessions.id "
                        "WHERE sessions.id IN (SELECT unnest(?)) GROUP BY 1, 2",
                        [ids],
                    ).fetchall()
                }
        tasks = []
        for number, (session, source, file) in enumerate(planned.changed):
            mark, next_idx = (None, 0) if self.is_full else marks.get(session, (None, 0))
            tasks.append(
                Task(
                    number,
                    session,
                    source,
                    *file,
                    mark=None if mark is None else mark.encode(),
                    next_idx=next_idx,
                )
            )
        return tasks, before


class _Run:
    """The reading of changed files, batch by batch."""

    def __init__(
        self, refresh: Refresh, tasks: list[Task], before: dict[str, Before], result: Refreshed
    ) -> None:
        self._refresh = refresh
        self._tasks = {task.number: task for task in tasks}
        self._before = before
        self._result = result
        self._batch = self._new_batch()
        self._written: set[str] = set()
        """Sessions whose texts the writer has, but has not committed."""
        self._committed: set[str] = set()
        """Sessions whose note in DuckDB can go."""
        self._all_bytes = sum(task.size for task in tasks)
        self._commit_after = list(COMMIT_AFTER_SECONDS)
        self._commit_at = time.monotonic() + self._commit_after[0]
        self._files = 0

    def read(self) -> None:
        refresh = self._refresh
        is_small = self._all_bytes < SMALL_BYTES
        with TextWriter(refresh.places.texts, is_small=is_small) as self._writer:
            for found in read_all(list(self._tasks.values()), refresh.sources, refresh.workers):
                if isinstance(found, Failure):
                    self._count_failure(found)
                    continue
                if self._batch.bytes > BATCH_BYTES or not self._batch.takes(found):
                    self._write()
                    if time.monotonic() > self._commit_at:
                        self._commit()
                self._batch.add(found)
                self._count(found)
            self._write()
            self._commit()
            with database.writing(refresh.places, refresh.clock.now()) as connection:
                self._clear_notes(connection)

    def _new_batch(self) -> Batch:
        return Batch(self._tasks, self._before, self._refresh.fields)

    def _write(self) -> None:
        if not self._batch.frames:
            return
        now = self._refresh.clock.now()
        with database.writing(self._refresh.places, now) as connection:
            self._clear_notes(connection)
            changes = self._batch.write(connection, now)
        self._batch = self._new_batch()
        for change in changes:
            self._write_texts(change)

    def _write_texts(self, change: Change) -> None:
        if change.delete_from is not None:
            self._writer.delete(change.owner.session_id, change.delete_from)
        self._writer.add_card(change.owner)
        if change.texts is not None:
            self._writer.add(change.owner, change.texts)
        for frame in change.frames:
            self._writer.add(change.owner, texts_of(frame, self._refresh.fields))
        self._written.add(change.owner.session_id)

    def _commit(self) -> None:
        if self._writer.is_dirty:
            self._writer.commit()
        self._committed |= self._written
        for session in self._written:
            self._before[session].pending_from = None
        self._written.clear()
        if len(self._commit_after) > 1:
            self._commit_after.pop(0)
        self._commit_at = time.monotonic() + self._commit_after[0]

    def _clear_notes(self, connection: Any) -> None:
        if self._committed:
            connection.execute(
                "UPDATE sessions SET texts_pending_from = NULL WHERE id IN (SELECT unnest(?))",
                [list(self._committed)],
            )
            self._committed.clear()

    def _count(self, frame: Frame) -> None:
        result, task = self._result, self._tasks[frame.number]
        result.messages += frame.messages[0]
        result.tool_calls += frame.tool_calls[0]
        if not frame.is_last:
            return
        result.indexed += 1
        result.bytes += task.size
        outcome = "read"
        if bad := frame.session.bad_lines:
            lines = "a line that is" if bad == 1 else f"{bad} lines that are"
            outcome = f"read, without {lines} no JSON of this agent"
            result.warnings.append(f"{task.path}: {outcome}")
        self._tell(task, outcome)

    def _count_failure(self, failure: Failure) -> None:
        task = self._tasks[failure.number]
        self._result.failed += 1
        self._result.warnings.append(f"{task.path}: can't be read: {failure.reason}")
        self._tell(task, f"can't be read: {failure.reason}")

    def _tell(self, task: Task, outcome: str) -> None:
        self._files += 1
        self._refresh.tell(
            Progress(
                self._files,
                len(self._tasks),
                self._result.bytes,
                self._all_bytes,
                task.path,
                outcome,
            )
        )


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


def _owners(connection: Any, ids: Iterable[str]) -> dict[str, Before]:
    rows = connection.execute(
        "SELECT id, source, source_session_id, coalesce(git_repo, cwd), cwd, title, git_repo, "
        "texts_pending_from FROM sessions WHERE id IN (SELECT unnest(?))",
        [list(ids)],
    ).fetchall()
    return {row[0]: Before(Owner(*row[:6]), row[6], row[7]) for row in rows}
