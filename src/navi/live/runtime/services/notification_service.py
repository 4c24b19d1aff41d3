"""Lists people's notifications, whether sent, waiting or failed, and sends tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from navi.base.clock import Clock
from navi.base.errors import InvalidInput, NotAllowed
from navi.base.ids import new_id
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import User
from navi.live.model.notification import Notification, NotificationKind, NotificationState
from navi.live.runtime.notifications.answer_links import AnswerLinks
from navi.live.runtime.notifications.channel import (
    Channel,
    ChannelUnavailable,
    Message,
    MessageRefused,
)
from navi.live.store import notifications
from navi.live.store.engine.transactions import Store

SETTINGS_HINT = "set one up under [notifications] in the settings, and restart the server"


@dataclass(frozen=True, slots=True)
class TestResult:
    """The result of a test on one channel. `error` is None if the channel accepted it."""

    channel: str
    error: str | None


class NotificationService:
    def __init__(
        self, store: Store, clock: Clock, channels: Sequence[Channel], links: AnswerLinks
    ) -> None:
        self._store = store
        self._clock = clock
        self._channels = channels
        self._links = links

    async def list_notifications(
        self, user: User, state: NotificationState | None = None
    ) -> list[Notification]:
        """The notifications the user may see, newest first."""
        owner = None if user.is_admin else user.id
        return await self._store.transact(
            notifications.list_notifications, user_id=owner, state=state
        )

    async def test(self, caller: Caller, channel: str | None = None) -> list[TestResult]:
        """Send a test over every channel, or over one, regardless of the rules."""
        caller.require_person()
        if not caller.user.is_admin:
            raise NotAllowed("only admins may use the server's channels")
        names = [each.name for each in self._channels]
        if not names:
            raise InvalidInput("no channel is set up", hint=SETTINGS_HINT)
        if channel is not None and channel not in names:
            raise InvalidInput(
                f"there is no channel {channel!r}", hint=f"one of: {', '.join(names)}"
            )
        return [await self._test(each) for each in self._channels if channel in (None, each.name)]

    async def _test(self, channel: Channel) -> TestResult:
        message = Message(
            key=f"test.{new_id()}",
            kind=NotificationKind.TEST,
            title="Navi can reach you",
            text=f"This is a test of the channel {channel.name}.",
            importance=2,
            created_at=self._clock.now(),
            link=self._links.page(None),
        )
        try:
            await channel.send(message)
        except (ChannelUnavailable, MessageRefused) as error:
            return TestResult(channel.name, str(error))
        return TestResult(channel.name, None)
