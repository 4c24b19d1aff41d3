"""`navi setup`: connect an agent to Navi."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from navi.base.errors import NaviError, UsageError
from navi.cli import output
from navi.client import lasting_address
from navi.vendors.agent_settings import plan_removal
from navi.vendors.registry import settings
from navi.vendors.settings_file import Change


@click.command("setup")
@click.argument("agent", type=click.Choice(list(settings())), required=False)
@click.option(
    "--remove", is_flag=True, help="Disconnect the agent, or all of them if none is named."
)
@click.option("--dry-run", is_flag=True, help="Show the changes without making them.")
def command(agent: str | None, remove: bool, dry_run: bool) -> None:
    """Connect an agent to Navi.

    Adds Navi's hooks and MCP server to the agent's own settings, and changes nothing else in
    them. Sessions that you then start in your terminal show up in `sm status`, and
    messages to them are delivered when the agent finishes its turn.
    """
    if remove:
        agents = settings().values() if agent is None else [settings()[agent]]
        changes, problems = plan_removal(agents)
    elif agent is None:
        raise UsageError(
            "no agent specified", hint=" or ".join(f"`navi setup {name}`" for name in settings())
        )
    else:
        changes, problems = settings()[agent].plan_installation(lasting_address()), []
    if not changes and not problems:
        output.note("nothing to change")
    if dry_run:
        for change in changes:
            output.diff(change.diff())
    else:
        problems += write_all(changes)
        if agent is not None and changes and not remove and not problems:
            output.note(settings()[agent].next_step)
    for problem in problems:
        output.complain(problem)
    sys.exit(1 if problems else 0)


def write_all(changes: Iterable[Change]) -> list[NaviError]:
    """Write every change that can be written, and return the problems with the others."""
    problems = []
    for change in changes:
        try:
            change.write()
        except NaviError as problem:
            problems.append(problem)
        else:
            output.say(f"{'removed' if change.after is None else 'changed'} {change.path}")
    return problems
