"""Notices that senders asked for: their message was delivered, its turn ended, or it was lost.

Each is admitted in the transaction in which that happens, so none is lost or sent twice.
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

MESSAGE_CHARACTERS = 80
"""How much of the sender's message a notice quotes."""
ANSWER_CHARACTERS = 1000
"""How much of the agent's last message a notice quotes."""


def notify_delivered(
    connection: Connection, receiver: Session, inputs: Sequence[Input], now: datetime
) -> bool:
    """Notify senders that their messages were delivered. True if any notice was queued."""
    has_notice = False
    for message in inputs:
        if message.notify_on_delivery:
            text = f"[sm] {_label(receiver)} received your message: {_quote(message.text)}"
            has_notice |= _notify(connection, receiver, message, "delivered", text, now)
    return has_notice


def notify_stopped(
    connection: Connection,
    receiver: Session,
    inputs: Sequence[Input],
    ending: Ending,
    answer: str,
    now: datetime,
) -> None:
    """Notify senders that the turn that answered their messages has ended."""
    for message in _one_per_sender(inputs):
        quote = _quote(message.text)
        text = f"[sm] {_label(receiver)} {_describe(ending)} after your message: {quote}"
        if answer:
            text += f"\nIts last message:\n{shortened(answer, ANSWER_CHARACTERS)}"
        _notify(connection, receiver, message, "stopped", text, now)


def notify_lost(
    connection: Connection, receiver: Session, inputs: Sequence[Input], now: datetime
) -> None:
    """Notify senders whose messages a killed session never received."""
    for message in inputs:
        if message.notify_on_delivery or message.notify_on_stop:
            text = f"[sm] {_label(receiver)} was killed and never received: {_quote(message.text)}"
            _notify(connection, receiver, message, "lost", text, now)


def _notify(
    connection: Connection, receiver: Session, message: Input, kind: str, text: str, now: datetime
) -> bool:
    if message.sender_session_id is None:
        return False
    notice = NewInput(
        # Derived from the message's id, so that the same notice can't be sent twice.
        id=f"{message.id}.{kind}",
        session_id=message.sender_session_id,
        text=text,
        delivery_mode=DeliveryMode.IMPORTANT,
        origin=Origin.AGENT,
        sender_session_id=receiver.id,
        metadata={"notice": kind, "input_id": message.id},
    )
    return input_queue.admit_notice(connection, notice, now)


def _one_per_sender(inputs: Sequence[Input]) -> list[Input]:
    """Each sender's last message that asks for a notice, because one turn may answer several."""
    last = {message.sender_session_id: message for message in inputs if message.notify_on_stop}
    return list(last.values())


def _label(session: Session) -> str:
    return f"{session.name} ({session.id})"


def _describe(ending: Ending) -> str:
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


def _quote(text: str) -> str:
    return f'"{shortened(" ".join(text.split()), MESSAGE_CHARACTERS)}"'
