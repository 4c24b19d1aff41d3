"""Running operations in transactions, off the event loop.

SQLite has one worker with one connection. Operations that wait while a commit is under way share
the next commit, so the cost of reaching the disk is paid once for all of them. PostgreSQL has a
few workers, each with its own connection; it groups commits by itself.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from navi.base.errors import Conflict, StoreUnavailable
from navi.base.ids import new_id
from navi.live.model.event import Event
from navi.live.store.engine import signals
from navi.live.store.engine.connection import (
    POSTGRES_CONNECTIONS,
    is_sqlite,
    move_ahead_log,
    open_engine,
)
from navi.live.store.events import open_outbox, store_emitted

P = ParamSpec("P")
R = TypeVar("R")

PATIENCE_SECONDS = 5.0
"""How long an operation is tried again while the database is locked or away."""
BATCH_LIMIT = 128
"""So that nobody waits for a commit behind an endless row of others."""
SETTLE_SECONDS = 0.25
"""Nothing to do for so long, and what was written ahead is moved into the SQLite database."""
SETTLED_CHANGES = 1000
"""Fewer changed rows are not worth it."""
RETRIED_STATES = {"40001", "40P01", "55P03", "25P03", "57P01", "57P02", "57P03", "53300"}
"""PostgreSQL: serialization failure, deadlock, lock timeout, a transaction that stood idle, being
shut down or started, too many clients."""

log = logging.getLogger("navi.store")


@dataclass(slots=True)
class _Job:
    operation: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    future: asyncio.Future[Any]
    give_up_at: float
    result: Any = None
    error: BaseException | None = None


class _NotTogether(Exception):
    """An operation failed that shared its transaction with others."""


class Store:
    """The live state.

    Right after each commit, `on_events` is called with the stored events, in order, and
    `on_signal` with each signal of the transaction.
    """

    def __init__(
        self,
        url: str,
        *,
        on_events: Callable[[Sequence[Event]], None] | None = None,
        on_signal: Callable[[str, str], None] | None = None,
    ) -> None:
        self.kind = "sqlite" if is_sqlite(url) else "postgresql"
        self.url = url
        self.id = new_id()
        """Tells this store's own signals from those of other processes."""
        self.on_events = on_events
        self.on_signal = on_signal
        self._engine = open_engine(url)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        workers = 1 if self.kind == "sqlite" else POSTGRES_CONNECTIONS
        self._threads = [
            threading.Thread(target=self._work, name=f"navi-store-{number}", daemon=True)
            for number in range(workers)
        ]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changes = 0
        """SQLite: rows that were changed so far."""
        self._settled_changes = 0

    def start(self) -> None:
        """Begin to work for the running event loop."""
        self._loop = asyncio.get_running_loop()
        for thread in self._threads:
            thread.start()

    async def close(self) -> None:
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)
        self._engine.dispose()

    async def transact(
        self, operation: Callable[Concatenate[Connection, P], R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Run the operation in a transaction; its result arrives after the commit."""
        return await self._submit(PATIENCE_SECONDS, operation, args, kwargs)

    async def transact_patiently(
        self,
        patience: float,
        operation: Callable[Concatenate[Connection, P], R],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """Like `transact`, for work that must outlast a longer outage."""
        return await self._submit(patience, operation, args, kwargs)

    async def _submit(
        self,
        patience: float,
        operation: Callable[Concatenate[Connection, P], R],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> R:
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_consume)
        give_up_at = time.monotonic() + patience
        self._jobs.put(_Job(operation, args, kwargs, future, give_up_at))
        # Shielded: the transaction runs to its end even if nobody waits for it any more.
        return await asyncio.shield(future)

    # Below: the workers' side.

    def _work(self) -> None:
        while (job := self._next_job()) is not None:
            batch = [job]
            is_last = False
            while self.kind == "sqlite" and len(batch) < BATCH_LIMIT and not self._jobs.empty():
                following = self._jobs.get()
                if following is None:
                    is_last = True
                    break
                batch.append(following)
            self._run(batch)
            if is_last:
                return

    def _next_job(self) -> _Job | None:
        if self._changes - self._settled_changes >= SETTLED_CHANGES:
            try:
                return self._jobs.get(timeout=SETTLE_SECONDS)
            except queue.Empty:
                self._settle()
        return self._jobs.get()

    def _settle(self) -> None:
        """Do what a commit would otherwise have to do, while nobody waits for one."""
        self._settled_changes = self._changes
        try:
            move_ahead_log(self._engine)
        except Exception as error:
            # Nothing is lost: the next time, or a commit that finds too much, does it.
            log.warning("can't move what was written ahead into the database: %s", error)

    def _run(self, batch: list[_Job]) -> None:
        """Bring every job of the batch to a result or an error, trying again while it may help."""
        attempt = 0
        while True:
            try:
                self._tell(batch, *self._run_once(batch))
                return
            except _NotTogether:
                # Undone as a whole. Each by itself: only the one that fails keeps its error.
                for job in batch:
                    self._run([job])
                return
            except DBAPIError as error:
                attempt += 1
                expired = [job for job in batch if time.monotonic() >= job.give_up_at]
                if not _may_pass(error):
                    expired = batch
                self._fail(expired, _translated(error))
                batch = [job for job in batch if job not in expired]
                if not batch:
                    return
                if attempt == 1:
                    log.warning("store does not answer, trying again: %s", _first_line(error))
                time.sleep(min(1.0, 0.02 * 2**attempt) * random.uniform(0.5, 1.0))
            except BaseException as error:
                self._fail(batch, error)
                return

    def _run_once(self, batch: list[_Job]) -> tuple[list[Event], list[signals.Signal]]:
        with self._engine.connect() as connection, connection.begin():
            open_outbox(connection)
            signals.clear(connection)
            for job in batch:
                try:
                    job.result = job.operation(connection, *job.args, **job.kwargs)
                except Exception as error:
                    if len(batch) == 1 or (isinstance(error, DBAPIError) and _may_pass(error)):
                        raise
                    raise _NotTogether from error
            events = store_emitted(connection)
            sent = signals.flush(connection, self.id)
            if self.kind == "sqlite":
                driver: Any = connection.connection.driver_connection
                self._changes = driver.total_changes
                self._settled_changes = min(self._settled_changes, self._changes)
        # Only now is anything true: results, events and signals leave after the commit.
        return events, sent

    def _fail(self, batch: Sequence[_Job], error: BaseException) -> None:
        for job in batch:
            job.error = error
        self._tell(batch)

    def _tell(
        self,
        batch: Sequence[_Job],
        events: Sequence[Event] = (),
        sent: Sequence[signals.Signal] = (),
    ) -> None:
        if batch:
            assert self._loop is not None
            try:
                self._loop.call_soon_threadsafe(self._deliver, batch, events, sent)
            except RuntimeError:
                log.debug("the event loop is gone; results of finished transactions are dropped")

    def _deliver(
        self, batch: Sequence[_Job], events: Sequence[Event], sent: Sequence[signals.Signal]
    ) -> None:
        if events and self.on_events is not None:
            self.on_events(events)
        if self.on_signal is not None:
            for channel, payload in sent:
                self.on_signal(channel, payload)
        for job in batch:
            if job.future.done():
                continue
            if job.error is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.error)


def _consume(future: asyncio.Future[Any]) -> None:
    """Whoever wanted the result may have been cancelled; that is no error of its own."""
    if not future.cancelled():
        future.exception()


def _may_pass(error: DBAPIError) -> bool:
    """Whether trying again can help: the database is locked or away, not the statement wrong."""
    if error.connection_invalidated:
        return True
    if (state := getattr(error.orig, "sqlstate", None)) is not None:
        return state in RETRIED_STATES or state.startswith("08")
    # Locked or busy in SQLite; no state at all is psycopg's way to say "no connection".
    return isinstance(error, OperationalError) and not _is_broken_file(error)


def _is_broken_file(error: DBAPIError) -> bool:
    """SQLite: the disk is full, the file is read-only or damaged. Waiting does not help."""
    if not type(error.orig).__module__.startswith(("sqlite3", "pysqlite3")):
        return False
    text = str(error.orig).lower()
    return any(words in text for words in ("readonly", "full", "malformed", "no such"))


def _translated(error: DBAPIError) -> Exception:
    if isinstance(error, IntegrityError):
        return Conflict(
            "someone else made the same change at the same moment",
            hint="look at the result, or try again",
        )
    if _may_pass(error) or _is_broken_file(error):
        return StoreUnavailable(
            f"the store is not responding: {_first_line(error)}",
            hint="nothing was changed; try again in a moment, or run `navi doctor`",
        )
    return cast(Exception, error)


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else "no connection"
