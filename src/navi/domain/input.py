"""What wants a turn, and which one of them goes next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from navi.domain.errors import InvalidInput, TooLarge

TEXT_LIMIT_BYTES = 1_000_000
"""Larger texts belong in a file whose path the text names; no model reads them in one message."""


class DeliveryMode(StrEnum):
    SEQUENTIAL = "sequential"
    IMPORTANT = "important"
    URGENT = "urgent"


class Origin(StrEnum):
    USER = "user"
    RECALL = "recall"
    AUTOMATION = "automation"
    AGENT = "agent"
    REMINDER = "reminder"


@dataclass(frozen=True, slots=True)
class NewInput:
    """An input as it is admitted. Sending the same `id` again admits nothing new."""

    id: str
    session_id: str
    text: str
    delivery_mode: DeliveryMode = DeliveryMode.SEQUENTIAL
    origin: Origin = Origin.USER
    sender_session_id: str | None = None
    remind_soft_threshold: int | None = None
    remind_hard_threshold: int | None = None
    notify_on_delivery: bool = False
    notify_on_stop: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Kept with the message in the transcript."""
    prompt: str | None = None
    """What the agent is told, where that is more than the text that the transcript shows."""


@dataclass(frozen=True, slots=True)
class Input(NewInput):
    ordinal: int = 0
    """The order of admission within the session."""
    queued_at: datetime | None = None
    delivered_at: datetime | None = None
    turn_id: str | None = None


@dataclass(frozen=True, slots=True)
class Admission:
    """What the sender is told. `position` counts the inputs that go first: 0 is next."""

    input_id: str
    delivered: bool
    position: int


def require_text(text: str) -> str:
    """The text as it will be stored, or a refusal."""
    if not text.strip():
        raise InvalidInput("the text is blank", hint="say what the session should do")
    if "\x00" in text:
        raise InvalidInput("the text contains a NUL character", hint="remove it and send again")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "the text contains half of a surrogate pair", hint="send it as valid UTF-8"
        ) from error
    if size > TEXT_LIMIT_BYTES:
        raise TooLarge(
            f"the text has {size:,} bytes; {TEXT_LIMIT_BYTES:,} is the most one input may have",
            hint="put it into a file and name the file's path in the text",
        )
    return text


_ORDER = (DeliveryMode.URGENT, DeliveryMode.IMPORTANT, DeliveryMode.SEQUENTIAL)


def modes_before(mode: DeliveryMode) -> tuple[DeliveryMode, ...]:
    """The modes whose inputs overtake those of `mode`."""
    return _ORDER[: _ORDER.index(mode)]


def delivery_order(queue: Sequence[Input]) -> list[Input]:
    """Urgent before important before sequential; in the order of admission among equals."""
    return sorted(queue, key=lambda waiting: (_ORDER.index(waiting.delivery_mode), waiting.ordinal))
