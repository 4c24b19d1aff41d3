"""The `completions` command of each program."""

from __future__ import annotations

import click

from navi.cli import output


def completions_of(program: str) -> click.Command:
    """Prints the script that lets a shell complete `program`."""

    @click.command("completions", help="Print the completion script, for your shell to source.")
    @click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
    @click.pass_context
    def command(context: click.Context, shell: str) -> None:
        from click.shell_completion import get_completion_class

        kind = get_completion_class(shell)
        assert kind is not None
        group = context.find_root().command
        output.say(kind(group, {}, program, f"_{program.upper()}_COMPLETE").source())

    return command
