"""Procrastinate: many jobs at once, a short polling interval, finished jobs deleted.

It notices that a scheduled job is due only by polling, so it can be late by the polling interval.
The idle figures show what such frequent polling costs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import groupby

import psycopg
from procrastinate import App, PsycopgConnector

from benchmarks.clock.course import Job, Note

CONCURRENCY = 100
CONNECTIONS = 20
POLLING_SECONDS = 0.1
# Writes the triggers' events itself: with triggers, a million rows take minutes.
PENDING = """
WITH inserted AS (
    INSERT INTO procrastinate_jobs (queue_name, task_name, args, scheduled_at)
    SELECT 'default', 'tick', json_build_object('number', number)::jsonb,
        now() + interval '30 days' + number * interval '1 second'
    FROM generate_series(1, {pending}) AS number
    RETURNING id, scheduled_at
), scheduled AS (
    INSERT INTO procrastinate_events (job_id, type, at) SELECT id, 'scheduled', scheduled_at
    FROM inserted
)
INSERT INTO procrastinate_events (job_id, type) SELECT id, 'deferred' FROM inserted
"""


def contestant(url: str) -> ProcrastinateJobs:
    return ProcrastinateJobs(url)


class ProcrastinateJobs:
    def __init__(self, url: str) -> None:
        self._url = url
        self._app = App(connector=PsycopgConnector(conninfo=url, max_size=CONNECTIONS))

    async def load(self, pending: int) -> None:
        async with self._app.open_async():
            await self._app.schema_manager.apply_schema_async()
        connection = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
        async with connection:
            await connection.execute("SET synchronous_commit = off")
            await connection.execute("SET session_replication_role = replica")
            await connection.execute(PENDING.format(pending=int(pending)).encode())
            await connection.execute("VACUUM ANALYZE")
            await connection.execute("CHECKPOINT")

    @asynccontextmanager
    async def running(self, note: Note) -> AsyncIterator[None]:
        @self._app.task(name="tick", queue="default")
        async def tick(number: int) -> None:
            note(number)

        self._task = tick
        async with self._app.open_async():
            worker = asyncio.create_task(
                self._app.run_worker_async(
                    concurrency=CONCURRENCY,
                    fetch_job_polling_interval=POLLING_SECONDS,
                    delete_jobs="successful",
                    install_signal_handlers=False,
                )
            )
            yield
            worker.cancel()

    async def schedule(self, jobs: Sequence[Job]) -> None:
        for due_at, those in groupby(jobs, key=lambda job: job.due_at):
            numbers = [{"number": job.number} for job in those]
            await self._task.configure(schedule_at=due_at).batch_defer_async(*numbers)

    async def tidy(self) -> None:
        pass
