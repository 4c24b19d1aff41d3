"""What people and agents do with recalls: schedule, cancel, skip, list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from itertools import islice
from typing import Any

from navi.base.clock import Clock
from navi.base.ids import new_id
from navi.base.time_expressions import describe, describe_length, describe_moment, parse_when
from navi.base.timezone import request_timezone
from navi.live.model.access.quota import Limits
from navi.live.model.access.user import User
from navi.live.model.scheduling.recall import (
    CallType,
    NoPendingRecall,
    Recall,
    RecallAlreadyPending,
    RecallStatus,
    Scheduler,
    beats,
    instruction_warning,
    require_call_type,
    require_comment,
    require_instruction,
    require_interval,
    require_when,
)
from navi.live.model.tool import ToolContext
from navi.live.runtime.services.session_service import Sessions
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import recalls as stored

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
    def __init__(
        self,
        store: Store,
        clock: Clock,
        sessions: Sessions,
        timezone: tzinfo,
        keep_finished: int,
        limits: Limits,
    ) -> None:
        self._keep_finished = keep_finished
        self._limits = limits
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
        tz: str | None = None,
        timezone_offset: str | None = None,
        interval_seconds: int | None = None,
        internal_comment: str | None = None,
        scheduled_by: Scheduler = Scheduler.PERSON,
    ) -> Scheduled:
        await self._sessions.open_to(user, session_id)
        now = self._clock.now()
        kind = require_call_type(call_type)
        interval = require_interval(kind, interval_seconds)
        instruction = require_instruction(additional_context_message)
        timezone = request_timezone(self._timezone, tz, timezone_offset)
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
            scheduled_by=scheduled_by,
        )
        try:
            kept = await self._store.transact(
                stored.schedule, recall, self._keep_finished, self._limits.of(user).recalls
            )
        except RecallAlreadyPending as error:
            raise RecallAlreadyPending(session_id, error.trigger_at, timezone) from error
        return Scheduled(kept, describe(at, now, timezone), instruction_warning(instruction))

    def preview(
        self,
        *,
        when: str,
        tz: str | None = None,
        timezone_offset: str | None = None,
        interval_seconds: int | None = None,
    ) -> list[ReadTime]:
        """How a time would be read, and of a recurring one the beats that follow."""
        now = self._clock.now()
        timezone = request_timezone(self._timezone, tz, timezone_offset)
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
        made = await self.schedule(
            context.user, context.session_id, **arguments, scheduled_by=Scheduler.AGENT
        )
        lines = [f"Scheduled: {made.reading}."]
        if made.recall.interval_seconds is not None:
            lines.append(f"Then every {made.recall.interval_seconds} seconds.")
        if made.warning is not None:
            lines.append(made.warning)
        return "\n".join(lines)

    async def manage_for(
        self,
        context: ToolContext,
        action: str,
        session_id: str,
        *,
        tz: str | None = None,
        timezone_offset: str | None = None,
    ) -> str:
        """For the tool."""
        user = context.user
        timezone = request_timezone(self._timezone, tz, timezone_offset)
        match action:
            case "cancel":
                recall = await self.cancel(user, session_id)
                return f"Cancelled: {recall.additional_context_message}"
            case "skip":
                recall = await self.skip(user, session_id)
                return f"Skipped; next {describe(recall.trigger_at, self._clock.now(), timezone)}."
        recalls = await self.listing(user, session_id)
        lines = [_line(recall, self._clock.now(), timezone) for recall in recalls]
        return "\n".join(lines) or "No recalls."


def _line(recall: Recall, now: datetime, timezone: tzinfo) -> str:
    """A recall in an agent's list; how far away it is only while it is still to come."""
    is_pending = recall.status is RecallStatus.PENDING
    at = recall.trigger_at
    line = f"{recall.id} {recall.status} {recall.call_type}, "
    line += describe(at, now, timezone) if is_pending else describe_moment(at, timezone)
    if recall.interval_seconds is not None:
        line += f", every {describe_length(timedelta(seconds=recall.interval_seconds))}"
    if recall.internal_comment:
        line += f" ({recall.internal_comment})"
    if recall.error:
        line += f" [{recall.outcome}: {recall.error}]"
    return f"{line}: {recall.additional_context_message}"
