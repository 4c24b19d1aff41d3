"""Bring the index up to date with the agents' files.

DuckDB is the truth. Whenever a run is killed, the next one finds the notes of what the full-text
lacks (see loading.py) and writes those texts again from DuckDB.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from navi.base.clock import Clock
from navi.memory import database, tags
from navi.memory.index_errors import NoIndex
from navi.memory.index_paths import Places
from navi.memory.index_settings import texts_made_of
from navi.memory.ingest import backup, index_lock, unchanged, upgrade
from navi.memory.ingest.file_reader import Task
from navi.memory.ingest.pipeline import SMALL_BYTES, Loading
from navi.memory.ingest.plan import Known, Plan, plan
from navi.memory.ingest.report import Progress, Refreshed, silent
from navi.memory.ingest.unchanged import Seen
from navi.memory.ingest.write import tantivy_writer
from navi.memory.ingest.write.duckdb_writer import Before, texts_in
from navi.memory.ingest.write.session_cards import Card, cards
from navi.memory.ingest.write.tantivy_writer import Owner, TextWriter
from navi.vendors.source import Source

AFTER_ALL = 2**31 - 1
"""Of messages: only the session's card has to be written."""
REPAIRED_AT_ONCE = 20_000
"""Texts: few enough for memory, and for others to get at DuckDB in between."""


@dataclass(slots=True)
class Look:
    """What the index and the files have to say before anything is done."""

    known: dict[tuple[str, str], Known]
    """By source and path."""
    planned: Plan
    pending: list[tuple[str, int]]
    """Sessions whose texts are not written yet, and from which message on."""
    has_texts: bool
    """False if the full-text is lost, damaged, or made otherwise than it would be now."""


@dataclass(slots=True)
class Refresh:
    """`sources` by name are the ones to look at."""

    places: Places
    sources: Mapping[str, Source]
    fields: tuple[str, ...]
    clock: Clock
    tell: Callable[[Progress], None] = silent
    in_parallel: bool = True
    """Whether a process of its own may read the files."""
    is_full: bool = False
    time_limit_seconds: float | None = None
    """After that no further file is begun; the next run goes on where this one stopped."""
    patience_seconds: float = 0.0
    """How long to wait for another process that is writing."""

    def run(
        self, *, doing: str = "recall index", recreate: bool = False, seen: Seen | None = None
    ) -> Refreshed:
        """`seen` is the result of a look taken a moment ago; it is used if it still holds."""
        started = time.perf_counter()
        self.places.prepare()
        with index_lock.held(
            self.places.lock, doing, self.clock.now(), patience_seconds=self.patience_seconds
        ):
            noted = None if self.is_full or recreate else self._noted(seen)
            unchanged.forget(self.places)
            backup.finish_interrupted(self.places)
            warnings = backup.start_over(self.places, self.clock.now()) if recreate else []
            result, known, stamps = self._run(noted)
            if result.failed or result.left:
                # Only DuckDB knows how far the unfinished files were read.
                with database.reading(self.places) as connection:
                    known, stamps = _known(connection), {}
            unchanged.note(self.places, self.fields, known, stamps)
        result.warnings[:0] = warnings
        result.seconds = round(time.perf_counter() - started, 3)
        return result

    def needs_texts(self) -> bool:
        """Whether the full-text has to be made anew, which takes as long as there is text."""
        with database.reading(self.places) as connection:
            facts = dict(connection.execute("SELECT name, value FROM facts").fetchall())
        return not self._has_texts(facts)

    def _noted(self, seen: Seen | None) -> Look | None:
        """From the last run's note, which is made only if nothing was left to do."""
        if seen is None or not unchanged.is_still_true(self.places, seen):
            seen = unchanged.look(self.places, self.sources.values(), self.fields)
        return None if seen is None else Look(seen.known, seen.planned, [], True)

    def _run(
        self, look: Look | None
    ) -> tuple[Refreshed, dict[tuple[str, str], Known], dict[str, str]]:
        """What was done, the files as the index has them now, and their sources' stamps."""
        if look is None:
            try:
                look = self._look()
            except NoIndex:
                look = None
        if look is None or not look.has_texts:
            self._start_texts()
            look = self._look()
        planned, known = look.planned, look.known
        result = Refreshed(
            skipped=planned.skipped, total=planned.total, warnings=list(planned.warnings)
        )
        pending = dict(look.pending)
        if planned.vanished or planned.returned:
            pending.update(self._note_files(planned))
        if pending:
            self._repair(list(pending.items()))
        if planned.changed:
            for task in self._load(planned, known, result):
                file = (task.source, task.path)
                known[file] = Known(task.session_id, task.mtime, task.size, False)
        changed = {
            **dict.fromkeys(planned.vanished, True),
            **dict.fromkeys(planned.returned, False),
        }
        if changed:
            for file, each in known.items():
                if each.id in changed:
                    known[file] = each._replace(is_archived=changed[each.id])
        return result, known, planned.stamps

    def _look(self) -> Look:
        upgrade.apply(self.places, self.sources, self.clock.now())
        with database.reading(self.places) as connection:
            known = _known(connection)
            facts = dict(connection.execute("SELECT name, value FROM facts").fetchall())
            pending = connection.execute(
                "SELECT id, texts_pending_from FROM sessions WHERE texts_pending_from IS NOT NULL"
            ).fetchall()
            tags.note(connection, self.places)
        planned = plan(self.sources.values(), known, is_full=self.is_full)
        return Look(known, planned, pending, self._has_texts(facts))

    def _has_texts(self, facts: Mapping[str, str]) -> bool:
        is_made_so = facts.get("texts") == texts_made_of(self.fields)
        return is_made_so and tantivy_writer.is_usable(self.places.texts)

    def _load(
        self, planned: Plan, known: Mapping[tuple[str, str], Known], result: Refreshed
    ) -> list[Task]:
        """The files that were read to their end."""
        is_small = sum(file.size for _, _, file in planned.changed) < SMALL_BYTES
        rows = database.Writer(self.places, is_kept_open=is_small)
        with closing(rows):
            with rows.transaction(self.clock.now()) as connection:
                tasks, before = self._tasks(connection, planned, known)
            loading = Loading(
                self.places,
                rows,
                self.sources,
                self.fields,
                self.clock,
                self.tell,
                self.in_parallel,
                tasks,
                before,
                result,
                self.time_limit_seconds,
            )
            loading.load()
        return loading.done

    def _tasks(
        self,
        connection: DuckDBPyConnection,
        planned: Plan,
        known: Mapping[tuple[str, str], Known],
    ) -> tuple[list[Task], dict[str, Before]]:
        ids = [session for session, source, file in planned.changed if (source, file.path) in known]
        before = _before(connection, ids)
        marks = {} if self.is_full else _marks(connection, ids)
        tasks = []
        for number, (session, source, file) in enumerate(planned.changed):
            known_to = marks.get(session, (None, 0, 0))
            tasks.append(Task(number, session, source, *file, *known_to))
        return tasks, before

    def _start_texts(self) -> None:
        """An empty full-text that has to take everything."""
        now = self.clock.now()
        # In this order a kill in between leaves no doubt that it has to be done again.
        with database.writing(self.places, now) as connection:
            connection.execute("DELETE FROM facts WHERE name = 'texts'")
            connection.execute("UPDATE sessions SET texts_pending_from = 0")
        tantivy_writer.remove(self.places.texts)
        with TextWriter(self.places.texts, is_small=True) as writer:
            writer.commit()
        with database.writing(self.places, now) as connection:
            connection.execute(
                "INSERT INTO facts VALUES ('texts', ?)", [texts_made_of(self.fields)]
            )

    def _note_files(self, planned: Plan) -> list[tuple[str, int]]:
        """The sessions whose card says something else now, as if texts of theirs were missing."""
        noted: list[tuple[str, int]] = []
        with database.writing(self.places, self.clock.now()) as connection:
            for is_archived, ids in ((True, planned.vanished), (False, planned.returned)):
                noted += connection.execute(
                    "UPDATE sessions SET is_archived = ?, "
                    "texts_pending_from = coalesce(texts_pending_from, ?) "
                    "WHERE id IN (SELECT unnest(?)) RETURNING id, texts_pending_from",
                    [is_archived, AFTER_ALL, ids],
                ).fetchall()
        return noted

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
        found: list[tuple[Card, int, list[tantivy_writer.Text]]] = []
        with database.reading(self.places) as connection:
            shown = cards(connection, [session for session, _ in pending])
            count = 0
            while pending and count < REPAIRED_AT_ONCE:
                session, from_idx = pending.pop()
                each = texts_in(connection, session, from_idx, self.fields)
                found.append((shown[session], from_idx, each))
                count += len(each) + 1
        for card, from_idx, each in found:
            writer.delete(card.session_id, from_idx)
            writer.add_card(card)
            writer.add(Owner(card.session_id, card.source), each)
        return pending


def _known(connection: DuckDBPyConnection) -> dict[tuple[str, str], Known]:
    rows = connection.execute(
        "SELECT source, source_path, id, file_mtime, file_size, is_archived FROM sessions"
    ).fetchall()
    return {(row[0], row[1]): Known(*row[2:]) for row in rows}


def _before(connection: DuckDBPyConnection, ids: Iterable[str]) -> dict[str, Before]:
    rows = connection.execute(
        "SELECT id, source, cwd, git_repo, texts_pending_from FROM sessions "
        "WHERE id IN (SELECT unnest(?))",
        [list(ids)],
    ).fetchall()
    return {row[0]: Before(Owner(*row[:2]), *row[2:]) for row in rows}


def _marks(connection: DuckDBPyConnection, ids: list[str]) -> dict[str, tuple[bytes, int, int]]:
    """Where each session's reading goes on, with which message and which call outside messages."""
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
