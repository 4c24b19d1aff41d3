"""Something that wants a turn, and which input goes next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from navi.base.errors import InvalidInput, TooLarge
from navi.base.stored_text import require_storable

if TYPE_CHECKING:
    from navi.live.model.budget import Pause

TEXT_LIMIT_BYTES = 1_000_000
"""No model reads more in one message. Larger texts belong in a file that the input names."""
TIME_LIMIT = "time_limit_seconds"
"""Metadata key of an input: how long its turn may take."""
TOOL_CALL = "tool_call_id"
"""Metadata key of an input delivered during a turn: the tool call whose result carried it."""
CONTINUES = "continues"
"""Metadata key of an input that continues a turn: the ids of the inputs that began the work."""


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
    ANSWER = "answer"
    """A person's answer to a question that ended its turn."""


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
    """The agent reads this instead of `text`. A scheduled input gets it when its turn begins."""
    not_before: datetime | None = None
    """The instant before which it is not delivered; None means at once."""
    limit_account: str | None = None
    """The account whose usage limit it waits for."""
    budget: str | None = None
    """The key of the used-up budget that it waits for."""

    @property
    def is_continuation(self) -> bool:
        """Whether it continues a turn that met a usage limit."""
        return CONTINUES in self.metadata

    @property
    def notifies_person(self) -> bool:
        """Whether the person who sent it wants to be notified of the end of its turn."""
        return self.notify_on_stop and self.origin is Origin.USER


@dataclass(frozen=True, slots=True)
class Input(NewInput):
    ordinal: int = 0
    """Its number in the session's order of admission."""
    queued_at: datetime | None = None
    delivered_at: datetime | None = None
    turn_id: str | None = None

    @property
    def queue_order(self) -> tuple[datetime | None, int]:
        """The sort key within a delivery mode: `not_before` or else `queued_at`, then `ordinal`."""
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
    pause: Pause | None = None
    """Why the session waits, if a budget is used up."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The state of an input. `text` is the agent's last message in the input's turn."""

    input_id: str
    status: str
    """`queued`, `running` or `done`."""
    turn_id: str | None = None
    outcome: str | None = None
    error: str | None = None
    text: str | None = None
    ended_at: datetime | None = None


def require_text(text: str) -> str:
    """Return the text. Raises `InvalidInput` if it is blank, too long or can't be stored."""
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
"""The total length of their texts: no more than an agent can be expected to read."""


_COMMAND = re.compile(r"\s*/[\w:-]+(\s|$)")


def is_command(text: str) -> bool:
    """Whether the text is a slash command (not a path), which an agent accepts only alone."""
    return _COMMAND.match(text) is not None


def may_join(input: Input) -> bool:
    """Whether this input may share a turn. A person's input always gets its own answer."""
    return input.origin in (Origin.AGENT, Origin.REMINDER) and not is_command(input.text)


def joined_with(first: Input, others: Sequence[Input]) -> list[Input]:
    """The inputs among `others` that share the turn of `first`, which itself `may_join` a turn.

    `others` are in delivery order. Those with the delivery mode of `first` join, up to the first
    one that may not. If `first` is a reminder, reminders in all modes join.
    """
    joined: list[Input] = []
    size = len(first.text)
    is_mode_open = True
    for other in others:
        size += len(other.text)
        if len(joined) + 1 >= JOIN_LIMIT or size > JOIN_LIMIT_CHARACTERS:
            break
        if first.origin is other.origin is Origin.REMINDER and may_join(other):
            joined.append(other)
        elif other.delivery_mode is first.delivery_mode:
            is_mode_open = is_mode_open and may_join(other)
            if is_mode_open:
                joined.append(other)
    return joined


def with_sender(text: str, metadata: Mapping[str, Any]) -> str:
    """The text with its sender's name, as the agent reads it."""
    sender = metadata.get("sender")
    if not isinstance(sender, Mapping) or is_command(text):
        return text
    return f"[message from {sender['name']} ({sender['id']})]\n{text}"


def prompt_of(inputs: Sequence[Input]) -> str:
    """What the agent reads in the turn of these inputs."""
    return "\n\n".join(item.prompt or with_sender(item.text, item.metadata) for item in inputs)


_MODES_BY_RANK = (DeliveryMode.URGENT, DeliveryMode.IMPORTANT, DeliveryMode.SEQUENTIAL)


def modes_before(mode: DeliveryMode) -> tuple[DeliveryMode, ...]:
    """The modes whose inputs go before those of `mode`."""
    return _MODES_BY_RANK[: _MODES_BY_RANK.index(mode)]


def delivery_order(queue: Sequence[Input]) -> list[Input]:
    """Urgent before important before sequential; within a mode, by `queue_order`."""
    return sorted(
        queue,
        key=lambda each: (_MODES_BY_RANK.index(each.delivery_mode), each.queue_order),
    )
