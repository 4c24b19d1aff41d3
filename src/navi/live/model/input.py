"""Something that wants a turn, and which input goes next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from navi.base.errors import InvalidInput, TooLarge
from navi.base.stored_text import require_storable

TEXT_LIMIT_BYTES = 1_000_000
"""No model reads more in one message. Larger texts belong in a file that the input names."""
TIME_LIMIT = "time_limit_seconds"
"""Metadata key of an input: how long its turn may take."""
TOOL_CALL = "tool_call_id"
"""Metadata key of an input that reached a working agent: the call whose result carried it."""


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
    """An input to admit. Admitting the same `id` again has no effect."""

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
    """Stored with the message in the transcript."""
    prompt: str | None = None
    """What the agent reads instead of `text`. For scheduled inputs, rendered as the turn begins."""
    not_before: datetime | None = None
    """Not delivered before this instant; None means at once."""


@dataclass(frozen=True, slots=True)
class Input(NewInput):
    ordinal: int = 0
    """Its number in the session's order of admission."""
    queued_at: datetime | None = None
    delivered_at: datetime | None = None
    turn_id: str | None = None

    @property
    def place(self) -> tuple[datetime | None, int]:
        """Sorts inputs of one delivery mode: by instant, then by order of admission."""
        return self.not_before or self.queued_at, self.ordinal

    def is_deliverable(self, now: datetime) -> bool:
        return self.not_before is None or self.not_before <= now


@dataclass(frozen=True, slots=True)
class Admission:
    """The answer to the sender. `position` is the number of inputs ahead: 0 is next."""

    input_id: str
    delivered: bool
    position: int
    thresholds: tuple[int, int] | None = None
    """The soft and hard thresholds in seconds after delivery, if the agent is to be reminded."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The progress of an input. `text` is the last thing the agent said in its turn."""

    input_id: str
    status: str
    """`queued`, `running` or `done`."""
    turn_id: str | None = None
    outcome: str | None = None
    error: str | None = None
    text: str | None = None
    ended_at: datetime | None = None


def require_text(text: str) -> str:
    """The text as it will be stored, or an error."""
    if not text.strip():
        raise InvalidInput("the text is blank", hint="say what the session should do")
    size = len(require_storable("the text", text).encode())
    if size > TEXT_LIMIT_BYTES:
        raise TooLarge(
            f"the text has {size:,} bytes; {TEXT_LIMIT_BYTES:,} is the limit for one input",
            hint="put it in a file and give the file's path in the text",
        )
    return text


JOIN_LIMIT = 50
"""How many waiting messages may share one turn."""
JOIN_LIMIT_CHARACTERS = 200_000
"""Their total length: no more than an agent can be expected to read."""


_COMMAND = re.compile(r"\s*/[\w:-]+(\s|$)")


def is_command(text: str) -> bool:
    """A slash command of the agent, not a path. It works only on its own."""
    return _COMMAND.match(text) is not None


def may_join(waiting: Input) -> bool:
    """Whether it may share a turn. What a person sends always gets its own answer."""
    return waiting.origin in (Origin.AGENT, Origin.REMINDER) and not is_command(waiting.text)


def joined_with(first: Input, others: Sequence[Input]) -> list[Input]:
    """Which of the others, in delivery order, share the turn of `first`, which may join.

    For a message between agents: those waiting in the same mode, up to the first that may not
    join. For a reminder: all other reminders.
    """
    joined: list[Input] = []
    size = len(first.text)
    is_open = True
    for other in others:
        size += len(other.text)
        if len(joined) + 1 >= JOIN_LIMIT or size > JOIN_LIMIT_CHARACTERS:
            break
        if first.origin is other.origin is Origin.REMINDER and may_join(other):
            joined.append(other)
        elif other.delivery_mode is first.delivery_mode:
            is_open = is_open and may_join(other)
            if is_open:
                joined.append(other)
    return joined


def signed(text: str, metadata: Mapping[str, Any]) -> str:
    """The text with its sender's name, as the agent reads it."""
    sender = metadata.get("sender")
    if not isinstance(sender, Mapping) or is_command(text):
        return text
    return f"[message from {sender['name']} ({sender['id']})]\n{text}"


def prompt_of(inputs: Sequence[Input]) -> str:
    """What the agent reads in the turn of these inputs."""
    return "\n\n".join(item.prompt or signed(item.text, item.metadata) for item in inputs)


_ORDER = (DeliveryMode.URGENT, DeliveryMode.IMPORTANT, DeliveryMode.SEQUENTIAL)


def modes_before(mode: DeliveryMode) -> tuple[DeliveryMode, ...]:
    """The modes whose inputs go before those of `mode`."""
    return _ORDER[: _ORDER.index(mode)]


def delivery_order(queue: Sequence[Input]) -> list[Input]:
    """Urgent before important before sequential; within a mode, by `place`."""
    return sorted(queue, key=lambda waiting: (_ORDER.index(waiting.delivery_mode), waiting.place))
