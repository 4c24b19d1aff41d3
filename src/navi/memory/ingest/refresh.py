"""One pass: brings the index up to date with the agents' files.

DuckDB is authoritative. `sessions.texts_pending_from` marks what the full-text index still lacks
(see pipeline.py). If the process is killed, the next pass writes those texts again from DuckDB.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from navi.base.clock import Clock
from navi.memory import database, tags
from navi.memory.hosts import duplicates, moves
from navi.memory.hosts.host_source import RECEIVED, with_received
from navi.memory.index_errors import NoIndex
from navi.memory.index_paths import IndexPaths
from navi.memory.index_schema import READER
from navi.memory.index_settings import TEXTS_VERSION, full_text_format
from navi.memory.ingest import backup, index_lock, unchanged, upgrade
from navi.memory.ingest.file_reader import Task
from navi.memory.ingest.pipeline import SMALL_BYTES, Pipeline
from navi.memory.ingest.plan import IndexedFile, IndexedFiles, Plan, make_plan
from navi.memory.ingest.report import Progress, RefreshResult, ignore_progress
from navi.memory.ingest.unchanged import Scan
from navi.memory.ingest.write import tantivy_writer
from navi.memory.ingest.write.duckdb_writer import IndexedSession, delete_sessions, texts_in
from navi.memory.ingest.write.session_cards import Card, cards
from navi.memory.ingest.write.tantivy_writer import TextOwner, TextWriter
from navi.memory.keep import keeping
from navi.vendors.source import Source

CARD_ONLY = 2**31 - 1
"""A `texts_pending_from` beyond the last message: only the session's card is rewritten."""
PENDING_BATCH = 20_000
"""How many texts. Limits memory, and lets other processes open DuckDB between batches."""


@dataclass(slots=True)
class Survey:
    """The state of the index and of the disk before a pass."""

    indexed_files: IndexedFiles
    plan: Plan
    pending: list[tuple[str, int]]
    """Each session with texts that the full-text index lacks: its id, and the `idx` of the first
    message whose text is missing."""
    has_texts: bool
    """False if the full-text index is missing, damaged or in another format."""


@dataclass(slots=True)
class Refresh:
    """One pass over the files of `sources`."""

    paths: IndexPaths
    sources: Mapping[str, Source]
    """By name."""
    fields: tuple[str, ...]
    """Which texts are searchable (`index_settings`)."""
    clock: Clock
    on_progress: Callable[[Progress], None] = ignore_progress
    in_parallel: bool = True
    """Whether to read the files in a process of their own, if there is enough to read."""
    is_full: bool = False
    """Whether to read every file again from its start."""
    time_limit_seconds: float | None = None
    """Reading stops after this time; the next pass continues where this one stopped."""
    patience_seconds: float = 0.0
    """How long to wait for another process that is writing."""

    def __post_init__(self) -> None:
        readers = with_received(self.paths, self.sources.values())
        self.sources = {source.name: source for source in readers}

    def run(
        self, *, doing: str = "recall index", recreate: bool = False, scan: Scan | None = None
    ) -> RefreshResult:
        """Run the pass. A `scan` saves time, unless the index has changed since the scan."""
        started = time.perf_counter()
        self.paths.prepare()
        with index_lock.exclusive(
            self.paths.lock, doing, self.clock.now(), patience_seconds=self.patience_seconds
        ):
            survey = None if self.is_full or recreate else self._survey_from_scan(scan)
            unchanged.remove_file_list(self.paths)
            backup.finish_interrupted(self.paths)
            warnings = backup.start_over(self.paths, self.clock.now()) if recreate else []
            result, indexed_files, stamps = self._run(survey)
            if result.failed or result.unfinished:
                # Only DuckDB has recorded how far the unfinished files were read.
                with database.reading(self.paths) as connection:
                    indexed_files, stamps = _indexed_files(connection), {}
            # Before the file list is saved: if this is killed in between, the next pass finds the
            # list out of date and compares the files again.
            kept = keeping.follow(self.paths, self.sources, indexed_files, self.time_limit_seconds)
            unchanged.save_file_list(self.paths, self.fields, indexed_files, stamps)
        result.warnings[:0] = warnings
        result.warnings += kept.warnings
        result.seconds = round(time.perf_counter() - started, 3)
        return result

    def rebuild_reason(self) -> str | None:
        """Why the full-text index has to be rebuilt, which can take minutes; else None."""
        with suppress(NoIndex), database.reading(self.paths) as connection:
            facts = dict(connection.execute("SELECT name, value FROM facts").fetchall())
            if self._has_texts(facts):
                return None
            version, _, fields = facts.get("texts", "").partition(" ")
            if version and version != str(TEXTS_VERSION):
                return "this version of recall also finds what tools printed and how turns ended"
            if version and fields != ",".join(self.fields):
                return "the setting for searchable texts has changed"
            return "the full-text index is missing or damaged"
        return None

    def _survey_from_scan(self, scan: Scan | None) -> Survey | None:
        """A survey made without DuckDB; None if the file list is not valid. A valid list means that
        no texts are pending."""
        if scan is None or not unchanged.is_current(self.paths, scan):
            scan = unchanged.scan(self.paths, self.sources.values(), self.fields)
        return None if scan is None else Survey(scan.indexed_files, scan.plan, [], True)

    def _run(self, survey: Survey | None) -> tuple[RefreshResult, IndexedFiles, dict[str, str]]:
        """The result, the files as the index has them now, and the sources' stamps."""
        if survey is None:
            with suppress(NoIndex):
                survey = self._survey()
        if survey is None or not survey.has_texts:
            self._start_texts()
            survey = self._survey()
        plan, indexed_files = survey.plan, survey.indexed_files
        pending = dict(survey.pending)
        moves.forget_earlier_bundles(plan, indexed_files)
        if received_ids := duplicates.ids_with_own_file(plan, indexed_files):
            for session_id in self._drop_received(received_ids):
                pending.pop(session_id, None)
            duplicates.leave_out(plan, indexed_files, received_ids)
        result = plan.as_result()
        if plan.vanished_ids or plan.returned_ids:
            pending.update(self._update_archived(plan))
        if pending:
            self._write_pending(list(pending.items()))
        if plan.changed:
            for task in self._index_changed_files(plan, indexed_files, result):
                file = (task.source, task.path)
                indexed_files[file] = IndexedFile(task.session_id, task.mtime, task.size, False)
        changed_sources = {source for _, source, _ in plan.changed}
        has_received = RECEIVED in changed_sources.union(source for source, _ in indexed_files)
        if plan.changed and has_received and (ids := duplicates.ids_of_own_sessions(self.paths)):
            self._drop_received(ids)
            duplicates.leave_out(plan, indexed_files, ids)
        archived_by_id = {
            **dict.fromkeys(plan.vanished_ids, True),
            **dict.fromkeys(plan.returned_ids, False),
        }
        if archived_by_id:
            for file, each in indexed_files.items():
                if each.session_id in archived_by_id:
                    indexed_files[file] = each._replace(is_archived=archived_by_id[each.session_id])
        return result, indexed_files, plan.stamps

    def _survey(self) -> Survey:
        upgrade.apply(self.paths, self.sources, self.clock.now())
        with database.reading(self.paths) as connection:
            indexed_files = _indexed_files(connection)
            facts = dict(connection.execute("SELECT name, value FROM facts").fetchall())
            pending = connection.execute(
                "SELECT id, texts_pending_from FROM sessions WHERE texts_pending_from IS NOT NULL"
            ).fetchall()
            tags.save_copy(connection, self.paths)
        plan = make_plan(self.sources.values(), indexed_files, is_full=self.is_full)
        return Survey(indexed_files, plan, pending, self._has_texts(facts))

    def _has_texts(self, facts: Mapping[str, str]) -> bool:
        is_same_format = facts.get("texts") == full_text_format(self.fields)
        return is_same_format and tantivy_writer.is_usable(self.paths.texts)

    def _index_changed_files(
        self,
        plan: Plan,
        indexed_files: IndexedFiles,
        result: RefreshResult,
    ) -> list[Task]:
        """Read the changed files, and return those that are now in the index."""
        is_small = sum(file.size for _, _, file in plan.changed) < SMALL_BYTES
        duckdb_writer = database.Writer(self.paths, is_kept_open=is_small)
        with closing(duckdb_writer):
            with duckdb_writer.transaction(self.clock.now()) as connection:
                tasks, indexed_sessions = self._tasks(connection, plan, indexed_files)
            pipeline = Pipeline(
                self.paths,
                duckdb_writer,
                self.sources,
                self.fields,
                self.clock,
                self.on_progress,
                self.in_parallel,
                tasks,
                indexed_sessions,
                result,
                self.time_limit_seconds,
            )
            pipeline.run()
        return pipeline.written_tasks

    def _tasks(
        self,
        connection: DuckDBPyConnection,
        plan: Plan,
        indexed_files: IndexedFiles,
    ) -> tuple[list[Task], dict[str, IndexedSession]]:
        ids = [
            session_id
            for session_id, source, file in plan.changed
            # A received session may now come in a different machine's bundle.
            if (source, file.path) in indexed_files or source == RECEIVED
        ]
        indexed_sessions = _indexed_sessions(connection, ids)
        positions = {} if self.is_full else _positions(connection, ids)
        tasks = []
        for number, (session_id, source, file) in enumerate(plan.changed):
            position = positions.get(session_id, (None, 0, 0))
            tasks.append(Task(number, session_id, source, *file, *position))
        return tasks, indexed_sessions

    def _start_texts(self) -> None:
        """Create an empty full-text index and mark every session as pending."""
        now = self.clock.now()
        # The order matters: if the process is killed in between, the next pass does it all again.
        with database.writing(self.paths, now) as connection:
            connection.execute("DELETE FROM facts WHERE name = 'texts'")
            connection.execute("UPDATE sessions SET texts_pending_from = 0")
        tantivy_writer.remove(self.paths.texts)
        with TextWriter(self.paths.texts, uses_small_heap=True) as writer:
            writer.commit()
        with database.writing(self.paths, now) as connection:
            connection.execute(
                "INSERT INTO facts VALUES ('texts', ?)", [full_text_format(self.fields)]
            )

    def _update_archived(self, plan: Plan) -> list[tuple[str, int]]:
        """Record which files vanished or came back, and return their sessions as pending."""
        pending: list[tuple[str, int]] = []
        with database.writing(self.paths, self.clock.now()) as connection:
            for is_archived, ids in ((True, plan.vanished_ids), (False, plan.returned_ids)):
                pending += connection.execute(
                    "UPDATE sessions SET is_archived = ?, "
                    "texts_pending_from = coalesce(texts_pending_from, ?) "
                    "WHERE id IN (SELECT unnest(?)) RETURNING id, texts_pending_from",
                    [is_archived, CARD_ONLY, ids],
                ).fetchall()
        return pending

    def _drop_received(self, ids: Collection[str]) -> list[str]:
        """Drop received copies of sessions whose own file is on this machine.

        Returns the ids of those that were in the index.
        """
        duplicates.put_away(self.paths, ids)
        with database.reading(self.paths) as connection:
            indexed_ids = duplicates.received_among(connection, ids)
        if not indexed_ids:
            return []
        with TextWriter(self.paths.texts, uses_small_heap=True) as writer:
            for session_id in indexed_ids:
                writer.delete(session_id, 0)
            writer.commit()
        with database.writing(self.paths, self.clock.now()) as connection:
            delete_sessions(connection, indexed_ids)
        return indexed_ids

    def _write_pending(self, pending: list[tuple[str, int]]) -> None:
        with TextWriter(self.paths.texts) as writer:
            while pending:
                pending = self._write_pending_batch(writer, pending)
            writer.commit()
            with database.writing(self.paths, self.clock.now()) as connection:
                connection.execute("UPDATE sessions SET texts_pending_from = NULL")

    def _write_pending_batch(
        self, writer: TextWriter, pending: list[tuple[str, int]]
    ) -> list[tuple[str, int]]:
        """Write a batch of pending texts and cards, and return what is still pending."""
        batch: list[tuple[Card, int, list[tantivy_writer.Text]]] = []
        with database.reading(self.paths) as connection:
            cards_by_id = cards(connection, [session_id for session_id, _ in pending])
            count = 0
            while pending and count < PENDING_BATCH:
                session_id, from_idx = pending.pop()
                texts = texts_in(connection, session_id, from_idx, self.fields)
                batch.append((cards_by_id[session_id], from_idx, texts))
                count += len(texts) + 1
        for card, from_idx, texts in batch:
            writer.delete(card.session_id, from_idx)
            writer.add_card(card)
            writer.add(TextOwner(card.session_id, card.source), texts)
        return pending


def _indexed_files(connection: DuckDBPyConnection) -> IndexedFiles:
    rows = connection.execute(
        f"SELECT {READER}, source_path, id, file_mtime, file_size, is_archived FROM sessions"
    ).fetchall()
    return {(row[0], row[1]): IndexedFile(*row[2:]) for row in rows}


def _indexed_sessions(
    connection: DuckDBPyConnection, ids: Iterable[str]
) -> dict[str, IndexedSession]:
    rows = connection.execute(
        "SELECT id, source, cwd, git_repo, texts_pending_from FROM sessions "
        "WHERE id IN (SELECT unnest(?))",
        [list(ids)],
    ).fetchall()
    return {row[0]: IndexedSession(TextOwner(*row[:2]), *row[2:]) for row in rows}


def _positions(connection: DuckDBPyConnection, ids: list[str]) -> dict[str, tuple[bytes, int, int]]:
    """Where reading continues: the mark, the `idx` of the next message, and that of the next call
    that belongs to no message."""
    if not ids:
        return {}
    rows = connection.execute(
        "SELECT id, mark, "
        "coalesce((SELECT max(idx) + 1 FROM messages WHERE session_id = s.id), 0), "
        "coalesce((SELECT max(idx) + 1 FROM tool_calls WHERE session_id = s.id "
        "  AND message_idx IS NULL), 0) "
        "FROM sessions s WHERE id IN (SELECT unnest(?))",
        [ids],
    ).fetchall()
    return {row[0]: (row[1].encode(), row[2], row[3]) for row in rows}
