"""What people and agents do with recalls: schedule, cancel, skip, list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import islice
from typing import Any

from navi.domain.clock import Clock
from navi.domain.ids import new_id
from navi.domain.input import NewInput, Origin
from navi.domain.recall import (
    CallType,
    NoPendingRecall,
    Recall,
    RecallStatus,
    beats,
    instruction_warning,
    require_call_type,
    require_comment,
    require_instruction,
    require_interval,
    require_when,
)
from navi.domain.tool import ToolContext
from navi.domain.user import User
from navi.domain.when import describe, parse_offset, parse_when
from navi.runtime.prompts import render
from navi.runtime.sessions import Sessions
from navi.store import recalls as stored
from navi.store.store import Store

PREVIEWED_BEATS = 5


@dataclass(frozen=True, slots=True)
class Scheduled:
    """`reading` says back how the time was understood; `warning` may offer a better wording."""

    recall: Recall
    reading: str
    warning: str | None


@dataclass(frozen=True, slots=True)
class ReadTime:
    """An instant, and how it is said back."""

    at: datetime
    reading: str


class Recalls:
    def __init__(self, store: Store, clock: Clock, sessions: Sessions, timezone: tzinfo) -> None:
        self._store = store
        self._clock = clock
        self._sessions = sessions
        self._timezone = timezone

    async def schedule(
        self,
        user: User,
        session_id: str,
        *,
        call_type: str,
        additional_context_message: str,
        when: str | None = None,
        timezone_offset: str | None = None,
        interval_seconds: int | None = None,
        internal_comment: str | None = None,
    ) -> Scheduled:
        await self._sessions.open_to(user, session_id)
        now = self._clock.now()
        kind = require_call_type(call_type)
        interval = require_interval(kind, interval_seconds)
        instruction = require_instruction(additional_context_message)
        timezone = parse_offset(timezone_offset) if timezone_offset else self._timezone
        at = parse_when(require_when(kind, when), now, timezone)
        recall = Recall(
            id=new_id(),
            session_id=session_id,
            call_type=kind,
            trigger_at=at,
            due_at=at,
            interval_seconds=interval,
            internal_comment=require_comment(internal_comment),
            additional_context_message=instruction,
            status=RecallStatus.PENDING,
            outcome=None,
            error=None,
            missed_count=0,
            created_at=now,
            updated_at=now,
        )
        kept = await self._store.transact(stored.schedule, recall)
        return Scheduled(kept, describe(at, now, timezone), instruction_warning(instruction))

    def preview(
        self, when: str, timezone_offset: str | None, interval_seconds: int | None
    ) -> list[ReadTime]:
        """How a time would be read, and of a recurring one the beats that follow."""
        now = self._clock.now()
        timezone = parse_offset(timezone_offset) if timezone_offset else self._timezone
        times = [parse_when(when, now, timezone)]
        if interval_seconds is not None:
            require_interval(CallType.RECURRING, interval_seconds)
            times += islice(beats(times[0], interval_seconds), PREVIEWED_BEATS)
        return [ReadTime(at, describe(at, now, timezone)) for at in times]

    async def pending(self, user: User, session_id: str) -> Recall:
        await self._sessions.get(user, session_id)
        recall = await self._store.transact(stored.pending, session_id)
        if recall is None:
            raise NoPendingRecall(session_id)
        return recall

    async def listing(self, user: User, session_id: str) -> list[Recall]:
        await self._sessions.get(user, session_id)
        return await self._store.transact(stored.listing, session_id)

    async def cancel(self, user: User, session_id: str) -> Recall:
        await self._sessions.get(user, session_id)
        return await self._store.transact(stored.cancel, session_id, self._clock.now())

    async def skip(self, user: User, session_id: str) -> Recall:
        await self._sessions.get(user, session_id)
        return await self._store.transact(stored.skip, session_id, self._clock.now())

    async def schedule_for(self, context: ToolContext, arguments: Mapping[str, Any]) -> str:
        """For the tool: an agent schedules its own session."""
        made = await self.schedule(context.user, context.session_id, **arguments)
        lines = [f"Scheduled: {made.reading}."]
        if made.recall.interval_seconds is not None:
            lines.append(f"Then every {made.recall.interval_seconds} seconds.")
        if made.warning is not None:
            lines.append(made.warning)
        return "\n".join(lines)

    async def manage_for(self, context: ToolContext, action: str, session_id: str) -> str:
        """For the tool."""
        user = context.user
        match action:
            case "cancel":
                recall = await self.cancel(user, session_id)
                return f"Cancelled: {recall.additional_context_message}"
            case "skip":
                recall = await self.skip(user, session_id)
                return f"Skipped; next {self._read_back(recall.trigger_at)}."
        recalls = await self.listing(user, session_id)
        return "\n".join(self._line(recall) for recall in recalls) or "No recalls."

    def _line(self, recall: Recall) -> str:
        shown = f"{recall.status} {recall.call_type} {self._read_back(recall.trigger_at)}"
        ended = f" [{recall.outcome}: {recall.error}]" if recall.error else ""
        return f"{shown}{ended}: {recall.additional_context_message}"

    def _read_back(self, moment: datetime) -> str:
        return describe(moment, self._clock.now(), self._timezone)


def compose(recall: Recall, now: datetime, missed: int) -> NewInput:
    """The input of a recall that fires: readable in the transcript, complete for the agent."""
    prompt = render(
        "recall.wake",
        1,
        {
            "due_at": _shown(recall.due_at),
            "now": _shown(now),
            "lateness": _lateness(recall, now, missed),
            "instruction": recall.additional_context_message,
        },
    )
    return NewInput(
        # Made from the beat, so that the same beat can't be admitted twice.
        id=f"{recall.id}.{int(recall.due_at.timestamp() * 1000)}",
        session_id=recall.session_id,
        text=recall.additional_context_message,
        origin=Origin.RECALL,
        metadata={
            "recall_id": recall.id,
            "call_type": recall.call_type.value,
            "due_at": recall.due_at.isoformat(),
            "missed_count": missed,
            "prompt_ref": prompt.reference,
        },
        prompt=prompt.text,
    )


LATE_SECONDS = 120
"""Less is not worth a word to the agent: busy sessions make recalls a minute late."""


def _lateness(recall: Recall, now: datetime, missed: int) -> str:
    late = (now - recall.due_at).total_seconds()
    words = f" ({int(late // 60)} minutes late)" if late >= LATE_SECONDS else ""
    if missed:
        words += f"\nMissed in between, not run: {missed}"
    return words


def _shown(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
