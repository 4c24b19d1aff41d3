"""Servers are killed while automations come due: each occurrence is run once or counted."""

from __future__ import annotations

import pytest

from tests.acceptance.flows.automation_storm import SETTINGS, WITH_SHORT_BEATS, AutomationStorm
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.pair import start_pair
from tests.postgres import PostgresServer

pytestmark = pytest.mark.proof

KILLS = 4


async def test_no_run_is_lost_or_doubled_when_two_servers_are_killed_again_and_again(
    serve: Serve, postgres: PostgresServer
) -> None:
    pair = await start_pair(serve, postgres, settings=SETTINGS, command=WITH_SHORT_BEATS)

    report = await AutomationStorm(pair.servers, seed=4, sessions_per_kind=1).run(KILLS)

    assert report.violations == []
    assert report.kills == KILLS
    assert report.delivered


async def test_no_run_is_lost_or_doubled_when_the_only_server_is_killed_again_and_again(
    serve: Serve,
) -> None:
    server = serve(settings=SETTINGS, command=WITH_SHORT_BEATS)

    report = await AutomationStorm([server], seed=4, sessions_per_kind=1).run(KILLS)

    assert report.violations == []
    assert report.kills == KILLS
    assert report.delivered
