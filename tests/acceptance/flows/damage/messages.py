"""A lead wrote three messages to a worker; two of them shared a turn. One reminder came."""

from __future__ import annotations

from navi.live.model.input import NewInput, Origin
from navi.live.model.scheduling.reminder import Reminder, ReminderStatus
from navi.live.store import input_queue
from navi.live.store.due.due_reminders import DueReminders
from navi.live.store.scheduling import one_time_reminders
from tests.acceptance.flows.damage.books import MINUTE, NOW, Books, Damage, answer
from tests.acceptance.flows.ledger import Sent

SENT = [
    Sent(name, "worker", f"message {name}", f"answer {name}", wants_notices=True)
    for name in ("m-1", "m-2", "m-3")
]
REMINDER_IDS = ["r"]


def write(books: Books) -> None:
    for session_id in ("lead", "worker"):
        books.create_session(session_id)
    for each in SENT:
        message = NewInput(
            each.input_id,
            each.session_id,
            each.text,
            origin=Origin.AGENT,
            sender_session_id="lead",
            notify_on_delivery=True,
            notify_on_stop=True,
        )
        books.do(input_queue.admit, message, NOW)
        if each.input_id == "m-1":
            books.do(answer, "worker", "turn-1")
    books.do(answer, "worker", "turn-2")
    books.do(answer, "lead", "turn-3")
    reminder = Reminder("r", "worker", "look", NOW + MINUTE, ReminderStatus.PENDING, NOW, NOW)
    books.do(one_time_reminders.schedule, reminder)
    books.do(DueReminders().claim, NOW + MINUTE, NOW + MINUTE, 10)
    books.do(answer, "worker", "turn-4", NOW + MINUTE)


DAMAGE: Damage = {
    "a message is missing": (
        "input m-1 was confirmed but is not stored",
        "DELETE FROM message_queue WHERE id = 'm-1'",
    ),
    "a message went to another session": (
        "input m-1 is not what was sent",
        "UPDATE message_queue SET session_id = 'lead', ordinal = 99 WHERE id = 'm-1'",
    ),
    "a message was never delivered": (
        "input m-1 was never delivered",
        "UPDATE message_queue SET delivered_at = NULL WHERE id = 'm-1'",
    ),
    "the notice of a delivery is missing": (
        "the sender of m-2 was not told once that it was delivered",
        "DELETE FROM message_queue WHERE id = 'm-2.delivered'",
    ),
    "the notice of an end is missing": (
        "the sender was told 0 times that turn turn-1 ended",
        "DELETE FROM message_queue WHERE id = 'm-1.stopped'",
    ),
    "the notice of an end is missing for two messages that shared a turn": (
        "the sender was told 0 times that turn turn-2 ended",
        "DELETE FROM message_queue WHERE id = 'm-3.stopped'",
    ),
    "both messages of a shared turn have a notice of its end": (
        "the sender was told 2 times that turn turn-2 ended",
        "UPDATE message_queue SET id = 'm-2.stopped' WHERE id = 'm-1.stopped'",
    ),
    "a notice is about no message": (
        "notice gone.delivered is about no message",
        "UPDATE message_queue SET id = 'gone.delivered' WHERE id = 'm-1.delivered'",
    ),
    "a reminder is missing": (
        "reminder r came 0 times",
        "DELETE FROM message_queue WHERE id = 'r.reminder'",
    ),
    "the messages of a shared turn have only half an answer": (
        "turn turn-2 answered 'answer m-2' instead of",
        "UPDATE messages SET content = 'answer m-2' WHERE turn_id = 'turn-2' "
        "AND role = 'assistant'",
    ),
}
