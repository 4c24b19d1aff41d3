"""PgQueuer, tuned as its performance guide recommends.

The queue has its own connection, a large batch (the best size in these measurements), the
recommended autovacuum settings, and unlogged tables for everything but the jobs. With a million
pending jobs, a smaller batch is no faster in a burst and falls behind over time. Making PostgreSQL
plan every statement anew does not help either.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

os.environ["PGQUEUER_DURABILITY"] = "balanced"

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job as QueuedJob
from pgqueuer.queries import Queries

from benchmarks.clock.course import Job, Note

BATCH = 1000
DEQUEUE_TIMEOUT = timedelta(seconds=30)
ENTRYPOINT = "tick"
# The statement of Queries.enqueue, but with an absolute time. The original counts from the moment
# the statement arrives, which would distort the measurement.
ENQUEUE = f"""
WITH inserted AS (
    INSERT INTO pgqueuer (priority, entrypoint, payload, execute_after, status)
    SELECT 0, '{ENTRYPOINT}', payload, at, 'queued' FROM ({{rows}}) AS job(payload, at)
    RETURNING id, entrypoint, priority
)
INSERT INTO pgqueuer_log (job_id, status, entrypoint, priority)
SELECT id, 'queued', entrypoint, priority FROM inserted
"""
PENDING = ENQUEUE.format(
    rows="SELECT convert_to(number::text, 'UTF8'), "
    "now() + interval '30 days' + number * interval '1 second' "
    "FROM generate_series(1, $1::integer) AS number"
)
DUE = ENQUEUE.format(rows="SELECT * FROM unnest($1::bytea[], $2::timestamptz[])")


def contestant(url: str) -> PgqueuerJobs:
    return PgqueuerJobs(url)


class PgqueuerJobs:
    def __init__(self, url: str) -> None:
        self._url = url

    async def load(self, pending: int) -> None:
        connection = await asyncpg.connect(self._url)
        queries = Queries(AsyncpgDriver(connection))
        await queries.install()
        await queries.optimize_autovacuum()
        await connection.execute("SET synchronous_commit = off")
        await connection.execute(PENDING, pending, timeout=300)
        await connection.execute("VACUUM ANALYZE", timeout=300)
        await connection.execute("CHECKPOINT")
        await connection.close()

    @asynccontextmanager
    async def running(self, note: Note) -> AsyncIterator[None]:
        self._producer = await asyncpg.connect(self._url)
        queue = PgQueuer(AsyncpgDriver(await asyncpg.connect(self._url)))

        @queue.entrypoint(ENTRYPOINT)
        async def tick(job: QueuedJob) -> None:
            assert job.payload is not None
            note(int(job.payload))

        task = asyncio.create_task(queue.run(dequeue_timeout=DEQUEUE_TIMEOUT, batch_size=BATCH))
        yield
        queue.shutdown.set()
        await task

    async def schedule(self, jobs: Sequence[Job]) -> None:
        payloads: list[bytes] = [str(job.number).encode() for job in jobs]
        moments: list[datetime] = [job.due_at for job in jobs]
        await self._producer.execute(DUE, payloads, moments)

    async def tidy(self) -> None:
        pass
