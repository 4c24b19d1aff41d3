"""The entry point of `sm`."""

from __future__ import annotations

import click

from navi import __version__
from navi.cli.command_group import CommandGroup

COMMANDS = {
    "status": ("navi.cli.sm.status", "Show all sessions."),
    "recall": ("navi.cli.sm.recall", "Wake a session later, or on a beat."),
    "automation": ("navi.cli.sm.automation", "Let sessions work on a schedule."),
    "completions": ("navi.cli.sm.completions", "Print a shell's completion script."),
}

group = CommandGroup(
    name="sm",
    commands_in=COMMANDS,
    help="Live sessions: see what they do, and wake them. Needs a running server: `navi serve`.",
    params=[],
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(__version__, "--version", prog_name="sm")(group)


def main() -> None:
    group.run()


if __name__ == "__main__":
    main()
