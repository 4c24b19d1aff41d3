"""Keeps the search index up to date with every session's turns and every agent's files.

A separate process, `recall watch`, does the work at low priority: reading a thousand files must not
slow down a turn. However the server ends, that process ends too, because its standard input closes.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from navi.base.errors import NaviError
from navi.base.python_command import python_module
from navi.base.timestamps import instant
from navi.live.model.event import Event
from navi.live.runtime.service import Service
from navi.memory.index_paths import index_paths
from navi.memory.ingest.freshness import last_refresh

COMMAND = python_module("navi.cli.recall.main", "watch", "--json")
NICENESS_INCREMENT = 10
"""Added to the server's own niceness, so that the server goes first."""
INDEXED_EVENTS = frozenset(("session_sync", "session_update", "message_added"))
"""Events after which there is something new to index."""
GATHER_SECONDS = 0.2
"""Requests within this time share one refresh."""

log = logging.getLogger("navi.index")


class IndexFollowerEnded(NaviError):
    kind = "index_follower_ended"

    def __init__(self, status: int | None) -> None:
        super().__init__(
            f"the process that keeps the index up to date ended with status {status}",
            hint="the server restarts it; the server's log or `recall doctor` may say why it ended",
        )


@dataclass(frozen=True, slots=True)
class IndexState:
    """How up to date the index is."""

    is_following: bool = False
    """Whether `recall watch` is running and has reported."""
    refreshed_at: datetime | None = None
    """When the index was last complete."""
    problem: NaviError | None = None


def index_state_json(state: IndexState) -> dict[str, Any]:
    problem = state.problem
    return {
        "refreshed_at": instant(state.refreshed_at),
        "is_following": state.is_following,
        "problem": problem and {"message": problem.message, "hint": problem.hint},
    }


class IndexFollower(Service):
    name = "index follower"

    def __init__(self, database_url: str) -> None:
        super().__init__()
        self._environment = {**os.environ, "NAVI_DATABASE_URL": database_url}
        self._process: Process | None = None
        self._is_refresh_due = False
        self._changed = asyncio.Event()
        self.announced_state = IndexState()
        """The last state sent to clients. A refresh without anything new updates only `state`."""
        self._state = IndexState()

    def on_events(self, events: Sequence[Event]) -> None:
        """Called with every event this process has stored."""
        if any(event.type in INDEXED_EVENTS for event in events):
            self.refresh_soon()

    def refresh_soon(self) -> None:
        """Refresh the index in a moment. Requests that come before then share the refresh."""
        if self._process is not None and not self._is_refresh_due:
            self._is_refresh_due = True
            asyncio.get_running_loop().call_later(GATHER_SECONDS, self._request_refresh)

    @property
    def state(self) -> IndexState:
        if self._state.is_following:
            return self._state
        return replace(self._state, refreshed_at=last_refresh(index_paths()))

    async def wait_for_change(self, since: IndexState) -> IndexState:
        """Return the announced state as soon as it is no longer `since`."""
        while self.announced_state is since:
            await self._changed.wait()
        return self.announced_state

    async def step(self) -> None:
        # In a new session, so that Ctrl-C in the server's terminal reaches only the server, which
        # then ends this process.
        process = await asyncio.create_subprocess_exec(
            *COMMAND, stdin=PIPE, stdout=PIPE, env=self._environment, start_new_session=True
        )
        self._process = process
        try:
            niceness = os.getpriority(os.PRIO_PROCESS, 0) + NICENESS_INCREMENT
            # The process may have ended already, which is reported below.
            with suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, process.pid, niceness)
            assert process.stdout is not None
            async for line in process.stdout:
                self._on_report(json.loads(line))
            error = IndexFollowerEnded(await process.wait())
            self._announce(replace(self._state, is_following=False, problem=error))
            raise error
        finally:
            self._process = None
            await _terminate(process)

    def _request_refresh(self) -> None:
        self._is_refresh_due = False
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(b"\n")

    def _on_report(self, report: dict[str, Any]) -> None:
        if problem := report.get("problem"):
            error = NaviError(problem["message"], hint=problem["hint"])
            self._announce(replace(self._state, is_following=True, problem=error))
            return
        state = IndexState(True, datetime.fromisoformat(report["refreshed_at"]))
        before, self._state = self._state, state
        if report["indexed"] or before.problem or not before.is_following:
            self._announce(state)

    def _announce(self, state: IndexState) -> None:
        self._state = self.announced_state = state
        self._changed.set()
        self._changed = asyncio.Event()


async def _terminate(process: Process) -> None:
    """Stop the process at once: the next one continues where it stopped."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.terminate()
    await process.wait()
