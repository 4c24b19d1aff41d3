"""The recordings in events/ match what the server sends today."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.contract.scenarios import EVENTS, SCENARIOS, outline, played
from tests.server import Client


@pytest.mark.parametrize("name", SCENARIOS)
async def test_the_recorded_events_are_those_that_a_server_sends(client: Client, name: str) -> None:
    kept = json.loads((EVENTS / f"{name}.json").read_text())
    now = await played(client, name)
    assert outline(now["events"]) == outline(kept["events"]), (
        "if this is wanted: python -m tests.acceptance.contract.scenarios"
    )
