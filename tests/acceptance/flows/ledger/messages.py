"""Messages between sessions: each sender gets the notices it asked for once, and each one-off
reminder fires once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.acceptance.flows.ledger.inputs import Sent
from tests.acceptance.flows.ledger.rows import Ledger, grouped


def violations(ledger: Ledger, sent: Sequence[Sent], reminder_ids: Sequence[str]) -> Iterator[str]:
    stored = Counter(row.id for row in ledger.inputs)
    noticed = {each.input_id for each in sent if each.wants_notices}
    for message_id in noticed & stored.keys():
        if stored[f"{message_id}.delivered"] != 1:
            yield f"the sender of {message_id} was not told once that it was delivered"
    for turn_id, rows in grouped(ledger.inputs, lambda row: row.turn_id).items():
        # One notice for all messages of a sender that the turn answered.
        of = [row for row in rows if row.id in noticed]
        notices = sum(stored[f"{row.id}.stopped"] for row in of)
        if of and notices != 1:
            yield f"the sender was told {notices} times that turn {turn_id} ended"
    for row in ledger.inputs:
        about, _, notice = row.id.rpartition(".")
        if "notice" in row.metadata and (row.metadata["notice"] != notice or not stored[about]):
            yield f"notice {row.id} is about no message"
    for reminder_id in reminder_ids:
        if (times := stored[f"{reminder_id}.reminder"]) != 1:
            yield f"reminder {reminder_id} came {times} times"
