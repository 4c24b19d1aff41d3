"""Sends to any service that the package Apprise supports: Telegram, Slack, e-mail and many more.

Apprise is an optional dependency, so it is imported only when a message is sent.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from navi.live.runtime.notifications.channel import ChannelUnavailable, Message

NOT_INSTALLED = "Apprise is not installed: install `heynavi[apprise]`"


@dataclass(frozen=True, slots=True)
class AppriseUrl:
    """One of Apprise's URLs. Each is a separate channel, so that only failed ones are retried."""

    url: str
    name: str

    async def send(self, message: Message) -> None:
        try:
            is_sent = await asyncio.to_thread(self._notify, message)
        except ImportError as error:
            raise ChannelUnavailable(NOT_INSTALLED) from error
        if not is_sent:
            raise ChannelUnavailable("Apprise could not send the message; its own log says why")

    def _notify(self, message: Message) -> bool:
        import apprise

        target = apprise.Apprise()
        if not target.add(self.url):
            raise ChannelUnavailable("Apprise does not support the URL")
        lines = [message.text, message.answer_link or message.link or ""]
        body = "\n".join(line for line in lines if line)
        return bool(target.notify(title=message.title, body=body or message.title))
