"""Sends due notifications, most important first, until every channel has accepted them.

It claims one at a time, so a server that dies leaves at most one half sent, which is sent again
under the same key. A channel that fails is paused, longer each time; after the pause, everything
that waits for it is retried.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from navi.base.clock import Clock
from navi.base.errors import NaviError
from navi.live.model.notification import (
    Delivery,
    NotificationKind,
    digest_text,
    digest_title,
)
from navi.live.model.notification_rules import Rules
from navi.live.runtime.notifications.answer_links import AnswerLinks
from navi.live.runtime.notifications.channel import (
    TIMEOUT_SECONDS,
    Channel,
    ChannelUnavailable,
    Message,
    MessageRefused,
)
from navi.live.runtime.service import Service
from navi.live.store import notifications
from navi.live.store.engine.transactions import Store
from navi.live.store.notifications import Claim

FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=10)
LONGEST_SLEEP = timedelta(seconds=15)
LONGEST_STEP_SECONDS = 1.0
"""Sleep in steps, to notice that the machine was suspended or its clock was set."""
TIDY_EVERY = timedelta(hours=1)

log = logging.getLogger("navi.notifications")


@dataclass(slots=True)
class _Pause:
    """The pause of a channel that failed."""

    error: str
    until: datetime
    length: timedelta


class NotificationDelivery(Service):
    name = "notifications"

    def __init__(
        self,
        store: Store,
        clock: Clock,
        channels: Sequence[Channel],
        rules: Rules,
        links: AnswerLinks,
        *,
        quotes: bool = True,
    ) -> None:
        super().__init__()
        self._store = store
        self._clock = clock
        self._channels = {channel.name: channel for channel in channels}
        self._rules = rules
        self._links = links
        self._quotes = quotes
        self._pauses: dict[str, _Pause] = {}
        self._tidied_at: datetime | None = None

    async def step(self) -> None:
        self._wake.clear()
        await self._tidy()
        await self._sleep_until(await self.send_due())

    async def send_due(self) -> datetime:
        """Send everything that is due. Returns when to check again."""
        lease = timedelta(seconds=TIMEOUT_SECONDS * (len(self._channels) + 2))
        users = self._rules.users
        while users:
            now = self._clock.now()
            claim = await self._claim(now, now + lease)
            if claim is None:
                break
            await self._deliver(claim)
        now = self._clock.now()
        due_at = await self._store.transact(notifications.next_due, users) if users else None
        return min(due_at or now + LONGEST_SLEEP, now + LONGEST_SLEEP)

    async def _claim(self, now: datetime, lease_until: datetime) -> Claim | None:
        try:
            return await self._store.transact(notifications.claim, self._rules, now, lease_until)
        except NaviError:
            raise
        except Exception:
            log.exception("can't claim notifications together")
        # The next step continues after the bad row.
        self._wake.set()
        return await self._store.transact(notifications.claim_one, self._rules, now, lease_until)

    async def _deliver(self, claim: Claim) -> None:
        notification = claim.notification
        links = await self._links.make(claim.question_kinds, notification.user_id)
        results = {name: await self._send(name, claim, links) for name in claim.channels}
        now = self._clock.now()
        retries = [
            self._pauses[name].until for name, each in results.items() if not each.is_settled
        ]
        retry_at = min(retries, default=None)
        if retry_at is not None and now - notification.created_at >= self._rules.give_up_after:
            log.warning("gave up on notification %s", notification.id)
            retry_at = None
        await self._store.transact(notifications.record, claim, results, retry_at)

    async def _send(self, name: str, claim: Claim, links: Mapping[str, str]) -> Delivery:
        message = self._message(name, claim, links)
        if message is None:
            return Delivery(is_refused=True)
        pause = self._pauses.get(name)
        if pause is not None and pause.until > self._clock.now():
            return Delivery(error=pause.error)
        try:
            await self._channels[name].send(message)
        except MessageRefused as error:
            log.warning("%s refused notification %s: %s", name, message.key, error)
            return Delivery(error=str(error), is_refused=True)
        except ChannelUnavailable as error:
            return self._failed(name, str(error))
        except Exception as error:
            log.exception("%s can't send notification %s", name, message.key)
            return self._failed(name, f"{type(error).__name__}: see the server's log")
        self._pauses.pop(name, None)
        return Delivery(sent_at=self._clock.now())

    def _failed(self, name: str, error: str) -> Delivery:
        pause = self._pauses.get(name)
        length = FIRST_PAUSE if pause is None else min(2 * pause.length, LONGEST_PAUSE)
        if pause is None:
            log.warning("%s accepts no notifications: %s", name, error)
        self._pauses[name] = _Pause(error, self._clock.now() + length, length)
        return Delivery(error=error)

    def _message(self, name: str, claim: Claim, links: Mapping[str, str]) -> Message | None:
        """The message for this channel; None if no part of a digest is for it."""
        notification, title = claim.notification, claim.notification.title
        text = notification.text if self._quotes else ""
        if notification.kind is NotificationKind.DIGEST:
            parts = [each for each in claim.members if name in self._rules.channels[each.kind]]
            if not parts:
                return None
            title, text = digest_title(parts), digest_text(parts, links, quotes=self._quotes)
        question_id = notification.question_id or ""
        return Message(
            key=notification.id,
            kind=notification.kind,
            title=title,
            text=text,
            importance=notification.importance,
            created_at=notification.created_at,
            session_id=notification.session_id,
            question_id=notification.question_id,
            question_kind=claim.question_kinds.get(question_id),
            link=self._links.page(notification.session_id),
            answer_link=links.get(question_id),
        )

    async def _sleep_until(self, end: datetime) -> None:
        while not self._wake.is_set:
            left = (end - self._clock.now()).total_seconds()
            if left <= 0:
                return
            await self._wake.wait(min(left, LONGEST_STEP_SECONDS))

    async def _tidy(self) -> None:
        now = self._clock.now()
        if self._tidied_at is None or now >= self._tidied_at + TIDY_EVERY:
            await self._store.transact(notifications.tidy, self._rules, now)
            self._tidied_at = now
