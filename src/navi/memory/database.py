"""Opens the DuckDB file.

While one process has the file open for writing, no other can even read it. So writers open it only
briefly, and a process that finds it locked retries for a while.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from navi.memory import index_schema
from navi.memory.index_errors import IndexBusy, IndexUnusable, NoIndex
from navi.memory.index_paths import IndexPaths

LOCK_TIMEOUT_SECONDS = 15.0
PAUSE_SECONDS = 0.01
MEMORY_LIMIT = "256MB"
WRITER_MEMORY_LIMIT = "160MB"


@contextmanager
def reading(paths: IndexPaths) -> Iterator[DuckDBPyConnection]:
    """Open the file for reading. Leave the block once you have your rows: writers wait for you."""
    if not paths.database.exists():
        raise NoIndex
    connection = _open(paths.database, read_only=True)
    try:
        version = index_schema.version_of(connection)
        if version is None:
            raise NoIndex  # the process that created the file was killed before adding tables
        index_schema.check(version)
        yield connection
    except duckdb.Error as error:
        raise _index_error(paths.database, error) from error
    finally:
        connection.close()


@contextmanager
def writing(paths: IndexPaths, now: datetime) -> Iterator[DuckDBPyConnection]:
    """One transaction, committed at the end of the block. Creates missing tables."""
    writer = Writer(paths, is_kept_open=False)
    with writer.transaction(now) as connection:
        yield connection


@dataclass(slots=True)
class Writer:
    """Runs several transactions.

    `is_kept_open` keeps the file open between them. Set it only if all of them together are short.
    """

    paths: IndexPaths
    is_kept_open: bool
    _connection: DuckDBPyConnection | None = None

    @contextmanager
    def transaction(self, now: datetime) -> Iterator[DuckDBPyConnection]:
        """Like `writing`, but leaves the file open if `is_kept_open`."""
        if self._connection is None:
            self._connection = _open(self.paths.database, read_only=False)
        connection, is_committed = self._connection, False
        try:
            version = index_schema.version_of(connection)
            connection.execute("BEGIN")
            if version is None:
                index_schema.create(connection, now)
            else:
                index_schema.check(version)
            yield connection
            connection.execute("COMMIT")
            is_committed = True
        except duckdb.Error as error:
            raise _index_error(self.paths.database, error) from error
        finally:
            if not (is_committed and self.is_kept_open):
                self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _open(path: Path, *, read_only: bool) -> DuckDBPyConnection:
    deadline = time.monotonic() + LOCK_TIMEOUT_SECONDS
    while True:
        try:
            return duckdb.connect(
                str(path),
                read_only=read_only,
                config={
                    "memory_limit": MEMORY_LIMIT if read_only else WRITER_MEMORY_LIMIT,
                    # Never download anything.
                    "autoinstall_known_extensions": "false",
                    # A second thread makes writing more expensive but not faster.
                    "threads": "2" if read_only else "1",
                },
            )
        except duckdb.Error as error:
            if not _is_held_by_another(error):
                raise _index_error(path, error) from error
            if time.monotonic() > deadline:
                raise IndexBusy(
                    "another process has the index open",
                    hint="try again later; `recall doctor` shows which process is writing",
                ) from error
            time.sleep(PAUSE_SECONDS)


def _is_held_by_another(error: duckdb.Error) -> bool:
    text = str(error)
    return "lock" in text and ("Conflicting" in text or "Could not set" in text)


def _index_error(path: Path, error: duckdb.Error) -> IndexUnusable:
    message = str(error).splitlines()[0][:300]
    if isinstance(error, duckdb.IOException) and "Permission denied" in message:
        return IndexUnusable(
            f"can't open {path}: permission denied",
            hint="give yourself access to it, or set RECALL_DATA_DIR to another folder",
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        return IndexUnusable(f"not enough memory for the index: {message}", hint="try again")
    return IndexUnusable(
        f"the index {path} can't be used: {message}",
        hint="recall index --recreate  (keeps the old index beside the new one)",
    )
