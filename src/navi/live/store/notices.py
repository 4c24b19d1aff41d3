"""Notices that senders asked for: their message was delivered, its turn ended, or it got lost.

Each is admitted in the transaction that makes it true, so none is lost or sent twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from navi.base.shortened_text import shortened
from navi.live.model.input import DeliveryMode, Input, NewInput, Origin
from navi.live.model.session import Session
from navi.live.model.turn import Ending, Outcome
from navi.live.store import input_queue

QUOTED = 80
ANSWER = 1000
"""How many characters of the last answer a notice quotes."""


def delivered(
    connection: Connection, receiver: Session, inputs: Sequence[Input], now: datetime
) -> bool:
    """Notify senders that their messages were delivered. True if any notice was queued."""
    has_notice = False
    for each in inputs:
        if each.notify_on_delivery:
            text = f"[sm] {_named(receiver)} received your message: {_quoted(each.text)}"
            has_notice |= _tell(connection, receiver, each, "delivered", text, now)
    return has_notice


def stopped(
    connection: Connection,
    receiver: Session,
    inputs: Sequence[Input],
    ending: Ending,
    answer: str,
    now: datetime,
) -> bool:
    has_notice = False
    for each in _one_per_sender(inputs):
        text = f"[sm] {_named(receiver)} {_end(ending)} after your message: {_quoted(each.text)}"
        if answer:
            text += f"\nIt said last:\n{shortened(answer, ANSWER)}"
        has_notice |= _tell(connection, receiver, each, "stopped", text, now)
    return has_notice


def lost(connection: Connection, receiver: Session, inputs: Sequence[Input], now: datetime) -> bool:
    """Notify senders whose messages a killed session never received."""
    has_notice = False
    for each in inputs:
        if each.notify_on_delivery or each.notify_on_stop:
            text = f"[sm] {_named(receiver)} was killed and never received: {_quoted(each.text)}"
            has_notice |= _tell(connection, receiver, each, "lost", text, now)
    return has_notice


def _tell(
    connection: Connection, receiver: Session, about: Input, what: str, text: str, now: datetime
) -> bool:
    if about.sender_session_id is None:
        return False
    notice = NewInput(
        # Derived from the message's id, so that the same notice can't be sent twice.
        id=f"{about.id}.{what}",
        session_id=about.sender_session_id,
        text=text,
        delivery_mode=DeliveryMode.IMPORTANT,
        origin=Origin.AGENT,
        sender_session_id=receiver.id,
        metadata={"notice": what, "input_id": about.id},
    )
    return input_queue.tell(connection, notice, now)


def _one_per_sender(inputs: Sequence[Input]) -> list[Input]:
    """The last message of each sender, of several that one turn answered."""
    last = {each.sender_session_id: each for each in inputs if each.notify_on_stop}
    return list(last.values())


def _named(session: Session) -> str:
    return f"{session.name} ({session.id})"


def _end(ending: Ending) -> str:
    match ending.outcome:
        case Outcome.OK:
            return "has stopped"
        case Outcome.STOPPED:
            return "was stopped"
        case Outcome.DENIED:
            return f"has stopped ({shortened(ending.error or 'refused', 200)})"
        case Outcome.LIMIT:
            return f"hit a usage limit ({shortened(ending.error or 'no reason given', 200)})"
    return f"has failed ({shortened(ending.error or ending.outcome.value, 200)})"


def _quoted(text: str) -> str:
    return f'"{shortened(" ".join(text.split()), QUOTED)}"'
