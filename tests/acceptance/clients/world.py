"""A person's machine with real agents on it: home, folder, Claude Code, Codex, Navi's server."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from navi.base import paths
from tests.acceptance.clients.model_stand_in import ModelStandIn
from tests.acceptance.contract.conftest import finished
from tests.paths import ROOT
from tests.server import NAVI, Client, ServerProcess

CLIENTS = ROOT / "build" / "clients" / "node_modules"
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
TOOL = {"claude_code": "mcp__navi__{}", "codex": "{}"}
"""What an agent's model calls Navi's tools. Claude Code lists them only when its model asks, but
accepts a call at any time."""
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


class NotInstalled(Exception):
    pass


def native(name: str) -> Path:
    binary = next(CLIENTS.glob(NATIVE[name]), None)
    if binary is None:
        raise NotInstalled(f"{name} is not installed: `make test` installs it with npm")
    return binary


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

    def serve(self, *, database_url: str | None = None, **settings: str) -> ServerProcess:
        settings = {**self.environment, **settings}
        server = ServerProcess(self.home, database_url=database_url, settings=settings)
        self.servers.append(server)
        return server

    def transcripts(self) -> list[Path]:
        """The transcripts of both agents."""
        claude_code = self.home.glob(".claude/projects/*/*.jsonl")
        return [*claude_code, *self.home.glob(".codex/sessions/**/*.jsonl")]

    @property
    def _socket(self) -> str:
        return paths.tmux_socket({"NAVI_HOME": str(self.home / "navi")})

    def tmux(self, *order: str) -> str:
        """On Navi's own socket, as a person would."""
        done = subprocess.run(
            ["tmux", "-L", self._socket, "-f", os.devnull, *order],
            capture_output=True,
            text=True,
            env={**os.environ, "LANG": "C.UTF-8"},
            timeout=20,
            check=False,
        )
        return done.stdout

    def set_up(self, driver: str, *options: str, command: Sequence[str] = NAVI) -> None:
        """Navi's hooks and tools, in the agent's own settings."""
        environment = {
            **os.environ,
            **self.environment,
            "HOME": str(self.home),
            "NAVI_URL": self.server.address,
            "NAVI_HOME": str(self.home / "navi"),
        }
        order = [*command, "setup", driver.replace("_", "-"), *options]
        subprocess.run(order, env=environment, check=True, capture_output=True, timeout=60)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A person's own command, in the working folder."""
        home = {"HOME": str(self.home), "NAVI_HOME": str(self.home / "navi")}
        return subprocess.run(
            command,
            env={**os.environ, **self.environment, **home},
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def screens(self) -> str:
        """What the panes show."""
        panes = self.tmux("list-panes", "-a", "-F", "#{pane_id}").split()
        return "".join(self.tmux("capture-pane", "-p", "-t", pane) for pane in panes)

    def client(self) -> Client:
        return self.server.client()

    async def session(self, client: Client, driver: str, **fields: Any) -> str:
        return await client.session(driver=driver, cwd=str(self.work), **fields)

    async def turn(
        self, client: Client, session_id: str, text: str, turns: int = 1
    ) -> list[dict[str, Any]]:
        """Send a message, wait until that many turns have ended, and return all their frames."""
        await client.say(session_id, text)
        return await finished(client, session_id, turns)

    def leave(self) -> None:
        """Stop everything that was started here."""
        for server in self.servers:
            if server.process.poll() is None:
                server.kill()
        self.tmux("kill-server")
        # Agents outlive the server and would write into a home that is being removed.
        while agents := [each for each in psutil.process_iter() if self.owns(each)]:
            for agent in agents:
                with suppress(psutil.NoSuchProcess):
                    agent.kill()
            psutil.wait_procs(agents)
        # tmux leaves its socket's file behind.
        folder = Path(os.environ.get("TMUX_TMPDIR", "/tmp")) / f"tmux-{os.getuid()}"
        (folder / self._socket).unlink(missing_ok=True)

    def owns(self, process: psutil.Process) -> bool:
        """Whether the process was started here."""
        try:
            return process.environ().get("HOME") == str(self.home)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            return False


def make_world(folder: Path, models: ModelStandIn) -> World:
    home, work = folder / "home", folder / "work"
    for each in (home, work, home / "bin", home / ".codex"):
        each.mkdir(parents=True, exist_ok=True)
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
        "NAVI_AGENTS_PASS_ENVIRONMENT": "STAND_IN_KEY",
        "NAVI_MODEL": "scripted",
        "NAVI_CLAUDE_CODE_ARGUMENTS": "--allowedTools=Bash",
        "NAVI_CODEX_ARGUMENTS": "--dangerously-bypass-approvals-and-sandbox",
    }
    return World(home, work, models, environment)


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
