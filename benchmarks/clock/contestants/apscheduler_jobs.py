"""APScheduler 3 with its SQLAlchemy store.

Settings in its favour: late jobs are run instead of dropped, and SQLite uses a write-ahead log. It
is as durable as Navi (`synchronous = FULL`), but its jobs run before their removal is committed.
"""

from __future__ import annotations

import pickle
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from apscheduler.job import Job as StoredJob
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy import Engine, create_engine, event, insert

from benchmarks.clock.course import Job, Note

FAR = timedelta(days=30)
MOMENTS = 1000
"""How many different times the pending jobs have: making each from scratch would take minutes."""
CHUNK = 10_000
ID = "{:032x}"
PLACEHOLDER = "f" * 32

_note: Note = print


def contestant(url: str) -> ApschedulerJobs:
    return ApschedulerJobs(url)


def run(number: int) -> None:
    _note(number)


class ApschedulerJobs:
    def __init__(self, url: str) -> None:
        self._engine = _open(url)
        self._store = SQLAlchemyJobStore(engine=self._engine)
        self._scheduler = BackgroundScheduler(
            jobstores={"default": self._store},
            job_defaults={"misfire_grace_time": None, "coalesce": True},
            timezone=UTC,
        )

    async def load(self, pending: int) -> None:
        self._store.jobs_t.create(self._engine)
        states = [self._state(number) for number in range(MOMENTS)]
        with self._engine.begin() as connection:
            for rows in _chunks(states, pending):
                connection.execute(insert(self._store.jobs_t), rows)
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            if self._engine.dialect.name == "sqlite":
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            else:
                connection.exec_driver_sql("VACUUM ANALYZE")
                connection.exec_driver_sql("CHECKPOINT")

    @asynccontextmanager
    async def running(self, note: Note) -> AsyncIterator[None]:
        global _note
        _note = note
        self._scheduler.start()
        yield
        self._scheduler.shutdown(wait=False)

    async def schedule(self, jobs: Sequence[Job]) -> None:
        # Paused, so that the scheduler does not wake up for each job.
        self._scheduler.pause()
        for job in jobs:
            self._scheduler.add_job(run, "date", run_date=job.due_at, args=[job.number])
        self._scheduler.resume()

    async def tidy(self) -> None:
        pass

    def _state(self, number: int) -> tuple[float, bytes]:
        """A job as the scheduler itself stores it: its time, and its state."""
        at = datetime.now(UTC) + FAR + timedelta(seconds=number)
        job: StoredJob = self._scheduler.add_job(
            run, "date", run_date=at, args=[0], id=PLACEHOLDER, next_run_time=at
        )
        # Filled in by start() otherwise.
        job._modify(misfire_grace_time=None, coalesce=True, max_instances=1)
        state: dict[str, Any] = job.__getstate__()
        self._scheduler.remove_job(PLACEHOLDER)
        return at.timestamp(), pickle.dumps(state, self._store.pickle_protocol)


def _open(url: str) -> Engine:
    if not url.startswith("sqlite:"):
        return create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
    engine = create_engine(url)

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")

    return engine


def _chunks(states: Sequence[tuple[float, bytes]], pending: int) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, pending, CHUNK):
        rows = []
        for number in range(start, min(start + CHUNK, pending)):
            at, state = states[number % MOMENTS]
            id_ = ID.format(number)
            rows.append(
                {
                    "id": id_,
                    "next_run_time": at,
                    "job_state": state.replace(PLACEHOLDER.encode(), id_.encode()),
                }
            )
        yield rows
