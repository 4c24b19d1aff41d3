"""Bring the index up to date with the agents' files.

DuckDB is the truth. `sessions.texts_pending_from` marks what the full-text index still lacks (see
pipeline.py), so that after a kill the next run writes those texts again from DuckDB.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from navi.base.clock import Clock
from navi.memory import database, tags
from navi.memory.index_errors import NoIndex
from navi.memory.index_paths import Places
from navi.memory.index_settings import full_text_format
from navi.memory.ingest import backup, index_lock, unchanged, upgrade
from navi.memory.ingest.file_reader import Task
from navi.memory.ingest.pipeline import SMALL_BYTES, Pipeline
from navi.memory.ingest.plan import IndexedFile, IndexedFiles, Plan, make_plan
from navi.memory.ingest.report import Progress, RefreshResult, ignore_progress
from navi.memory.ingest.unchanged import Scan
from navi.memory.ingest.write import tantivy_writer
from navi.memory.ingest.write.duckdb_writer import IndexedSession, texts_in
from navi.memory.ingest.write.session_cards import Card, cards
from navi.memory.ingest.write.tantivy_writer import Owner, TextWriter
from navi.vendors.source import Source

CARD_ONLY = 2**31 - 1
"""A `texts_pending_from` after every message: only the session's card has to be rewritten."""
REPAIR_BATCH = 20_000
"""In texts: limits memory, and lets other processes open DuckDB between batches."""


@dataclass(slots=True)
class Survey:
    """The state of the index and of the disk before a run."""

    indexed_files: IndexedFiles
    plan: Plan
    pending: list[tuple[str, int]]
    """Sessions whose texts are not written yet, and the first message that is missing."""
    has_texts: bool
    """False if the full-text index is missing, damaged or in another format."""


@dataclass(slots=True)
class Refresh:
    """One pass over the files of `sources`."""

    places: Places
    sources: Mapping[str, Source]
    """By name."""
    fields: tuple[str, ...]
    clock: Clock
    on_progress: Callable[[Progress], None] = ignore_progress
    in_parallel: bool = True
    """Whether a second process may read the files."""
    is_full: bool = False
    """Whether to read every file again from its start."""
    time_limit_seconds: float | None = None
    """Reading stops after this; the next run continues where this one stopped."""
    patience_seconds: float = 0.0
    """How long to wait for another process that is writing."""

    def run(
        self, *, doing: str = "recall index", recreate: bool = False, scan: Scan | None = None
    ) -> RefreshResult:
        """`scan` was taken a moment ago; it is used if the index has not changed since."""
        started = time.perf_counter()
        self.places.prepare()
        with index_lock.exclusive(
            self.places.lock, doing, self.clock.now(), patience_seconds=self.patience_seconds
        ):
            survey = None if self.is_full or recreate else self._survey_from_scan(scan)
            unchanged.forget(self.places)
            backup.finish_interrupted(self.places)
            warnings = backup.start_over(self.places, self.clock.now()) if recreate else []
            result, indexed_files, stamps = self._run(survey)
            if result.failed or result.left:
                # Only DuckDB has recorded how far the unfinished files were read.
                with database.reading(self.places) as connection:
                    indexed_files, stamps = _indexed_files(connection), {}
            unchanged.save(self.places, self.fields, indexed_files, stamps)
        result.warnings[:0] = warnings
        result.seconds = round(time.perf_counter() - started, 3)
        return result

    def needs_rebuild(self) -> bool:
        """Whether the full-text index has to be rebuilt, which can take minutes."""
        with database.reading(self.places) as connection:
            facts = dict(connection.execute("SELECT name, value FROM facts").fetchall())
        return not self._has_texts(facts)

    def _survey_from_scan(self, scan: Scan | None) -> Survey | None:
        """From the saved file list, which exists only if the last run left nothing to do."""
        if scan is None or not unchanged.is_current(self.places, scan):
            scan = unchanged.scan(self.places, self.sources.values(), self.fields)
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
        result = plan.as_result()
        pending = dict(survey.pending)
        if plan.vanished or plan.returned:
            pending.update(self._archive(plan))
        if pending:
            self._repair(list(pending.items()))
        if plan.changed:
            for task in self._load(plan, indexed_files, result):
                file = (task.source, task.path)
                indexed_files[file] = IndexedFile(task.session_id, task.mtime, task.size, False)
        is_archived = {
            **dict.fromkeys(plan.vanished, True),
            **dict.fromkeys(plan.returned, False),
        }
        if is_archived:
            for file, each in indexed_files.items():
                if each.id in is_archived:
                    indexed_files[file] = each._replace(is_archived=is_archived[each.id])
        return result, indexed_files, plan.stamps

    def _survey(self) -> Survey:
        upgrade.apply(self.places, self.sources, self.clock.now())
        with database.reading(self.places) as connection:
            indexed_files = _indexed_files(connection)
            facts = dict(connection.execute("SELECT name, value FROM facts").fetchall())
            pending = connection.execute(
                "SELECT id, texts_pending_from FROM sessions WHERE texts_pending_from IS NOT NULL"
            ).fetchall()
            tags.save_copy(connection, self.places)
        plan = make_plan(self.sources.values(), indexed_files, is_full=self.is_full)
        return Survey(indexed_files, plan, pending, self._has_texts(facts))

    def _has_texts(self, facts: Mapping[str, str]) -> bool:
        is_same_format = facts.get("texts") == full_text_format(self.fields)
        return is_same_format and tantivy_writer.is_usable(self.places.texts)

    def _load(
        self,
        plan: Plan,
        indexed_files: IndexedFiles,
        result: RefreshResult,
    ) -> list[Task]:
        """Read the changed files, and return those that are now in the index."""
        is_small = sum(file.size for _, _, file in plan.changed) < SMALL_BYTES
        duckdb_writer = database.Writer(self.places, is_kept_open=is_small)
        with closing(duckdb_writer):
            with duckdb_writer.transaction(self.clock.now()) as connection:
                tasks, indexed_sessions = self._tasks(connection, plan, indexed_files)
            pipeline = Pipeline(
                self.places,
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
            session
            for session, source, file in plan.changed
            if (source, file.path) in indexed_files
        ]
        indexed_sessions = _indexed_sessions(connection, ids)
        marks = {} if self.is_full else _marks(connection, ids)
        tasks = []
        for number, (session, source, file) in enumerate(plan.changed):
            position = marks.get(session, (None, 0, 0))
            tasks.append(Task(number, session, source, *file, *position))
        return tasks, indexed_sessions

    def _start_texts(self) -> None:
        """Create an empty full-text index and mark every session as pending."""
        now = self.clock.now()
        # In this order, because after a kill in between the next run does it all again.
        with database.writing(self.places, now) as connection:
            connection.execute("DELETE FROM facts WHERE name = 'texts'")
            connection.execute("UPDATE sessions SET texts_pending_from = 0")
        tantivy_writer.remove(self.places.texts)
        with TextWriter(self.places.texts, is_small=True) as writer:
            writer.commit()
        with database.writing(self.places, now) as connection:
            connection.execute(
                "INSERT INTO facts VALUES ('texts', ?)", [full_text_format(self.fields)]
            )

    def _archive(self, plan: Plan) -> list[tuple[str, int]]:
        """Record which files vanished or returned, and return their sessions as pending."""
        pending: list[tuple[str, int]] = []
        with database.writing(self.places, self.clock.now()) as connection:
            for is_archived, ids in ((True, plan.vanished), (False, plan.returned)):
                pending += connection.execute(
                    "UPDATE sessions SET is_archived = ?, "
                    "texts_pending_from = coalesce(texts_pending_from, ?) "
                    "WHERE id IN (SELECT unnest(?)) RETURNING id, texts_pending_from",
                    [is_archived, CARD_ONLY, ids],
                ).fetchall()
        return pending

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
        """Repair a batch, and return what is still pending."""
        batch: list[tuple[Card, int, list[tantivy_writer.Text]]] = []
        with database.reading(self.places) as connection:
            cards_by_id = cards(connection, [session for session, _ in pending])
            count = 0
            while pending and count < REPAIR_BATCH:
                session, from_idx = pending.pop()
                texts = texts_in(connection, session, from_idx, self.fields)
                batch.append((cards_by_id[session], from_idx, texts))
                count += len(texts) + 1
        for card, from_idx, texts in batch:
            writer.delete(card.session_id, from_idx)
            writer.add_card(card)
            writer.add(Owner(card.session_id, card.source), texts)
        return pending


def _indexed_files(connection: DuckDBPyConnection) -> IndexedFiles:
    rows = connection.execute(
        "SELECT source, source_path, id, file_mtime, file_size, is_archived FROM sessions"
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
    return {row[0]: IndexedSession(Owner(*row[:2]), *row[2:]) for row in rows}


def _marks(connection: DuckDBPyConnection, ids: list[str]) -> dict[str, tuple[bytes, int, int]]:
    """Where reading continues: the mark, the next message and the next call outside messages."""
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
