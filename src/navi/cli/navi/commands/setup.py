"""`navi setup`: make an agent's own sessions known to Navi, and Navi's tools known to the agent."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from navi.base.errors import NaviError, UsageError
from navi.cli import output
from navi.cli.navi import agent_settings
from navi.cli.navi.setup_files import Change

AGENTS = ("claude-code", "codex")
NEXT_STEPS = {
    "claude-code": "sessions of Claude Code that you start from now on show up in `sm status`",
    "codex": "Codex asks you to trust the hooks: start `codex`, type /hooks and trust Navi's",
}


@click.command("setup")
@click.argument("agent", type=click.Choice(AGENTS), required=False)
@click.option("--remove", is_flag=True, help="Remove it again; from all agents if none is named.")
@click.option("--dry-run", is_flag=True, help="Only show what would be changed.")
def command(agent: str | None, remove: bool, dry_run: bool) -> None:
    """Install Navi's hooks and tools in an agent's own settings; everything else in them stays.

    Sessions that you start in your own terminal then show up in Navi, with their state; what is
    sent to them is delivered when they stop next.
    """
    if remove:
        changes, problems = agent_settings.removal([agent] if agent else AGENTS)
    elif agent is None:
        raise UsageError(
            "which agent?", hint=" or ".join(f"`navi setup {each}`" for each in AGENTS)
        )
    else:
        changes, problems = agent_settings.installation(agent), []
    if not changes and not problems:
        output.note("nothing to change")
    if dry_run:
        for change in changes:
            output.say(change.difference())
    else:
        problems += write_all(changes)
        if agent is not None and changes and not remove and not problems:
            output.note(NEXT_STEPS[agent])
    for problem in problems:
        output.complain(problem)
    sys.exit(1 if problems else 0)


def write_all(changes: Iterable[Change]) -> list[NaviError]:
    """Returns why some changes could not be made; the others are."""
    problems = []
    for change in changes:
        try:
            change.write()
        except NaviError as problem:
            problems.append(problem)
        else:
            output.say(f"{'removed' if change.after is None else 'changed'} {change.path}")
    return problems
