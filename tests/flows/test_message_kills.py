"""Servers are killed while agents write to each other: everything arrives, and once."""

from __future__ import annotations

import pytest

from tests.flows.conftest import Serve
from tests.flows.message_storm import MessageStorm
from tests.flows.test_two_servers import start_pair
from tests.postgres import PostgresServer

KILLS = 6


@pytest.mark.timeout(300)
async def test_no_message_notice_or_reminder_is_lost_or_doubled_when_the_server_is_killed(
    serve: Serve,
) -> None:
    report = await MessageStorm([serve()], seed=6).run(KILLS)
    assert report.violations == []
    assert report.kills == KILLS
    assert report.joined
    assert report.reminders


@pytest.mark.timeout(300)
async def test_no_message_notice_or_reminder_is_lost_or_doubled_when_two_servers_are_killed(
    serve: Serve, postgres: PostgresServer
) -> None:
    pair = await start_pair(serve, postgres)
    report = await MessageStorm(pair.servers, seed=7).run(KILLS)
    assert report.violations == []
    assert report.kills == KILLS
    assert report.joined
    assert report.reminders
