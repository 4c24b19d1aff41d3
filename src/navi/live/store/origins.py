"""Updates the recall or automation behind an input whenever the input's state changes.

The input's turn began, ended, met a usage limit or was undone, which returns the input to the
queue. Or the input was removed from the queue.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Protocol

from sqlalchemy import Connection

from navi.live.model.input import Input, Origin
from navi.live.model.turn import Ending
from navi.live.store import input_queue
from navi.live.store.damage import set_aside
from navi.live.store.due.contract import DueKind
from navi.live.store.due.due_automations import DueAutomations
from navi.live.store.due.due_recalls import DueRecalls
from navi.live.store.scheduling import automation_runs, recalls

REMOVED_BY_PERSON = "removed from the queue"


class _Recorder(Protocol):
    """Records the changes of inputs of one origin."""

    def turn_began(
        self, connection: Connection, input: Input, now: datetime, zone: tzinfo, /
    ) -> Input: ...

    def turn_undone(self, connection: Connection, input: Input, now: datetime, /) -> None: ...

    def turn_ended(
        self,
        connection: Connection,
        input: Input,
        ending: Ending,
        message_id: str | None,
        now: datetime,
        /,
    ) -> str | None: ...

    def turn_limited(
        self, connection: Connection, next_input: Input, ending: Ending, now: datetime, /
    ) -> None: ...

    def input_removed(
        self, connection: Connection, input: Input, why: str, now: datetime, /
    ) -> None: ...


_RECORDERS: dict[Origin, _Recorder] = {Origin.RECALL: recalls, Origin.AUTOMATION: automation_runs}
_DUE_KINDS: dict[Origin, tuple[DueKind, str]] = {
    Origin.RECALL: (DueRecalls(), "recall_id"),
    Origin.AUTOMATION: (DueAutomations(keep_runs=1), "automation_id"),
}
"""Each origin's kind, and the metadata key under which an input has the id of the kind's row."""


def turn_began(connection: Connection, input: Input, now: datetime, zone: tzinfo) -> Input:
    """Record that the turn began. Returns the input, with its prompt if it was scheduled."""
    recorder = _RECORDERS.get(input.origin)
    return input if recorder is None else recorder.turn_began(connection, input, now, zone)


def turn_undone(connection: Connection, input: Input, now: datetime) -> None:
    if (recorder := _RECORDERS.get(input.origin)) is not None:
        recorder.turn_undone(connection, input, now)


def turn_ended(
    connection: Connection, input: Input, ending: Ending, message_id: str | None, now: datetime
) -> str | None:
    """Record the end of the turn. Returns the text of a notice for the session, if any.

    If recording fails, the recall or automation is set aside, so that the turn ends anyway. A
    `NaviError` or a transient error of the database is raised instead.
    """
    recorder = _RECORDERS.get(input.origin)
    if recorder is None:
        return None
    try:
        with connection.begin_nested():
            return recorder.turn_ended(connection, input, ending, message_id, now)
    except Exception as error:
        if not set_aside.is_damage(connection, error):
            raise
        return _set_aside(connection, input, set_aside.reason_of(error), now)


def turn_limited(connection: Connection, next_input: Input, ending: Ending, now: datetime) -> None:
    """Record that the turn met a usage limit, after which `next_input` continues its work."""
    if (recorder := _RECORDERS.get(next_input.origin)) is not None:
        recorder.turn_limited(connection, next_input, ending, now)


def input_removed(connection: Connection, input: Input, why: str, now: datetime) -> None:
    if (recorder := _RECORDERS.get(input.origin)) is not None:
        recorder.input_removed(connection, input, why, now)


def withdraw(connection: Connection, session_id: str, input_id: str, now: datetime) -> None:
    """Remove an undelivered input, and update the recall or automation behind it."""
    removed = input_queue.remove(connection, session_id, input_id, now)
    input_removed(connection, removed, REMOVED_BY_PERSON, now)


def _set_aside(connection: Connection, input: Input, why: str, now: datetime) -> str:
    kind, key = _DUE_KINDS[input.origin]
    reference = set_aside.Reference(str(input.metadata.get(key, "")), input.session_id)
    set_aside.record(connection, kind.name, reference, why, now)
    kind.give_up(connection, reference.row_id, why)
    return f"Navi set aside a damaged {kind.name} ({reference.row_id}): {why}"
