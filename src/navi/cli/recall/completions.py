"""`recall completions`: a shell's completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from navi.cli import output


@click.command("completions", help="Print the completion script, for your shell to source.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    from navi.cli.recall.group import group

    kind = get_completion_class(shell)
    assert kind is not None
    output.say(kind(group, {}, "recall", "_RECALL_COMPLETE").source())
