"""Navi's entries in the settings of each agent: putting them in, taking them out, checking them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from navi.base import paths
from navi.base.errors import NaviError
from navi.cli.navi import setup_files
from navi.cli.navi.setup_files import Change
from navi.cli.navi.setup_hooks import (
    hook_position,
    hooks_in,
    with_hooks,
    without_hooks,
    words_of,
)
from navi.cli.navi.setup_servers import Server, server_in, with_server, without_server
from navi.domain.agent_commands import HOOK_GUARD, MCP_GUARD, hook_command, mcp_command


@dataclass(frozen=True, slots=True)
class Agent:
    title: str
    driver: str
    program: str
    events: tuple[str, ...]
    """Not all of its events: each costs the agent a moment, and one that an older version does not
    know makes it ignore the whole file."""
    hooks_file: Path
    server_file: Path


def agents() -> dict[str, Agent]:
    """By the names that people type."""
    return {"claude-code": _claude_code(), "codex": _codex()}


def _claude_code() -> Agent:
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    folder = Path(named) if named else Path.home() / ".claude"
    return Agent(
        title="Claude Code",
        driver="claude_code",
        program="claude",
        events=(
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "Notification",
            "PreCompact",
            "Stop",
            "SessionEnd",
        ),
        hooks_file=folder / "settings.json",
        # It keeps its servers beside its folder, unless that was named.
        server_file=(folder if named else Path.home()) / ".claude.json",
    )


def _codex() -> Agent:
    named = os.environ.get("CODEX_HOME")
    folder = Path(named) if named else Path.home() / ".codex"
    return Agent(
        title="Codex",
        driver="codex",
        program="codex",
        events=("SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop"),
        hooks_file=folder / "hooks.json",
        server_file=folder / "config.toml",
    )


def installation(name: str) -> list[Change]:
    """What has to change for the agent to report to Navi, and to have its tools."""
    agent = agents()[name]
    changes = [
        with_hooks(agent.hooks_file, _hook(agent), agent.events),
        with_server(agent.server_file, _server()),
    ]
    return [change for change in changes if change.is_needed]


def removal(names: Sequence[str]) -> tuple[list[Change], list[NaviError]]:
    """The changes that remove Navi from these agents' settings, and what is wrong with files that
    can't be changed; they don't hold up the others."""
    changes, problems = [], []
    for path, is_hooks_file in _files(names).items():
        try:
            change = without_hooks(path) if is_hooks_file else without_server(path)
        except NaviError as problem:
            problems.append(problem)
            continue
        if change.is_needed:
            changes.append(change)
    return changes, problems


def _files(names: Sequence[str]) -> dict[Path, bool]:
    """The agents' settings files, and whether they hold hooks: those in use now, and those that
    were when Navi was set up."""
    chosen = [agent for name, agent in agents().items() if name in names]
    files = {agent.hooks_file.absolute(): True for agent in chosen}
    files |= {agent.server_file.absolute(): False for agent in chosen}
    kinds = {path.name: is_hooks_file for path, is_hooks_file in files.items()}
    for path in setup_files.changed_files():
        if path.name in kinds:
            files.setdefault(path, kinds[path.name])
    return files


def is_installed(agent: Agent) -> bool:
    return bool(hooks_in(agent.hooks_file)) or server_in(agent.server_file) is not None


def defects(agent: Agent) -> list[str]:
    """Why Navi's entries in the agent's settings do not work, or would do harm."""
    hooks, server = hooks_in(agent.hooks_file), server_in(agent.server_file)
    problems = []
    if missing := [event for event in agent.events if event not in hooks]:
        problems.append(f"Navi's hook is missing at {', '.join(missing)}")
    if server is None:
        problems.append("Navi's tools are missing")
    if not all(HOOK_GUARD in words_of(command) for command in hooks.values()):
        harm = f"they block {agent.title} once Navi is removed"
        problems.append(f"the hooks are from an earlier version: {harm}")
    if server is not None and MCP_GUARD not in server.command:
        problems.append("the tools are from an earlier version: they fail once Navi is removed")
    for place in _destinations(hooks.values(), server):
        is_address = "://" in place
        if not is_address and not Path(place).exists() and shutil.which(place) is None:
            problems.append(f"{place} is gone")
    return problems


def detours(agent: Agent) -> list[str]:
    """Where Navi's entries in the agent's settings lead, if that is not this Navi."""
    hooks, server = hooks_in(agent.hooks_file), server_in(agent.server_file)
    own = _destinations([_hook(agent)], _server())
    return [place for place in _destinations(hooks.values(), server) if place not in own]


def _destinations(hooks: Iterable[str], server: Server | None) -> list[str]:
    """The programs, the address and the home that these entries use."""
    destinations = []
    for command in hooks:
        words = words_of(command)
        start = hook_position(words) or 0
        python, _, _, script, _, address, token_file = words[start : start + 7]
        destinations += [python, script, address, str(Path(token_file).parent)]
    if server is not None:
        program = server.command[4] if MCP_GUARD in server.command else server.command[0]
        destinations += [program, *server.environment.values()]
    return list(dict.fromkeys(destinations))


def _hook(agent: Agent) -> str:
    return hook_command(agent.driver, _address())


def _server() -> Server:
    """With its home and server, because an agent has a different environment."""
    return Server(mcp_command(), {"NAVI_URL": _address(), "NAVI_HOME": str(paths.home())})


def _address() -> str:
    from navi.client import find_server

    return find_server().address
