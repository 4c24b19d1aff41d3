"""The `completions` command of each program."""

from __future__ import annotations

import click

from navi.cli import output

ZSH_HEAD = "#compdef {program}\n"
ZSH_START = """
# Define compdef in case .zshrc has not run compinit yet.
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
"""


def completions_of(program: str) -> click.Command:
    """The command that prints the shell completion script of `program`."""

    @click.command(
        "completions",
        help="Print the completion script for your shell.",
        epilog="\b\nAdd one of these lines to your shell's startup file:\n"
        f'  bash  eval "$({program} completions bash)"     in ~/.bashrc\n'
        f'  zsh   eval "$({program} completions zsh)"      in ~/.zshrc\n'
        f"  fish  {program} completions fish | source      in ~/.config/fish/config.fish",
    )
    @click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
    @click.pass_context
    def command(context: click.Context, shell: str) -> None:
        from click.shell_completion import get_completion_class

        completion = get_completion_class(shell)
        assert completion is not None
        group = context.find_root().command
        script = completion(group, {}, program, f"_{program.upper()}_COMPLETE").source()
        if shell == "zsh":
            head = ZSH_HEAD.format(program=program)
            script = script.replace(head, head + ZSH_START, 1)
        output.say(script)

    return command
