"""A machine without a model and without another agent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.acceptance.contract.conftest import finished
from tests.memory_world import World
from tests.server import ServerProcess

NOTHING = {
    "NAVI_MODEL": "",
    "NAVI_CLAUDE_CODE_COMMAND": "not-installed",
    "NAVI_CODEX_COMMAND": "not-installed",
}


async def test_the_first_message_is_answered_with_the_ways_to_set_up_a_model(
    tmp_path: Path,
) -> None:
    with ServerProcess(tmp_path / "home", settings=NOTHING) as server:
        assert "no model is set up" in server.log()
        async with server.client() as client:
            assert (await client.call("GET", "/health"))["has_model"] is False
            session = await client.session(driver="builtin")
            await client.say(session, "hello")
            [end] = [
                frame for frame in await finished(client, session) if frame["type"] == "stream_end"
            ]
            assert end["outcome"] == "error"
            assert "no model is set up" in end["error"]
            assert "ANTHROPIC_API_KEY" in end["error"]
            assert "install Claude Code or Codex" in end["error"]


def test_a_summary_of_a_digest_says_how_to_set_up_a_model(tmp_path: Path) -> None:
    home = tmp_path / "home"
    World(home).file().say("fix the cart")
    with ServerProcess(home, settings=NOTHING) as server:
        command = [sys.executable, "-m", "navi.cli.recall.main", "digest", "--since", "2026-02-01"]
        done = subprocess.run(
            [*command, "--summarize"], env=server.environment, capture_output=True, text=True
        )
    assert done.returncode == 1
    assert "error: no model is set up\nhint: set ANTHROPIC_API_KEY" in done.stderr
    assert "install Claude Code" not in done.stderr
    assert "fix the cart" in done.stdout
