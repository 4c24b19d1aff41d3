"""The server answers any request and keeps users apart.

The long version is `python -m benchmarks.fuzz`.
"""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.flows.fuzz import SETTINGS, Fuzz
from tests.server import ServerProcess

REQUESTS = 400


async def test_no_request_makes_the_server_fail(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "server", settings=SETTINGS) as server:
        report = await Fuzz(server, seed=1).run(REQUESTS)

    assert report.failures == []
    assert report.count == REQUESTS
    # Enough requests are accepted to reach the code behind validation.
    assert report.statuses["200"] > REQUESTS / 10
    assert report.statuses["422"] > REQUESTS / 20
