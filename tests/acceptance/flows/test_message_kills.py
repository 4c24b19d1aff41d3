"""Servers are killed while agents write to each other: everything arrives, and once.

And the checker that says so is shown servers and books that are wrong.
"""

from __future__ import annotations

import pytest

from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.message_storm import MessageStorm, Row
from tests.acceptance.flows.pair import start_pair
from tests.acceptance.flows.test_mutants import mutant
from tests.postgres import PostgresServer

pytestmark = pytest.mark.proof

KILLS = 4

TELLS_NOBODY_OF_THE_END = """
from navi.store import notices
notices.stopped = lambda *arguments: False
"""


async def test_no_message_notice_or_reminder_is_lost_or_doubled_when_the_server_is_killed(
    serve: Serve,
) -> None:
    report = await MessageStorm([serve()], seed=6, messages=40).run(KILLS)
    assert report.violations == []
    assert report.kills == KILLS
    assert report.reminders


async def test_no_message_notice_or_reminder_is_lost_or_doubled_when_two_servers_are_killed(
    serve: Serve, postgres: PostgresServer
) -> None:
    pair = await start_pair(serve, postgres)
    report = await MessageStorm(pair.servers, seed=7, messages=40).run(KILLS)
    assert report.violations == []
    assert report.kills == KILLS
    assert report.reminders


async def test_the_checker_catches_a_server_that_tells_nobody_of_the_end(serve: Serve) -> None:
    server = serve(command=mutant(TELLS_NOBODY_OF_THE_END))
    report = await MessageStorm([server], seed=8, messages=3).run(0)
    assert any("of the end of turn" in each for each in report.violations)


@pytest.mark.parametrize(
    ("damaged", "complaint"),
    [
        ("m", "m is stored 0 times"),
        ("m.delivered", "of the delivery of m the lead was not told"),
        ("m.stopped", "of the end of turn t the lead was told 0 times"),
        ("r.reminder", "reminder r came 0 times"),
    ],
)
def test_the_checker_catches_what_is_missing_and_what_is_doubled(
    damaged: str, complaint: str
) -> None:
    storm = MessageStorm([], seed=1, _sent={"m": "worker"}, _reminders={"r": "worker"})
    good = [_row("m"), _row("m.delivered"), _row("m.stopped"), _row("r.reminder")]
    assert _complaints(storm, good) == []
    assert complaint in _complaints(storm, [row for row in good if row["id"] != damaged])
    if not damaged.endswith("stopped"):
        assert _complaints(storm, [*good, _row(damaged)]) != []
    late = [{**row, "delivered_at": None} if row["id"] == "m" else row for row in good]
    assert _complaints(storm, late) == ["m was never delivered"]


def _row(input_id: str) -> Row:
    turn_id = "t" if input_id == "m" else f"of {input_id}"
    return {"id": input_id, "session_id": "worker", "turn_id": turn_id, "delivered_at": "noon"}


def _complaints(storm: MessageStorm, rows: list[Row]) -> list[str]:
    turns: dict[str, list[Row]] = {"t": []}
    for row in rows:
        turns.setdefault(row["turn_id"], []).append(row)
    if not any(row["id"] == "m" for row in rows):
        turns["t"] = []
    return list(storm._wrong(rows, turns))
