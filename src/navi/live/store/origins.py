"""Tells the recall or automation behind an input what became of that input.

Its turn began, was undone or has ended, or the input was removed from the queue.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Protocol

from sqlalchemy import Connection

from navi.base.errors import NaviError
from navi.live.model.input import Input, Origin
from navi.live.model.turn import Ending
from navi.live.store import input_queue
from navi.live.store.damage import set_aside
from navi.live.store.due.contract import DueKind
from navi.live.store.due.due_automations import DueAutomations
from navi.live.store.due.due_recalls import DueRecalls
from navi.live.store.scheduling import automation_runs, recalls

REMOVED_BY_PERSON = "removed from the queue"


class _Source(Protocol):
    def turn_began(
        self, connection: Connection, begun: Input, now: datetime, zone: tzinfo, /
    ) -> Input: ...

    def turn_undone(self, connection: Connection, waiting: Input, now: datetime, /) -> None: ...

    def turn_ended(
        self,
        connection: Connection,
        ended: Input,
        ending: Ending,
        message_id: str | None,
        now: datetime,
        /,
    ) -> str | None: ...

    def input_removed(
        self, connection: Connection, removed: Input, why: str, now: datetime, /
    ) -> None: ...


_SOURCES: dict[Origin, _Source] = {Origin.RECALL: recalls, Origin.AUTOMATION: automation_runs}
_KINDS: dict[Origin, tuple[DueKind, str]] = {
    Origin.RECALL: (DueRecalls(), "recall_id"),
    Origin.AUTOMATION: (DueAutomations(keep_runs=1), "automation_id"),
}


def turn_began(connection: Connection, begun: Input, now: datetime, zone: tzinfo) -> Input:
    """Record that the turn began. Returns the input, with its prompt if it was scheduled."""
    source = _SOURCES.get(begun.origin)
    return begun if source is None else source.turn_began(connection, begun, now, zone)


def turn_undone(connection: Connection, waiting: Input, now: datetime) -> None:
    if (source := _SOURCES.get(waiting.origin)) is not None:
        source.turn_undone(connection, waiting, now)


def turn_ended(
    connection: Connection, ended: Input, ending: Ending, message_id: str | None, now: datetime
) -> str | None:
    """Record the end of the turn. Returns a remark for the session, if there is one.

    A source that fails is set aside, so that the turn ends anyway.
    """
    source = _SOURCES.get(ended.origin)
    if source is None:
        return None
    try:
        with connection.begin_nested():
            return source.turn_ended(connection, ended, ending, message_id, now)
    except NaviError:
        raise
    except Exception as error:
        return _set_aside(connection, ended, set_aside.reason_of(error), now)


def input_removed(connection: Connection, removed: Input, why: str, now: datetime) -> None:
    if (source := _SOURCES.get(removed.origin)) is not None:
        source.input_removed(connection, removed, why, now)


def withdraw(connection: Connection, session_id: str, input_id: str, now: datetime) -> None:
    """Remove an undelivered input."""
    removed = input_queue.remove(connection, session_id, input_id, now)
    input_removed(connection, removed, REMOVED_BY_PERSON, now)


def _set_aside(connection: Connection, ended: Input, why: str, now: datetime) -> str:
    kind, key = _KINDS[ended.origin]
    reference = set_aside.Reference(str(ended.metadata.get(key, "")), ended.session_id)
    set_aside.record(connection, kind.name, reference, why, now)
    kind.give_up(connection, reference.row_id, why)
    return f"Navi set aside a damaged {kind.name} ({reference.row_id}): {why}"
