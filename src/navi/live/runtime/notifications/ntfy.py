"""Sends to phones with ntfy, with buttons that answer a question."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from navi.live.model.notification import NotificationKind
from navi.live.model.question import Decision, QuestionKind
from navi.live.runtime.notifications.channel import Message
from navi.live.runtime.notifications.http_post import post

TAGS = {
    NotificationKind.QUESTION: "question",
    NotificationKind.FAILED: "x",
    NotificationKind.FINISHED: "white_check_mark",
    NotificationKind.AUTOMATION_OFF: "no_entry",
    NotificationKind.DIGEST: "sunrise",
    NotificationKind.TEST: "bell",
}
HAS_BUTTONS = (QuestionKind.PERMISSION, QuestionKind.PLAN)
SEQUENCE_ID = re.compile(r"[^A-Za-z0-9_-]")
SEQUENCE_ID_LENGTH = 64


@dataclass(frozen=True, slots=True)
class Ntfy:
    url: str
    """The server's address and the topic."""
    token: str | None = None
    name: str = "ntfy"

    async def send(self, message: Message) -> None:
        server, _, topic = self.url.rstrip("/").rpartition("/")
        headers = {"Idempotency-Key": message.key}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        await post(server, ntfy_json(message, topic), headers)


def ntfy_json(message: Message, topic: str) -> dict[str, Any]:
    """The message in ntfy's JSON. A message with the same sequence id replaces the earlier one."""
    body: dict[str, Any] = {
        "topic": topic,
        "title": message.title,
        "message": message.text or message.title,
        "priority": max(1, min(5, message.importance)),
        "tags": [TAGS[message.kind]],
        "sequence_id": SEQUENCE_ID.sub("-", message.key)[:SEQUENCE_ID_LENGTH],
    }
    if (link := message.answer_link or message.link) is not None:
        body["click"] = link
    if message.answer_link is not None and message.question_kind in HAS_BUTTONS:
        body["actions"] = [
            _button(label, decision, message.answer_link)
            for label, decision in (("Allow", Decision.ALLOW), ("Deny", Decision.DENY))
        ]
    return body


def _button(label: str, decision: Decision, url: str) -> dict[str, Any]:
    return {
        "action": "http",
        "label": label,
        "url": url,
        "method": "POST",
        "headers": {"Content-Type": "application/json"},
        "body": json.dumps({"decision": decision.value}),
        "clear": True,
    }
