"""Runs operations in transactions, off the event loop.

The dialect sets the number of workers, each with its own connection, and how many waiting
operations may share a commit.
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
from sqlalchemy.exc import DBAPIError, IntegrityError

from navi.base.errors import Conflict, StoreUnavailable
from navi.base.ids import new_id
from navi.live.model.event import Event
from navi.live.store.engine import signals
from navi.live.store.engine.dialects.dialect import Dialect, Signal
from navi.live.store.engine.dialects.registry import dialect_for
from navi.live.store.events import open_outbox, store_emitted

P = ParamSpec("P")
R = TypeVar("R")

RETRY_SECONDS = 5.0
"""How long to keep retrying an operation while the database is locked or unreachable."""
SETTLE_SECONDS = 0.25
"""How long the store must be idle before `Dialect.settle` runs."""
CHANGES_TO_SETTLE = 1000
"""How many rows must have changed for `Dialect.settle` to be worth running."""

log = logging.getLogger("navi.store")


@dataclass(slots=True)
class _Job:
    operation: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    future: asyncio.Future[Any]
    deadline: float
    result: Any = None
    error: BaseException | None = None


class _BatchFailed(Exception):
    """An operation failed in a shared transaction, so each must run in its own transaction."""


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
        self.dialect = dialect_for(url)
        self.url = url
        self.id = new_id()
        """Distinguishes this store's signals from those of other processes."""
        self.on_events = on_events
        self.on_signal = on_signal
        self._engine = self.dialect.open(url)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"navi-store-{number}", daemon=True)
            for number in range(self.dialect.workers)
        ]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changes = 0
        """Rows changed so far, as the dialect counts them."""
        self._settled_changes = 0

    def start(self) -> None:
        """Start the workers, for the running event loop."""
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
        """Run the operation in a transaction. Returns its result after the commit."""
        return await self._submit(RETRY_SECONDS, operation, args, kwargs)

    async def transact_with_retries(
        self,
        retry_seconds: float,
        operation: Callable[Concatenate[Connection, P], R],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """Like `transact`, but keeps retrying for longer, to survive a longer outage."""
        return await self._submit(retry_seconds, operation, args, kwargs)

    async def _submit(
        self,
        retry_seconds: float,
        operation: Callable[Concatenate[Connection, P], R],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> R:
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_consume)
        deadline = time.monotonic() + retry_seconds
        self._jobs.put(_Job(operation, args, kwargs, future, deadline))
        # Shielded: the transaction completes even if nobody waits for it any more.
        return await asyncio.shield(future)

    # The methods below run in the workers' threads, except `_deliver`.

    def _work(self) -> None:
        while (job := self._next_job()) is not None:
            batch = [job]
            should_stop = False
            while len(batch) < self.dialect.operations_per_commit and not self._jobs.empty():
                following = self._jobs.get()
                if following is None:
                    should_stop = True
                    break
                batch.append(following)
            self._run(batch)
            if should_stop:
                return

    def _next_job(self) -> _Job | None:
        if self._changes - self._settled_changes >= CHANGES_TO_SETTLE:
            try:
                return self._jobs.get(timeout=SETTLE_SECONDS)
            except queue.Empty:
                self._settle()
        return self._jobs.get()

    def _settle(self) -> None:
        """Do work that commits have postponed, while the store is idle."""
        self._settled_changes = self._changes
        try:
            self.dialect.settle(self._engine)
        except Exception as error:
            # Nothing is lost: the next settling, or a commit, catches up.
            log.warning("can't settle the database: %s", error)

    def _run(self, batch: list[_Job]) -> None:
        """Run every job of the batch to a result or an error, retrying while that can help."""
        attempt = 0
        while True:
            try:
                self._hand_over(batch, *self._run_once(batch))
                return
            except _BatchFailed:
                # The batch was rolled back. Run each job alone, so that only the bad one fails.
                for job in batch:
                    self._run([job])
                return
            except DBAPIError as error:
                attempt += 1
                failed = [job for job in batch if time.monotonic() >= job.deadline]
                if not self.dialect.is_transient(error):
                    failed = batch
                self._fail(failed, _translate(self.dialect, error))
                batch = [job for job in batch if job not in failed]
                if not batch:
                    return
                if attempt == 1:
                    log.warning("the store is not responding, trying again: %s", _first_line(error))
                time.sleep(min(1.0, 0.02 * 2**attempt) * random.uniform(0.5, 1.0))
            except BaseException as error:
                self._fail(batch, error)
                return

    def _run_once(self, batch: list[_Job]) -> tuple[list[Event], list[Signal]]:
        with self._engine.connect() as connection, connection.begin():
            open_outbox(connection)
            signals.clear(connection)
            for job in batch:
                try:
                    job.result = job.operation(connection, *job.args, **job.kwargs)
                except Exception as error:
                    if len(batch) == 1:
                        raise
                    if isinstance(error, DBAPIError) and self.dialect.is_transient(error):
                        raise
                    raise _BatchFailed from error
            events = store_emitted(connection)
            sent_signals = signals.flush(connection, self.id)
            self._changes = self.dialect.change_count(connection)
            self._settled_changes = min(self._settled_changes, self._changes)
        # Only now, after the commit, may anyone see results, events and signals.
        return events, sent_signals

    def _fail(self, batch: Sequence[_Job], error: BaseException) -> None:
        for job in batch:
            job.error = error
        self._hand_over(batch)

    def _hand_over(
        self,
        batch: Sequence[_Job],
        events: Sequence[Event] = (),
        sent_signals: Sequence[Signal] = (),
    ) -> None:
        if batch:
            assert self._loop is not None
            try:
                self._loop.call_soon_threadsafe(self._deliver, batch, events, sent_signals)
            except RuntimeError:
                log.debug(
                    "the event loop has closed; dropping the results of finished transactions"
                )

    def _deliver(
        self, batch: Sequence[_Job], events: Sequence[Event], sent_signals: Sequence[Signal]
    ) -> None:
        """Publish events and signals, then pass on the results. Runs in the event loop."""
        if events and self.on_events is not None:
            self.on_events(events)
        if self.on_signal is not None:
            for channel, payload in sent_signals:
                self.on_signal(channel, payload)
        for job in batch:
            if job.future.done():
                continue
            if job.error is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.error)


def _consume(future: asyncio.Future[Any]) -> None:
    """Keep asyncio from logging an error that a cancelled caller does not retrieve."""
    if not future.cancelled():
        future.exception()


def _translate(dialect: Dialect, error: DBAPIError) -> Exception:
    if isinstance(error, IntegrityError):
        return Conflict(
            "someone else made the same change at the same moment",
            hint="check the current state, or try again",
        )
    if dialect.is_unavailable(error):
        return StoreUnavailable(
            f"the store is not responding: {_first_line(error)}",
            hint="nothing was changed; try again in a moment, or run `navi doctor`",
        )
    return cast(Exception, error)


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else "no connection"
