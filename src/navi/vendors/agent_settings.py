"""Navi's hooks and MCP server in an agent's own settings: install, remove and check them."""

from __future__ import annotations

import hashlib
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from navi.base import paths
from navi.base.errors import NaviError
from navi.vendors import hook_entries, json_edit
from navi.vendors.agent_commands import HOOK_WRAPPER, MCP_WRAPPER, hook_command, mcp_command
from navi.vendors.installed_version import Version, installed_version, known_events, version_text
from navi.vendors.settings_file import (
    Change,
    Edit,
    Receipt,
    UnusableSettings,
    plan_replacement,
    plan_undo,
    read_as,
    read_receipts,
)


@dataclass(frozen=True, slots=True)
class McpServer:
    """A program that offers tools to the agent."""

    command: Sequence[str]
    environment: Mapping[str, str]

    @classmethod
    def find_navi(cls, servers: Any) -> McpServer | None:
        """Navi's entry among an agent's servers; None if it is missing or has no command."""
        entry = servers.get("navi") if isinstance(servers, dict) else None
        if not isinstance(entry, dict) or "command" not in entry:
            return None
        command = [entry["command"], *(entry.get("args") or [])]
        environment = entry.get("env") or {}
        return cls([*map(str, command)], {name: str(environment[name]) for name in environment})


def navi_server(address: str | None, environment: Mapping[str, str] = os.environ) -> McpServer:
    """The entry for Navi's tools. Its program finds the running server by `NAVI_HOME` or, if
    `NAVI_URL` is set, by `address`."""
    # The agent may start it without Navi's variables in the environment.
    variables = {"NAVI_HOME": str(paths.home(environment))}
    if address is not None and environment.get("NAVI_URL"):
        variables["NAVI_URL"] = address
    return McpServer(mcp_command(), variables)


class AgentSettings(ABC):
    """The settings files of one agent. Subclasses define where they are and how to add a server."""

    title: ClassVar[str]
    driver: ClassVar[str]
    program: ClassVar[str]
    hook_events: ClassVar[Sequence[str]]
    """The events to which Navi adds its hook."""
    hooks_since: ClassVar[Mapping[str, Version]] = {}
    """For events that older versions don't support: the first version that gets the hook."""
    hook_timeouts: ClassVar[Mapping[str, int]] = {}
    """Timeouts in seconds, for events that need a longer one than the default."""
    next_step: ClassVar[str]
    """What to do or expect after setup; shown to the person."""

    def __init__(self, hooks_file: Path, server_file: Path) -> None:
        self.hooks_file = hooks_file.absolute()
        self.server_file = server_file.absolute()

    @abstractmethod
    def add_server(self, text: str, server: McpServer) -> str:
        """The text of `server_file` with Navi's server added or replaced."""

    @abstractmethod
    def remove_server(self, text: str) -> str: ...

    @abstractmethod
    def find_server(self, text: str) -> McpServer | None: ...

    def known_hook_events(self) -> Sequence[str]:
        """The `hook_events` that the installed version supports. Runs the program."""
        return known_events(self.hook_events, self.hooks_since, installed_version(self.program))

    def _unknown_hooks(self, events: Iterable[str]) -> str | None:
        """Names the hooks that would break the installed version; None if there are none."""
        version = installed_version(self.program)
        usable = known_events(events, self.hooks_since, version)
        unknown = [each for each in events if each not in usable]
        if version is None or not unknown:
            return None
        names = ", ".join(unknown)
        return f"{self.title} {version_text(version)} is too old for Navi's hook for {names}"

    def remove_hooks(self, text: str) -> str:
        return json_edit.edit(text, hook_entries.remove_hooks)

    def plan_installation(self, address: str | None) -> list[Change]:
        """The changes that make the agent report to Navi and use its tools.

        Without an address, hooks and tools find only a server that has written its address to
        Navi's home.
        """
        hook, server = hook_command(self.driver, address), navi_server(address)
        events = self.known_hook_events()

        def add_hooks(text: str) -> str:
            return json_edit.edit(
                text,
                lambda settings: hook_entries.add_hooks(settings, hook, events, self.hook_timeouts),
            )

        def add_server(text: str) -> str:
            return self.add_server(text, server)

        hooks_file, server_file = self.hooks_file, self.server_file
        changes = [
            plan_replacement(hooks_file, add_hooks, self.remove_hooks, *_receipts_for(hooks_file)),
            plan_replacement(
                server_file, add_server, self.remove_server, *_receipts_for(server_file)
            ),
        ]
        return [change for change in changes if change.is_needed]

    def is_installed(self) -> bool:
        hooks, server = self._entries()
        return bool(hooks) or server is not None

    def defects(self) -> list[str]:
        """The reasons why Navi's entries don't work or would do harm."""
        hooks, server = self._entries()
        problems = []
        if missing := [event for event in self.known_hook_events() if event not in hooks]:
            problems.append(f"Navi's hook is missing for {', '.join(missing)}")
        if (harm := self._unknown_hooks(hooks)) is not None:
            problems.append(harm)
        if server is None:
            problems.append("Navi's tools are missing")
        if not all(HOOK_WRAPPER in hook_entries.split_words(line) for line in hooks.values()):
            harm = f"they block {self.title} once Navi is removed"
            problems.append(f"the hooks are from an earlier version: {harm}")
        if server is not None and MCP_WRAPPER not in server.command:
            problems.append("the tools are from an earlier version: they fail once Navi is removed")
        for target in _targets(hooks.values(), server):
            is_address = "://" in target
            if not is_address and not Path(target).exists() and shutil.which(target) is None:
                problems.append(f"{target} is gone")
        return problems

    def foreign_targets(self, address: str | None, served_address: str) -> list[str]:
        """Programs, addresses and homes in Navi's entries that belong to another installation.

        `address` is the one that `plan_installation` would write; `served_address` is where Navi's
        server listens now. Only the entry for the tools may contain the latter, because hooks find
        it in Navi's home.
        """
        hooks, server = self._entries()
        own_hooks = _targets([hook_command(self.driver, address)], None)
        own_server = [*_targets([], navi_server(address)), served_address]
        foreign = [each for each in _targets(hooks.values(), None) if each not in own_hooks]
        foreign += [each for each in _targets([], server) if each not in own_server]
        return list(dict.fromkeys(foreign))

    def _entries(self) -> tuple[dict[str, str], McpServer | None]:
        """Navi's hooks by event, and its server."""
        settings = read_as(self.hooks_file, json_edit.parse)
        return hook_entries.find_hooks(settings), read_as(self.server_file, self.find_server)


def plan_removal(agents: Iterable[AgentSettings]) -> tuple[list[Change], list[NaviError]]:
    """The changes that remove Navi from these agents' settings, and an error for each file that
    can't be changed."""
    changes, problems = [], []
    for agent in agents:
        for path, remove in _removals(agent).items():
            try:
                change = plan_undo(path, remove, *_receipts_for(path))
            except NaviError as problem:
                problems.append(problem)
            else:
                changes += [change] if change.is_needed else []
    return changes, problems


def _removals(agent: AgentSettings) -> dict[Path, Edit]:
    """The edits that remove Navi from the agent's files.

    Includes the files that earlier setups changed: CODEX_HOME, for example, may be different now.
    """
    removals: dict[Path, Edit] = {
        agent.hooks_file: agent.remove_hooks,
        agent.server_file: agent.remove_server,
    }
    edit_by_file_name = {path.name: edit for path, edit in removals.items()}
    for file in sorted(receipts_folder().glob("*.json")):
        for path in (Path(receipt.path) for receipt in _receipts(file)):
            if path.name in edit_by_file_name:
                removals[path] = edit_by_file_name[path.name]
    return removals


def receipts_folder() -> Path:
    """The folder with the original text of the agents' settings that Navi has changed."""
    return paths.home() / "setup"


def _receipts_for(path: Path) -> tuple[Path, list[Receipt]]:
    name = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    file = receipts_folder() / f"{name}.json"
    return file, _receipts(file)


def _receipts(file: Path) -> list[Receipt]:
    # Ignore unreadable receipts: Navi's entries can be removed without them.
    with suppress(UnusableSettings):
        return read_receipts(file)
    return []


def _targets(hooks: Iterable[str], server: McpServer | None) -> list[str]:
    """The programs, addresses and homes that these entries use."""
    targets = []
    for line in hooks:
        if command := hook_entries.find_hook_command(line):
            home = str(Path(command.token_file).parent)
            targets += [command.python, command.script, command.address, home]
    if server is not None:
        program, *arguments = server.command
        if MCP_WRAPPER in arguments:
            # As `mcp_command` builds it: sh -c WRAPPER NAME PROGRAM ...
            _option, _wrapper, _name, program, *_ = arguments
        targets += [program, *server.environment.values()]
    return [each for each in dict.fromkeys(targets) if each]  # a hook may have no address
