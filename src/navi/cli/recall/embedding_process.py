"""Makes vectors in a separate process with low priority while `recall watch` runs.

The process ends when its parent ends, because that closes its standard input. It also ends after
some idle time, because a loaded model takes memory.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING

from navi.base.errors import NaviError
from navi.base.python_command import python_module
from navi.cli.recall.options import clock
from navi.memory.index_errors import IndexBusy
from navi.memory.semantic.vectors import vector_locks

if TYPE_CHECKING:
    from navi.memory.index_paths import IndexPaths

COMMAND = python_module("navi.cli.recall.embedding_process")
NICENESS_INCREMENT = 10
IDLE_SECONDS = 300.0
RETRY_SECONDS = 300.0
"""How soon to try again after a failure, such as an endpoint that is down."""
FAILED = 3
"""The process's exit code after a failure, which it has logged."""

log = logging.getLogger("navi.index")


@dataclass(slots=True)
class EmbeddingProcess:
    paths: IndexPaths
    _process: subprocess.Popen[bytes] | None = None
    _seen: tuple[str, int] | None = None
    """The model and the state of the index at the last request."""
    _may_start_at: float = 0.0

    def request(self) -> None:
        """Have missing vectors made, unless nothing has changed. Called after every pass."""
        state = self._state()
        if self._process is not None and self._process.poll() is not None:
            if self._process.returncode == FAILED:
                self._may_start_at, self._seen = time.monotonic() + RETRY_SECONDS, None
            self._process = None
        if state is None or state == self._seen or time.monotonic() < self._may_start_at:
            return
        if self._seen is not None and self._seen[0] != state[0]:
            self.end()  # it has another model loaded
        if self._process is None:
            # In a new Unix session: Ctrl-C must reach only the parent, which then ends this one.
            self._process = subprocess.Popen(
                COMMAND, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
            )
        assert self._process.stdin is not None
        # If it has just ended by itself, the next pass starts another.
        with suppress(BrokenPipeError):
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()
            self._seen = state

    def end(self) -> None:
        """Stop at once. The next process makes the vectors that are still missing."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _state(self) -> tuple[str, int] | None:
        """None if there is no model or no index."""
        from navi.memory.semantic.embedder import vectors_name
        from navi.memory.semantic.semantic_settings import semantic_settings

        try:
            name = vectors_name(self.paths, semantic_settings())
            return name, os.stat(self.paths.database).st_mtime_ns
        except (NaviError, FileNotFoundError):
            return None


@dataclass(slots=True)
class _Worker:
    """The code that runs in the process."""

    requests: Queue[None] = field(default_factory=Queue)
    has_ended: Event = field(default_factory=Event)

    def run(self) -> int:
        from navi.memory.index_paths import index_paths
        from navi.memory.semantic.embedder import load_embedder
        from navi.memory.semantic.semantic_settings import semantic_settings

        Thread(target=self._read_requests, daemon=True).start()
        try:
            embedder = load_embedder(index_paths(), semantic_settings())
            from navi.memory.semantic.vectors.backfill import Backfill

            folder = index_paths().vectors

            def should_stop() -> bool:
                return self.has_ended.is_set() or vector_locks.must_give_way(folder)

            while self._is_requested():
                backfill = Backfill(index_paths(), embedder, clock().now, should_stop=should_stop)
                try:
                    is_complete = backfill.run().is_complete
                except IndexBusy:  # a person's command, or the process of another server
                    is_complete = not vector_locks.must_give_way(folder)
                if not is_complete:
                    vector_locks.wait_for_foreground(folder)
                    self.requests.put(None)
        except NaviError as error:
            log.warning("can't make vectors for search by meaning: %s", error.sentence)
            return FAILED
        return 0

    def _read_requests(self) -> None:
        for _ in sys.stdin:
            self.requests.put(None)
        self.has_ended.set()
        self.requests.put(None)

    def _is_requested(self) -> bool:
        """Wait for a request, and merge those that follow it. False if the process should end."""
        try:
            self.requests.get(timeout=IDLE_SECONDS)
            while not self.requests.empty():
                self.requests.get_nowait()
        except Empty:
            return False
        return not self.has_ended.is_set()


if __name__ == "__main__":
    from navi.base import file_modes

    file_modes.make_files_private()
    os.nice(NICENESS_INCREMENT)
    sys.exit(_Worker().run())
