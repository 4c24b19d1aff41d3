"""What the clients of a server were promised, and whether its store kept the promise.

`read` reads a whole store by plain SQL, behind the server's back. `violations` compares it with
what the clients remember and names every contradiction; it expects a store at rest: all queues
empty, no turn running. `momentary_violations` holds at any moment, also just after a kill.

- rows.py         the rows of a store, and how they are read
- inputs.py       inputs, turns, transcripts, events and numbers
- messages.py     notices to senders, and one-off reminders
- recalls.py      recalls and their beats
- automations.py  automations, their runs and the answers they deliver

Every check runs on every store; one without matching rows passes.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.acceptance.flows.ledger import automations, inputs, messages, recalls
from tests.acceptance.flows.ledger.automations import AddedAutomation
from tests.acceptance.flows.ledger.inputs import Sent, stream_violations
from tests.acceptance.flows.ledger.recalls import ScheduledRecall
from tests.acceptance.flows.ledger.rows import (
    SERVER_STOPPED,
    EventRow,
    Ledger,
    TurnRow,
    open_file,
    progress,
    read,
    snapshot,
)

__all__ = [
    "SERVER_STOPPED",
    "AddedAutomation",
    "EventRow",
    "Ledger",
    "ScheduledRecall",
    "Sent",
    "TurnRow",
    "momentary_violations",
    "open_file",
    "progress",
    "read",
    "snapshot",
    "stream_violations",
    "violations",
]


def violations(
    ledger: Ledger,
    sent: Sequence[Sent] = (),
    *,
    scheduled: Sequence[ScheduledRecall] = (),
    added: Sequence[AddedAutomation] = (),
    reminder_ids: Sequence[str] = (),
) -> list[str]:
    """Every broken promise. The other arguments are what servers confirmed to the clients."""
    return [
        *inputs.violations(ledger, sent),
        *messages.violations(ledger, sent, reminder_ids),
        *recalls.violations(ledger, scheduled),
        *automations.violations(ledger, added),
        *momentary_violations(ledger),
    ]


def momentary_violations(ledger: Ledger) -> list[str]:
    """The contradictions that are wrong even while turns run."""
    return [*recalls.momentary_violations(ledger), *automations.momentary_violations(ledger)]
