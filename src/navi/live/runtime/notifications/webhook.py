"""Sends notifications as JSON to a URL."""

from __future__ import annotations

from dataclasses import dataclass

from navi.base.timestamps import instant
from navi.live.runtime.notifications.channel import Message
from navi.live.runtime.notifications.http_post import post


@dataclass(frozen=True, slots=True)
class Webhook:
    url: str
    token: str | None = None
    name: str = "webhook"

    async def send(self, message: Message) -> None:
        headers = {"Idempotency-Key": message.key}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        body = {
            "id": message.key,
            "kind": message.kind.value,
            "title": message.title,
            "text": message.text,
            "importance": message.importance,
            "session_id": message.session_id,
            "question_id": message.question_id,
            "link": message.link,
            "answer_link": message.answer_link,
            "created_at": instant(message.created_at),
        }
        await post(self.url, body, headers)
