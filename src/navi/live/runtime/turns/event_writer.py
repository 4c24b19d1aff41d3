"""Stores a turn's events without slowing its agent.

During a write, new events are collected and adjacent deltas are merged. So a fast agent needs few
transactions, and a slow agent's words appear at once.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from navi.base.clock import Clock
from navi.live.model.event import (
    HistoryCompacted,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    Usage,
    merge_deltas,
)
from navi.live.model.input import Origin
from navi.live.model.message import drafts_of, with_ending
from navi.live.model.replay import ReplayFilter
from navi.live.model.turn import Ending, Turn
from navi.live.store import turns
from navi.live.store.engine.transactions import Store

PENDING_LIMIT = 10_000
"""The agent has to wait while this many events are not stored yet."""
RETRY_SECONDS = 60.0
"""How long to retry a write: long enough for a turn to survive a restart of PostgreSQL."""


class EventWriter:
    """Stores one turn's events. A turn that was taken over repeats those in `stored`: skip them."""

    def __init__(
        self, store: Store, clock: Clock, turn: Turn, stored: Sequence[TurnEvent] = ()
    ) -> None:
        self._store = store
        self._clock = clock
        self._turn = turn
        self._pending: list[TurnEvent] = []
        self._stored: list[TurnEvent] = list(stored)
        self._replay = ReplayFilter(stored)
        self._wake = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._calls_stored: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._is_closing = False

    async def put(self, event: TurnEvent) -> None:
        if (new := self._replay.rest_of(_clean(event))) is None:
            return
        self._pending.append(new)
        self._wake.set()
        if len(self._pending) >= PENDING_LIMIT:
            self._has_room.clear()
            await self._has_room.wait()

    async def run(self) -> None:
        """Store events as they come, until `close`. Raises if the store refuses them."""
        while not self._is_closing:
            await self._wake.wait()
            self._wake.clear()
            if self._is_closing or not self._pending:
                continue
            batch, self._pending = merge_deltas(self._pending), []
            self._has_room.set()
            await self._store.transact_with_retries(
                RETRY_SECONDS,
                turns.extend,
                self._turn,
                len(self._stored),
                batch,
                self._clock.now(),
            )
            self._stored += batch
            for event in batch:
                if isinstance(event, ToolStarted):
                    self._calls_stored[event.tool_call_id].set()

    async def wait_until_stored(self, tool_call_id: str) -> None:
        """Wait until the tool call is stored.

        If the server dies, a turn that left no trace is run again, so no tool may act before its
        call is stored.
        """
        await self._calls_stored[tool_call_id].wait()

    def close(self) -> None:
        """Let `run` return. `finish` stores what is still pending."""
        self._is_closing = True
        self._wake.set()
        self._has_room.set()

    async def finish(self, ending: Ending, usage: Usage) -> None:
        """Store the pending events and the end of the turn."""
        last_events = merge_deltas(self._pending)
        # Nobody watches an automation's turn, so it must leave a final message.
        must_speak = self._turn.origin is Origin.AUTOMATION
        drafts = with_ending(
            drafts_of([*self._stored, *last_events]), ending, must_speak=must_speak
        )
        await self._store.transact_with_retries(
            RETRY_SECONDS,
            turns.finish,
            self._turn,
            len(self._stored),
            last_events,
            drafts,
            ending,
            usage,
            self._clock.now(),
        )


def _clean(event: TurnEvent) -> TurnEvent:
    """Replace NULs and lone surrogates: tools print them, databases refuse them."""
    match event:
        case TextDelta(delta):
            return TextDelta(_clean_text(delta))
        case ThinkingDelta(delta):
            return ThinkingDelta(_clean_text(delta))
        case ToolStarted(tool_call_id, name, arguments):
            return ToolStarted(tool_call_id, name, _clean_value(arguments))
        case ToolFinished(tool_call_id, name, arguments, result, is_error):
            cleaned = _clean_value(arguments)
            return ToolFinished(tool_call_id, name, cleaned, _clean_text(result), is_error)
        case HistoryCompacted(summary, up_to_idx):
            return HistoryCompacted(_clean_text(summary), up_to_idx)


def _clean_text(text: str) -> str:
    return text.replace("\x00", "\ufffd").encode(errors="replace").decode()


def _clean_value(value: Any) -> Any:
    match value:
        case str():
            return _clean_text(value)
        case Mapping():
            return {_clean_text(str(key)): _clean_value(each) for key, each in value.items()}
        case list() | tuple():
            return [_clean_value(each) for each in value]
    return value
