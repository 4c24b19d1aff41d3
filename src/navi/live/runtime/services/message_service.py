"""Messages to sessions, from people and from other sessions; agents' status reports."""

from __future__ import annotations

from dataclasses import replace

from navi.base.clock import Clock
from navi.base.ids import new_id
from navi.live.model.access.user import User
from navi.live.model.input import Admission, DeliveryMode, NewInput, Origin, require_text
from navi.live.model.scheduling.reminder import Thresholds
from navi.live.model.session import Session, require_status
from navi.live.runtime.services.session_service import SessionService, require_not_hidden
from navi.live.runtime.turns.admission import AdmissionService
from navi.live.store import sessions
from navi.live.store.engine.transactions import Store


class MessageService:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        sessions: SessionService,
        admission: AdmissionService,
        thresholds: Thresholds,
    ) -> None:
        self._store = store
        self._clock = clock
        self._sessions = sessions
        self._admission = admission
        self._thresholds = thresholds

    async def send(
        self,
        user: User,
        session_id: str,
        text: str,
        *,
        delivery_mode: DeliveryMode = DeliveryMode.SEQUENTIAL,
        input_id: str | None = None,
        sender_session_id: str | None = None,
        remind: bool = False,
        remind_soft_threshold: int | None = None,
        notify_on_delivery: bool = False,
        notify_on_stop: bool = False,
    ) -> Admission:
        """Send a message to a session, from a person or from another session."""
        require_not_hidden(session_id)
        thresholds = None
        if remind or remind_soft_threshold is not None:
            thresholds = self._thresholds.of(remind_soft_threshold, name="remind_soft_threshold")
            self._sessions.require_reporter(await self._sessions.get(user, session_id))
        soft, hard = thresholds or (None, None)
        metadata = {}
        if sender_session_id is not None:
            sender = await self._sessions.get(user, sender_session_id)
            name = " ".join(sender.name.split())
            metadata = {"sender": {"id": sender.id, "name": name, "title": sender.title}}
        new = NewInput(
            id=input_id or new_id(),
            session_id=session_id,
            text=text,
            delivery_mode=delivery_mode,
            origin=Origin.USER if sender_session_id is None else Origin.AGENT,
            sender_session_id=sender_session_id,
            remind_soft_threshold=soft,
            remind_hard_threshold=hard,
            notify_on_delivery=notify_on_delivery,
            notify_on_stop=notify_on_stop,
            metadata=metadata,
        )
        return replace(await self._admission.admit(user, new), thresholds=thresholds)

    async def report(self, user: User, session_id: str, text: str | None) -> Session:
        """Set the agent's status and restart its reminder. None only clears the status."""
        await self._sessions.get(user, session_id)
        if text is not None:
            require_status(text)
        return await self._store.transact(sessions.report, session_id, text, self._clock.now())

    async def complete_task(self, user: User, session_id: str, text: str | None) -> bool:
        """Clear the session's task, stop its reminders and notify its parent.

        False if it has no parent, or the parent has ended.
        """
        session = await self._sessions.get(user, session_id)
        remark = f": {require_text(text)}" if text is not None else ""
        task = f" ({session.task})" if session.task is not None else ""
        notice = None
        if session.parent_id is not None:
            notice = NewInput(
                id=new_id(),
                session_id=session.parent_id,
                text=f"[sm task-complete] {session.name} ({session.id}) has completed its task"
                f"{task}{remark}",
                delivery_mode=DeliveryMode.IMPORTANT,
                origin=Origin.AGENT,
                sender_session_id=session.id,
                metadata={"notice": "task-complete"},
            )
        has_parent = await self._store.transact(
            sessions.complete_task, session_id, notice, self._clock.now()
        )
        self._admission.wake()
        return has_parent
