"""The server is killed at any moment, and nothing is lost and nothing happens twice."""

from __future__ import annotations

import pytest

from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.storm import Storm

pytestmark = pytest.mark.proof

KILLS = 20


async def test_no_input_is_lost_or_doubled_when_the_server_is_killed_twenty_times(
    serve: Serve, database_url: str | None
) -> None:
    server = serve(database_url)

    report = await Storm(server, seed=20).run(KILLS)

    assert report.violations == []
    assert report.kills == KILLS
    assert all(sent.is_confirmed for sent in report.sent)
