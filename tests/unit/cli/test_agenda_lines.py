from __future__ import annotations

from datetime import UTC, datetime, timedelta

from navi.cli.sm.lines import held_by_terminals, next_event
from navi.live.model.scheduling.agenda import AgendaEntry, AgendaKind, WaitsFor
from navi.live.model.wire_format import AgendaJson, agenda_json

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


def entry(minutes: int, waits_for: WaitsFor | None = WaitsFor.TERMINAL) -> AgendaJson:
    at = NOON + timedelta(minutes=minutes)
    kind = AgendaKind.RECALL
    return agenda_json(AgendaEntry(at, kind, "1", "session", "shop", "Read b.log", waits_for))


def test_what_is_due_in_an_open_terminal_says_what_it_waits_for() -> None:
    assert next_event(entry(-1), NOON) == "waits for its terminal: Read b.log"
    assert next_event(entry(1), NOON) == "in 1 min: Read b.log"
    assert next_event(entry(-1, None), NOON) == "now: Read b.log"


def test_a_terminal_is_only_mentioned_once_it_holds_something_up() -> None:
    assert held_by_terminals([entry(1), entry(-1, None)], NOON) is None
    reason = held_by_terminals([entry(-1), entry(-2)], NOON)
    assert reason is not None
    assert reason.startswith("open in a terminal: shop; due entries begin when you quit")
