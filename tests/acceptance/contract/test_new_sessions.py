"""What a new session can have: its agent and its folder."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.contract.command_runs import navi, recall
from tests.acceptance.contract.person import Person
from tests.memory_world import World
from tests.server import Client, ServerProcess

AGENT_FIELDS = {"driver", "title", "installed", "reason", "default", "models", "takes_program"}


async def test_agents_are_listed_with_their_models_whether_installed_or_not(
    client: Client,
) -> None:
    agents = await client.call("GET", "/agents")
    assert all(set(agent) == AGENT_FIELDS for agent in agents)
    by_driver = {agent["driver"]: agent for agent in agents}
    assert list(by_driver) == ["builtin", "claude_code", "codex", "tmux", "scripted"]
    assert by_driver["builtin"]["models"] == ["scripted"]
    claude = by_driver["claude_code"]
    assert (claude["installed"], claude["reason"]) == (False, "not on the PATH")
    assert claude["title"] == "Claude Code"
    assert [agent["driver"] for agent in agents if agent["default"]] == ["builtin"]


async def test_folders_of_recent_sessions_come_latest_first_and_only_if_they_exist(
    client: Client, tmp_path: Path
) -> None:
    old, new, gone = (tmp_path / name for name in ("old", "new", "gone"))
    for folder in (new, gone, old):
        folder.mkdir()
        await client.session(cwd=str(folder))
    gone.rmdir()
    await client.session(cwd=str(new))
    folders = await client.call("GET", "/folders")
    assert folders[:2] == [str(new), str(old)]
    assert str(gone) not in folders
    assert await client.call("GET", "/folders?limit=1") == [str(new)]


async def test_only_admins_are_shown_the_folders_of_the_memory_and_of_other_users(
    tmp_path: Path,
) -> None:
    garden, shed = tmp_path / "garden", tmp_path / "shed"
    garden.mkdir()
    shed.mkdir()
    World(tmp_path).file("s1", "garden").say("water the roses")
    with ServerProcess(tmp_path, settings={"NAVI_MODEL": "scripted"}) as server:
        recall(server, "index")
        async with Client(server.address, navi(server, "user", "add", "ada"), 30) as ada:
            await ada.session(cwd=str(shed))
            assert await ada.call("GET", "/folders") == [str(shed)]
        async with Client(server.address, navi(server, "user", "add", "bob"), 30) as bob:
            assert await bob.call("GET", "/folders") == []
        async with server.client() as admin:
            assert await admin.call("GET", "/folders") == [str(shed), str(garden)]


async def test_a_machine_without_a_model_uses_the_agent_that_is_installed(tmp_path: Path) -> None:
    codex = tmp_path / "codex"
    codex.write_text("#!/bin/sh\n")
    codex.chmod(0o755)
    settings = {
        "NAVI_MODEL": "",
        "NAVI_CLAUDE_CODE_COMMAND": "not-installed",
        "NAVI_CODEX_COMMAND": str(codex),
    }
    with ServerProcess(tmp_path, settings=settings) as server:
        async with server.client() as client:
            created = await client.call("POST", "/sessions", expect=201)
            agents = await client.call("GET", "/agents")
            named = await client.call("POST", "/sessions", {"model": "scripted"}, expect=201)
        spawned = Person(server).sm("spawn")
    assert "started with codex; --driver chooses another agent" in spawned.stderr
    assert created["driver"] == "codex"
    assert [agent["driver"] for agent in agents if agent["default"]] == ["codex"]
    assert agents[0]["reason"] == "no model is set up"
    assert named["driver"] == "builtin"
