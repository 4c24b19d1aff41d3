"""Real Claude Code and real Codex, on a stand-in for the models, in a private home."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from navi.domain import places
from tests.clients.model_stand_in import ModelStandIn, running_stand_in
from tests.contract.conftest import finished
from tests.server import Client, ServerProcess

CLIENTS = Path(__file__).parents[2] / "build" / "clients" / "node_modules"
NATIVE = {
    "claude": "@anthropic-ai/claude-code-*/claude",
    "codex": "@openai/codex-*/vendor/*/bin/codex",
}
QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "IS_SANDBOX": "1",
}
API_KEY = "dummy"
DRIVERS = ("claude_code", "codex")
CODEX_CONFIG = """\
model = "stand-in"
model_provider = "stand-in"
[model_providers.stand-in]
name = "stand-in"
wire_api = "responses"
base_url = "{url}/v1"
env_key = "STAND_IN_KEY"
request_max_retries = 0
stream_max_retries = 0
[projects."{work}"]
trust_level = "trusted"
[tui]
show_tooltips = false
"""


def native(name: str) -> Path:
    found = next(CLIENTS.glob(NATIVE[name]), None)
    if found is None:
        pytest.skip(f"{name} is not installed: `make test` installs it with npm")
    return found


@pytest.fixture(scope="session")
def models() -> Iterator[ModelStandIn]:
    with running_stand_in() as stand_in:
        yield stand_in


@dataclass
class World:
    """A person's machine: home, folder, agents, and Navi's server."""

    home: Path
    work: Path
    models: ModelStandIn
    environment: dict[str, str]
    servers: list[ServerProcess] = field(default_factory=list)

    @property
    def server(self) -> ServerProcess:
        return self.servers[-1]

    def serve(self, **settings: str) -> ServerProcess:
        server = ServerProcess(self.home, settings={**self.environment, **settings})
        self.servers.append(server)
        return server

    def transcripts(self) -> list[Path]:
        """Of both agents, as they wrote them."""
        claude_code = self.home.glob(".claude/projects/*/*.jsonl")
        return [*claude_code, *self.home.glob(".codex/sessions/**/*.jsonl")]

    def tmux(self, *order: str) -> str:
        """On Navi's own socket, as a person would."""
        socket = places.tmux_socket({"NAVI_HOME": str(self.home / "navi")})
        done = subprocess.run(
            ["tmux", "-L", socket, "-f", os.devnull, *order],
            capture_output=True,
            text=True,
            env={**os.environ, "LANG": "C.UTF-8"},
            timeout=20,
            check=False,
        )
        return done.stdout

    def client(self) -> Client:
        return self.server.client()

    async def session(self, client: Client, driver: str, **fields: Any) -> str:
        return await client.session(driver=driver, cwd=str(self.work), **fields)

    async def turn(
        self, client: Client, session_id: str, text: str, turns: int = 1
    ) -> list[dict[str, Any]]:
        """Say it, and wait until so many turns of the session have ended; all their frames."""
        await client.say(session_id, text)
        return await finished(client, session_id, turns)


@pytest.fixture
def world(tmp_path: Path, models: ModelStandIn) -> Iterator[World]:
    home, work = tmp_path / "home", tmp_path / "work"
    for folder in (home, work, home / "bin", home / ".codex"):
        folder.mkdir(exist_ok=True)
    for name in NATIVE:
        (home / "bin" / name).symlink_to(native(name))
    _answer_first_questions(home, work)
    (home / ".codex" / "config.toml").write_text(CODEX_CONFIG.format(url=models.url, work=work))
    environment = {
        **QUIET,
        "PATH": f"{home / 'bin'}:{os.environ['PATH']}",
        "ANTHROPIC_BASE_URL": models.url,
        "ANTHROPIC_API_KEY": API_KEY,
        "STAND_IN_KEY": API_KEY,
        "NAVI_MODEL": "scripted",
        "NAVI_CLAUDE_CODE_ARGUMENTS": "--allowedTools=Bash",
        "NAVI_CODEX_ARGUMENTS": "--dangerously-bypass-approvals-and-sandbox",
    }
    world = World(home, work, models, environment)
    try:
        yield world
    finally:
        for server in world.servers:
            if server.process.poll() is None:
                server.kill()
        world.tmux("kill-server")


@pytest.fixture
async def client(world: World) -> AsyncIterator[Client]:
    world.serve()
    async with world.client() as client:
        yield client


def _answer_first_questions(home: Path, work: Path) -> None:
    """What Claude Code asks at its first start in a home and in a folder."""
    project = {
        "allowedTools": [],
        "hasTrustDialogAccepted": True,
        "hasCompletedProjectOnboarding": True,
    }
    answers = {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": "2.1.325",
        "theme": "dark",
        "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": {"approved": [API_KEY], "rejected": []},
        "projects": {str(work): project},
    }
    (home / ".claude.json").write_text(json.dumps(answers))


def frames_of(frames: list[dict[str, Any]], type_: str) -> list[dict[str, Any]]:
    return [frame for frame in frames if frame["type"] == type_]


def text_of(frames: list[dict[str, Any]]) -> str:
    return "".join(frame["delta"] for frame in frames_of(frames, "stream_delta"))


def outcomes(frames: list[dict[str, Any]]) -> list[str]:
    """How the turns ended; an error in its words."""
    ends = frames_of(frames, "stream_end")
    return [end["error"] if end["outcome"] == "error" else end["outcome"] for end in ends]
