"""Navi: a recall counts at the moment its input may be delivered.

That is when its input is stored and its instant has come, whichever is later. Everything runs as in
a server, except that turns never end. The first recall takes the only slot, so that waiting for a
free slot is not measured.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Table, delete, func, select, text

from benchmarks.clock.course import Job, Note
from navi.live.agents.driver import Driver, TurnRequest
from navi.live.model.access.user import User
from navi.live.model.scheduling.recall import CallType
from navi.live.model.scheduling.recall_request import RecallRequest
from navi.live.runtime import python_tuning
from navi.live.runtime.app import Navi, running
from navi.live.runtime.settings import RecallSettings, Settings
from navi.live.runtime.turns.admission import ExpectedInput
from navi.live.store.engine.connection import open_engine
from navi.live.store.engine.dialects.registry import dialect_for
from navi.live.store.engine.schema import prepare
from navi.live.store.engine.tables import lanes, message_queue, session_recalls, sessions

TOKEN = "clock"
DRIVER = "sleeper"
INSTRUCTION = "Read build.log with filesystem and report errors."
FAR = timedelta(days=30)
SPARE_SESSIONS = 8_000
"""For the jobs of all rounds, because a session has at most one pending recall."""
SQLITE_HURRY = ("PRAGMA synchronous = OFF", "PRAGMA cache_size = -400000")
SQLITE_SETTLE = ("PRAGMA wal_checkpoint(TRUNCATE)",)
# Every copy belongs to an existing session, so foreign keys need no check.
POSTGRESQL_HURRY = ("SET session_replication_role = replica", "SET synchronous_commit = off")
POSTGRESQL_SETTLE = ("VACUUM ANALYZE", "CHECKPOINT")


def contestant(url: str) -> NaviRecalls:
    return NaviRecalls(url)


class NaviRecalls:
    def __init__(self, url: str) -> None:
        self._url = url
        self._spare: list[str] = []
        self._numbers: dict[str, int] = {}
        self._since_tidy = 0

    async def load(self, pending: int) -> None:
        """Navi itself makes one session with a recall, which is then copied by SQL."""
        prepare(self._url)
        pattern_id = await _pattern(self._url)
        engine = open_engine(self._url)
        # Only for this engine, which is not measured.
        _run_alone(engine, SQLITE_HURRY if is_sqlite(self._url) else POSTGRESQL_HURRY)
        with engine.begin() as connection:
            _multiply(connection, pattern_id, pending - 1, with_recall=True)
            self._spare = _multiply(connection, pattern_id, SPARE_SESSIONS, with_recall=False)
        # Finish the database's own work after loading.
        _run_alone(engine, SQLITE_SETTLE if is_sqlite(self._url) else POSTGRESQL_SETTLE)
        engine.dispose()

    @asynccontextmanager
    async def running(self, note: Note) -> AsyncIterator[None]:
        python_tuning.prefer_short_waits()
        async with _navi(self._url) as navi:
            self._navi = navi
            self._user: User = (await navi.accounts.authenticate(TOKEN)).user

            def on_deliverable(inputs: Sequence[ExpectedInput]) -> None:
                for each in inputs:
                    if each.session_id in self._numbers:
                        self._since_tidy += 1
                        note(self._numbers[each.session_id])

            navi.admission.on_deliverable = on_deliverable
            with python_tuning.loaded_objects_frozen():
                yield

    async def schedule(self, jobs: Sequence[Job]) -> None:
        self._numbers = {self._spare.pop(): job.number for job in jobs}
        await asyncio.gather(
            *(
                self._navi.recalls.schedule(
                    self._user,
                    session_id,
                    RecallRequest(
                        call_type=CallType.ONCE,
                        when=job.due_at.isoformat(timespec="microseconds"),
                        additional_context_message=INSTRUCTION,
                    ),
                )
                for session_id, job in zip(self._numbers, jobs, strict=True)
            )
        )

    async def tidy(self) -> None:
        stored = await self._navi.store.transact(_forget_recall_inputs)
        if stored != self._since_tidy:
            raise RuntimeError(f"{self._since_tidy} inputs were deliverable, {stored} are stored")
        self._since_tidy = 0


class Sleeper(Driver):
    """A driver whose turns never end."""

    async def turn(self, request: TurnRequest) -> AsyncGenerator[Any, None]:
        await asyncio.Event().wait()
        yield


def _navi(url: str) -> AbstractAsyncContextManager[Navi]:
    settings = Settings(recalls=RecallSettings(max_concurrent=1))
    return running(settings, url, TOKEN, drivers={DRIVER: Sleeper()})


async def _pattern(url: str) -> str:
    async with _navi(url) as navi:
        user = (await navi.accounts.authenticate(TOKEN)).user
        session = await navi.sessions.create(user, driver=DRIVER, cwd="/")
        await navi.recalls.schedule(
            user,
            session.id,
            RecallRequest(
                call_type=CallType.ONCE,
                when=(datetime.now(UTC) + FAR).isoformat(timespec="microseconds"),
                additional_context_message=INSTRUCTION,
            ),
        )
        return session.id


def _multiply(
    connection: Connection, pattern_id: str, count: int, *, with_recall: bool
) -> list[str]:
    """Copy a session, each time with new ids and its recall at another second; return the ids."""
    if is_sqlite(str(connection.engine.url)):
        connection.execute(
            text(
                "CREATE TEMP TABLE copies AS WITH RECURSIVE series(number) AS "
                "(SELECT 1 UNION ALL SELECT number + 1 FROM series WHERE number < :count) "
                "SELECT lower(hex(randomblob(8))) AS session_id, "
                "lower(hex(randomblob(8))) AS recall_id, "
                "strftime('%Y-%m-%dT%H:%M:%S', 'now', '+30 days', number || ' seconds') "
                "|| '.000000+00:00' AS due_at FROM series"
            ),
            {"count": count},
        )
    else:
        connection.execute(
            text(
                "CREATE TEMP TABLE copies AS SELECT "
                "left(md5('session' || number || random()), 16) AS session_id, "
                "left(md5('recall' || number || random()), 16) AS recall_id, "
                "now() + interval '30 days' + number * interval '1 second' AS due_at "
                "FROM generate_series(1, :count) AS number"
            ),
            {"count": count},
        )
    _copy(connection, sessions, "id", pattern_id, {"id": "copies.session_id"})
    _copy(connection, lanes, "session_id", pattern_id, {"session_id": "copies.session_id"})
    if with_recall:
        changed = {"id": "recall_id", "session_id": "session_id"}
        changed |= {"trigger_at": "due_at", "due_at": "due_at"}
        changed = {column: f"copies.{name}" for column, name in changed.items()}
        _copy(connection, session_recalls, "session_id", pattern_id, changed)
    made = list(connection.execute(text("SELECT session_id FROM copies")).scalars())
    connection.execute(text("DROP TABLE copies"))
    return made


def _copy(
    connection: Connection, table: Table, key: str, pattern_id: str, changed: dict[str, str]
) -> None:
    names = [column.name for column in table.columns]
    values = ", ".join(changed.get(name, f"pattern.{name}") for name in names)
    connection.execute(
        text(
            f"INSERT INTO {table.name} ({', '.join(names)}) SELECT {values} "
            f"FROM copies, {table.name} AS pattern WHERE pattern.{key} = :pattern_id"
        ),
        {"pattern_id": pattern_id},
    )


def is_sqlite(url: str) -> bool:
    return dialect_for(url).kind == "sqlite"


def _run_alone(engine: Engine, statements: Sequence[str]) -> None:
    """Run statements that can't run inside a transaction."""
    raw = engine.raw_connection()
    try:
        connection: Any = raw.driver_connection
        if not is_sqlite(str(engine.url)):
            connection.autocommit = True
        for statement in statements:
            connection.cursor().execute(statement)
    finally:
        raw.close()


def _forget_recall_inputs(connection: Connection) -> int:
    """Delete all recall inputs, waiting or running, and return how many there were."""
    origin = message_queue.c.origin == "recall"
    count = select(func.count()).select_from(message_queue).where(origin)
    inputs: int = connection.execute(count).scalar_one()
    connection.execute(delete(message_queue).where(origin))
    return inputs
