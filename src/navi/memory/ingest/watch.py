"""Keeps the index up to date while agents work.

A pass runs when a watched folder changes, when one is requested, and every half minute anyway:
file systems may drop notifications, and rows that others write to PostgreSQL change no file here.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread

from watchfiles import watch

from navi.base.errors import NaviError
from navi.memory.index_errors import IndexBusy
from navi.memory.ingest import index_lock, unchanged
from navi.memory.ingest.refresh import Refresh
from navi.memory.ingest.report import RefreshResult
from navi.memory.keep import keeping

QUIET_MILLISECONDS = 100
LONGEST_GATHERING_MILLISECONDS = 400
"""A pass starts after a quiet moment, or at the latest this long after the first change."""
PASS_INTERVAL_SECONDS = 30.0
RETRY_SECONDS = 1.0
"""How soon to try again if another process was writing."""
FOLDERS_MILLISECONDS = 2_000
"""How soon a new folder is noticed, such as the one of an agent's first session."""
SHORTEST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 3.0
PAUSE_PER_PASS = 3.0
"""A pause is three times as long as the pass before it, within the limits above. So indexing
uses at most a quarter of a core, unless a pass takes longer than a second."""

log = logging.getLogger("navi.index")


@dataclass(slots=True)
class Follower:
    refresh: Refresh
    on_pass: Callable[[RefreshResult], None]
    on_problem: Callable[[NaviError], None]
    _pass_requested: Event = field(default_factory=Event)
    _ended: Event = field(default_factory=Event)

    def run(self) -> None:
        """Runs until `end` is called or the process is interrupted."""
        self.refresh.paths.prepare()
        watcher = Thread(target=self._watch, name="watch folders", daemon=True)
        with index_lock.shared(self.refresh.paths.follower):
            watcher.start()
            try:
                while not self._ended.is_set():
                    self._pass_requested.clear()
                    pause = self._run_pass()
                    self._ended.wait(pause)
                    self._pass_requested.wait(PASS_INTERVAL_SECONDS)
            finally:
                self.end()
                watcher.join()

    def request_pass(self) -> None:
        self._pass_requested.set()

    def end(self) -> None:
        self._ended.set()
        self._pass_requested.set()

    def _run_pass(self) -> float:
        """Bring the index up to date, and return how many seconds to pause."""
        started = time.monotonic()
        refresh = self.refresh
        try:
            scan = unchanged.scan(refresh.paths, refresh.sources.values(), refresh.fields)
            if (
                scan is not None
                and scan.nothing_changed
                and not keeping.is_behind(refresh.paths, refresh.sources, scan.indexed_files)
            ):
                unchanged.confirm(refresh.paths)
                self.on_pass(scan.plan.as_result())
            else:
                self.on_pass(refresh.run(doing="following", scan=scan))
        except IndexBusy:
            self._pass_requested.set()
            return RETRY_SECONDS
        except NaviError as error:
            self.on_problem(error)
            return LONGEST_PAUSE_SECONDS
        return pause_after(time.monotonic() - started)

    def _watch(self) -> None:
        while not self._ended.is_set():
            folders = self._folders()
            try:
                if folders:
                    self.request_pass()
                    self._watch_folders(folders)
                else:
                    self._ended.wait(FOLDERS_MILLISECONDS / 1000)
            except OSError as error:
                # For example, the system's limit on watched folders.
                log.warning("can't watch %s, so polling every few seconds: %s", folders, error)
                self._poll()

    def _watch_folders(self, folders: list[str]) -> None:
        # Request one pass without a change: changes made before watching began are not reported.
        is_first = True
        for changes in watch(
            *folders,
            watch_filter=None,
            step=QUIET_MILLISECONDS,
            debounce=LONGEST_GATHERING_MILLISECONDS,
            rust_timeout=FOLDERS_MILLISECONDS,
            yield_on_timeout=True,
            stop_event=self._ended,
        ):
            if changes or is_first:
                self.request_pass()
                is_first = False
            elif self._folders() != folders:
                return

    def _poll(self) -> None:
        while not self._ended.wait(FOLDERS_MILLISECONDS / 1000):
            self.request_pass()

    def _folders(self) -> list[str]:
        folders = {each for source in self.refresh.sources.values() for each in source.folders()}
        return sorted(filter(os.path.isdir, folders))


def pause_after(seconds: float) -> float:
    return min(max(PAUSE_PER_PASS * seconds, SHORTEST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
