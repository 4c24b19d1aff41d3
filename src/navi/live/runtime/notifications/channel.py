"""The interface of a channel, and the message that it sends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from navi.live.model.notification import NotificationKind
from navi.live.model.question import QuestionKind

TIMEOUT_SECONDS = 10.0
"""How long a channel may take for one message."""


@dataclass(frozen=True, slots=True)
class Message:
    """A notification, ready to be sent."""

    key: str
    """The same for every attempt, so that the receiver can drop duplicates."""
    kind: NotificationKind
    title: str
    text: str
    importance: int
    created_at: datetime
    session_id: str | None = None
    question_id: str | None = None
    question_kind: QuestionKind | None = None
    link: str | None = None
    """The page to open."""
    answer_link: str | None = None
    """The link that answers the question, for anyone who has it."""


class Channel(Protocol):
    @property
    def name(self) -> str: ...

    async def send(self, message: Message) -> None:
        """Send the message. Raises `ChannelUnavailable` or `MessageRefused` if that fails."""


class ChannelUnavailable(Exception):
    """The channel accepts no messages for now. The text says why, without quoting a secret."""


class MessageRefused(Exception):
    """The channel works, but will never accept this message."""
