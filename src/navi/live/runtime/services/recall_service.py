"""Schedules, cancels, skips and lists recalls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import islice

from navi.base.clock import Clock
from navi.base.errors import InvalidInput
from navi.base.ids import new_id
from navi.base.time_expressions import describe, parse_when
from navi.base.timezone import request_timezone
from navi.live.model.access.quota import Limits
from navi.live.model.access.user import User
from navi.live.model.scheduling.recall import (
    CallType,
    NoPendingRecall,
    Recall,
    RecallAlreadyPending,
    RecallStatus,
    ScheduledRecall,
    Scheduler,
    instruction_warning,
    occurrences,
    require_comment,
    require_instruction,
    require_interval,
    require_when,
)
from navi.live.model.scheduling.recall_request import RecallRequest, RecallTime
from navi.live.runtime.services.session_service import SessionService
from navi.live.store import terminals
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import recalls

PREVIEW_COUNT = 5


@dataclass(frozen=True, slots=True)
class InterpretedTime:
    """The instant that a time expression means, and a description for people to check it."""

    at: datetime
    reading: str


class RecallService:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        sessions: SessionService,
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
        request: RecallRequest,
        scheduled_by: Scheduler = Scheduler.PERSON,
    ) -> ScheduledRecall:
        session = await self._sessions.get_not_hidden(user, session_id)
        now = self._clock.now()
        kind = request.call_type
        interval = require_interval(kind, request.interval_seconds)
        instruction = require_instruction(request.additional_context_message)
        timezone = self._timezone_of(request)
        at = parse_when(require_when(kind, request.when), now, timezone)
        recall = Recall(
            id=new_id(),
            session_id=session_id,
            call_type=kind,
            trigger_at=at,
            due_at=at,
            interval_seconds=interval,
            internal_comment=require_comment(request.internal_comment),
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
            stored = await self._store.transact(
                recalls.schedule, recall, self._keep_finished, self._limits.of(user).recalls
            )
        except RecallAlreadyPending as error:
            raise RecallAlreadyPending(session_id, error.trigger_at, timezone) from error
        return ScheduledRecall(
            stored,
            describe(at, now, timezone),
            instruction_warning(instruction),
            await self._store.transact(terminals.is_open, session),
        )

    def preview(self, time: RecallTime) -> list[InterpretedTime]:
        """How Navi understands a time; for a recurring one, also the next few wake-ups."""
        if time.when is None:
            raise InvalidInput("when is missing", hint="for example 30m or tomorrow at 09:00")
        now = self._clock.now()
        timezone = self._timezone_of(time)
        times = [parse_when(time.when, now, timezone)]
        if time.interval_seconds is not None:
            require_interval(CallType.RECURRING, time.interval_seconds)
            times += islice(occurrences(times[0], time.interval_seconds), PREVIEW_COUNT)
        return [InterpretedTime(at, describe(at, now, timezone)) for at in times]

    async def pending(self, user: User, session_id: str) -> Recall:
        await self._sessions.get(user, session_id)
        recall = await self._store.transact(recalls.pending, session_id)
        if recall is None:
            raise NoPendingRecall(session_id)
        return recall

    async def list_recalls(self, user: User, session_id: str) -> list[Recall]:
        await self._sessions.get(user, session_id)
        return await self._store.transact(recalls.list_recalls, session_id)

    async def cancel(self, user: User, session_id: str) -> Recall:
        await self._sessions.get(user, session_id)
        return await self._store.transact(recalls.cancel, session_id, self._clock.now())

    async def skip(self, user: User, session_id: str) -> Recall:
        await self._sessions.get(user, session_id)
        return await self._store.transact(recalls.skip, session_id, self._clock.now())

    def _timezone_of(self, time: RecallTime) -> tzinfo:
        return request_timezone(self._timezone, time.tz, time.timezone_offset)
