"""Bring the index up to date with the agents' files.

DuckDB is the truth. Whenever a run is killed, the next one finds the notes of what the full-text
lacks (see loading.py) and writes those texts again from DuckDB.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from duckdb import DuckDBPyConnection

from navi.domain.clock import Clock
from navi.index import backup, database, lock, shortcut, texts
from navi.index.batch import Before, texts_in
from navi.index.crew import WORKERS
from navi.index.errors import NoIndex
from navi.index.loading import Loading
from navi.index.outcome import Progress, Refreshed, silent
from navi.index.places import Places
from navi.index.plan import Known, Plan, plan
from navi.index.reading import Task
from navi.index.texts import Owner, TextWriter
from navi.sources.source import Source

REPAIRED_AT_ONCE = 20_000
"""Texts: few enough for memory, and for others to get at DuckDB in between."""


@dataclass(slots=True)
class Look:
    """What the index and the files have to say before anything is done."""

    known: dict[tuple[str, str], Known]
    """By source and path."""
    planned: Plan
    tasks: list[Task]
    before: dict[str, Before]
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
    workers: int = WORKERS
    is_full: bool = False

    def run(self, *, doing: str = "recall index", recreate: bool = False) -> Refreshed:
        started = time.perf_counter()
        self.places.prepare()
        with lock.held(self.places.lock, doing, self.clock.now()):
            shortcut.forget(self.places)
            backup.finish_interrupted(self.places)
            warnings = backup.start_over(self.places, self.clock.now()) if recreate else []
            result, known = self._run()
            shortcut.note(self.places, self.fields, known)
        result.warnings[:0] = warnings
        result.seconds = round(time.perf_counter() - started, 3)
        return result

    def _run(self) -> tuple[Refreshed, dict[tuple[str, str], Known]]:
        """What was done, and the files as the index has them now."""
        look: Look | None
        try:
            look = self._look()
        except NoIndex:
            look = None
        if look is None or not look.has_texts:
            self._start_texts()
            look = self._look()
        planned = look.planned
        result = Refreshed(
            skipped=planned.skipped, total=planned.total, warnings=list(planned.warnings)
        )
        if planned.vanished or planned.returned:
            self._note_files(planned)
        if look.pending:
            self._repair(look.pending)
        known = look.known
        if look.tasks:
            loading = Loading(
                self.places,
                self.sources,
                self.fields,
                self.clock,
                self.tell,
                self.workers,
                look.tasks,
                look.before,
                result,
            )
            loading.load()
            for task in loading.done:
                file = (task.source, task.path)
                known[file] = Known(task.session_id, task.mtime, task.size, False)
        changed = {
            **dict.fromkeys(planned.vanished, True),
            **dict.fromkeys(planned.returned, False),
        }
        for file, each in known.items():
            if each.id in changed:
                known[file] = replace(each, is_archived=changed[each.id])
        return result, known

    def _look(self) -> Look:
        with database.reading(self.places) as connection:
            known = _known(connection)
            facts = dict(connection.execute("SELECT name, value FROM facts").fetchall())
            pending = connection.execute(
                "SELECT id, texts_pending_from FROM sessions WHERE texts_pending_from IS NOT NULL"
            ).fetchall()
            planned = plan(self.sources.values(), known, is_full=self.is_full)
            tasks, before = self._tasks(connection, planned, known)
        has_texts = facts.get("texts") == self._texts_are and texts.is_usable(self.places.texts)
        return Look(known, planned, tasks, before, pending, has_texts)

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

    @property
    def _texts_are(self) -> str:
        """How the full-text is made."""
        return f"{texts.VERSION} {','.join(self.fields)}"

    def _start_texts(self) -> None:
        """An empty full-text that has to take everything."""
        now = self.clock.now()
        # In this order a kill in between leaves no doubt that it has to be done again.
        with database.writing(self.places, now) as connection:
            connection.execute("DELETE FROM facts WHERE name = 'texts'")
            connection.execute("UPDATE sessions SET texts_pending_from = 0")
        texts.remove(self.places.texts)
        with TextWriter(self.places.texts, is_small=True) as writer:
            writer.commit()
        with database.writing(self.places, now) as connection:
            connection.execute("INSERT INTO facts VALUES ('texts', ?)", [self._texts_are])

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
            owners = _before(connection, [session for session, _ in pending])
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


def _known(connection: DuckDBPyConnection) -> dict[tuple[str, str], Known]:
    rows = connection.execute(
        "SELECT source, source_path, id, file_mtime, file_size, is_archived FROM sessions"
    ).fetchall()
    return {(row[0], row[1]): Known(*row[2:]) for row in rows}


def _before(connection: DuckDBPyConnection, ids: Iterable[str]) -> dict[str, Before]:
    rows = connection.execute(
        "SELECT id, source, source_session_id, coalesce(git_repo, cwd), cwd, title, git_repo, "
        "texts_pending_from FROM sessions WHERE id IN (SELECT unnest(?))",
        [list(ids)],
    ).fetchall()
    return {row[0]: Before(Owner(*row[:6]), row[6], row[7]) for row in rows}


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
