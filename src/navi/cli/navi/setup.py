"""`navi setup`: make an agent's own sessions known to Navi, and Navi's tools known to the agent."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from navi.cli import output
from navi.cli.navi import setup_files

# Not all that there are: each takes a moment of the agent's time, and one that an older version
# does not know makes it ignore the whole file.
CLAUDE_CODE_EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "Notification",
    "PreCompact",
    "Stop",
    "SessionEnd",
)
CODEX_EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop")


@click.command("setup")
@click.argument("agent", type=click.Choice(["claude-code", "codex"]))
@click.option("--remove", is_flag=True, help="Take it away again.")
@click.option("--dry-run", is_flag=True, help="Only show what would be changed.")
def command(agent: str, remove: bool, dry_run: bool) -> None:
    """Install Navi's hooks and tools in an agent's own settings; all else in them stays.

    Sessions that you start in your own terminal then show up in Navi, with their state; what is
    sent to them is delivered when they stop next.
    """
    changes = _claude_code(remove) if agent == "claude-code" else _codex(remove)
    changes = [change for change in changes if change.before != change.after]
    if not changes:
        output.note("nothing to change")
        return
    for change in changes:
        if dry_run:
            output.say(change.difference())
        else:
            change.write()
            output.say(f"changed {change.path}")
    if not dry_run and not remove:
        output.note(_next_step(agent))


def _claude_code(remove: bool) -> list[setup_files.Change]:
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    home = Path(named) if named else Path.home() / ".claude"
    # Where it keeps the servers: beside its folder, unless that was named.
    servers = (home if named else Path.home()) / ".claude.json"
    return [
        setup_files.hooks(
            home / "settings.json", _hook("claude_code"), CLAUDE_CODE_EVENTS, remove=remove
        ),
        setup_files.json_server(servers, _server(), remove=remove),
    ]


def _codex(remove: bool) -> list[setup_files.Change]:
    named = os.environ.get("CODEX_HOME")
    home = Path(named) if named else Path.home() / ".codex"
    return [
        setup_files.hooks(home / "hooks.json", _hook("codex"), CODEX_EVENTS, remove=remove),
        setup_files.toml_server(home / "config.toml", _server(), remove=remove),
    ]


def _hook(driver: str) -> str:
    from navi.client import find_server
    from navi.domain import places

    return places.hook_command(driver, find_server().address)


def _server() -> setup_files.Server:
    """Named by its path, and told where the server is: an agent has another environment."""
    from navi.client import find_server
    from navi.domain import places

    where = {"NAVI_URL": find_server().address, "NAVI_HOME": str(places.home())}
    return setup_files.Server(sys.executable, ["-m", "navi.cli.navi.main", "mcp"], where)


def _next_step(agent: str) -> str:
    if agent == "codex":
        return "Codex asks you to trust the hooks: start `codex`, type /hooks and trust Navi's"
    return "sessions of Claude Code that you start from now on show up in `sm status`"
