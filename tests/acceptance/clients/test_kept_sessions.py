"""A session that its agent deleted is restored, and the agent itself continues it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.acceptance.clients.conftest import DRIVERS, World

pytestmark = pytest.mark.proof

BEGIN = {
    "claude_code": ["claude", "-p"],
    "codex": ["codex", "exec", "--skip-git-repo-check"],
}
RESUME = {
    "claude_code": ["claude", "-p", "--resume", "{id}"],
    "codex": ["codex", "exec", "--skip-git-repo-check", "resume", "{id}"],
}


def recall(world: World, *arguments: str) -> str:
    done = world.run(sys.executable, "-m", "navi.cli.recall.main", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def resume(world: World, driver: str, id: str, text: str) -> subprocess.CompletedProcess[str]:
    return world.run(*(word.format(id=id) for word in RESUME[driver]), text)


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_deleted_session_is_restored_and_resumed_by_its_agent(world: World, driver: str) -> None:
    begun = world.run(*BEGIN[driver], "[[say: the quokka smiles]]")
    assert begun.returncode == 0, begun.stderr
    [transcript] = world.transcripts()
    recall(world, "index")
    [session] = json.loads(recall(world, "list", "--json"))
    recall(world, "keep", session["id"])
    text = transcript.read_bytes()
    transcript.unlink()
    id = session["source_session_id"]
    assert resume(world, driver, id, "[[say: hello]]").returncode != 0
    [gone] = json.loads(recall(world, "list", "--json"))
    assert gone["is_archived"]

    recall(world, "restore", session["id"])

    assert transcript.read_bytes() == text
    resumed = resume(world, driver, id, "[[say: the quokka waves]]")
    assert resumed.returncode == 0, resumed.stderr
    assert "the quokka waves" in resumed.stdout
    continued = transcript.read_text()
    assert "the quokka smiles" in continued
    assert "the quokka waves" in continued
    assert world.transcripts() == [transcript]
