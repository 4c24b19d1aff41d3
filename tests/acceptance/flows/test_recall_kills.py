"""Servers are killed while recalls come due: each beat is run once or counted, none is lost."""

from __future__ import annotations

import pytest

from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.pair import start_pair
from tests.acceptance.flows.recall_storm import RecallStorm
from tests.postgres import PostgresServer

pytestmark = pytest.mark.proof

KILLS = 10


async def test_no_recall_is_lost_or_doubled_when_two_servers_are_killed_ten_times(
    serve: Serve, postgres: PostgresServer
) -> None:
    pair = await start_pair(serve, postgres)

    report = await RecallStorm(pair.servers, seed=10, sessions_per_kind=2).run(KILLS)

    assert report.violations == []
    assert report.kills == KILLS
    assert report.books.beats


async def test_no_recall_is_lost_or_doubled_when_the_only_server_is_killed_ten_times(
    serve: Serve,
) -> None:
    report = await RecallStorm([serve()], seed=10, sessions_per_kind=2).run(KILLS)

    assert report.violations == []
    assert report.kills == KILLS
    assert report.books.beats
