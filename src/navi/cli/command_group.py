"""A group of commands, each imported only when it runs, so that every command starts quickly."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from navi.base import file_modes
from navi.base.errors import NaviError, UsageError
from navi.cli import output

PROGRAMS = ("navi", "sm", "recall")


class SuggestingGroup(click.Group):
    """Suggests similar commands when a command is unknown."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, commands = args[0], self.list_commands(ctx)
        if name not in commands and not name.startswith("-") and not ctx.resilient_parsing:
            raise UsageError(
                f"{ctx.command_path} has no command {name!r}", hint=_hint(ctx, name, commands)
            )
        return super().resolve_command(ctx, args)


def _hint(ctx: click.Context, name: str, commands: Sequence[str]) -> str:
    from difflib import get_close_matches

    if ctx.parent is None and (program := _program_with(name)) is not None:
        return f"did you mean `{program} {name}`?"
    close = get_close_matches(name.lower(), commands, n=2)
    if not close:
        return f"{ctx.command_path} --help"
    return f"did you mean {' or '.join(f'`{each}`' for each in close)}?"


def _program_with(name: str) -> str | None:
    """Navi's program with this command, if any."""
    for program in PROGRAMS:
        if name in import_module(f"navi.cli.{program}.main").COMMANDS:
            return program
    return None


class CommandGroup(SuggestingGroup):
    """`commands_in` maps a command's name to the module that defines it, and to its help."""

    def __init__(self, *args: Any, commands_in: dict[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._commands_in = commands_in

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._commands_in)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._commands_in:
            return None
        command: click.Command = import_module(self._commands_in[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._commands_in.items()])

    def run(self) -> None:
        """Run the command line. Exit codes: 1 refused or failed, 2 wrong usage, 130 interrupted."""
        file_modes.make_files_private()
        try:
            sys.exit(self.main(prog_name=self.name, standalone_mode=False) or 0)
        except NaviError as error:
            output.fail(error)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(2)
        except click.ClickException as error:
            output.note(f"error: {error.format_message()}")
            if isinstance(error, click.UsageError) and error.ctx is not None:
                output.note(f"hint: {error.ctx.command_path} --help")
            sys.exit(2)
        except (KeyboardInterrupt, click.Abort):
            sys.exit(130)
