"""The entry point of `navi`."""

from __future__ import annotations

import click

from navi import __version__
from navi.cli.command_group import CommandGroup

COMMANDS = {
    "serve": ("navi.cli.navi.commands.serve", "Run the server."),
    "login": ("navi.cli.navi.commands.login", "Print a link that logs a browser in."),
    "logout": ("navi.cli.navi.commands.logout", "Log a user's browsers out."),
    "doctor": ("navi.cli.navi.commands.doctor", "Check the installation and say what to do."),
    "setup": ("navi.cli.navi.commands.setup", "Connect an agent to Navi."),
    "uninstall": ("navi.cli.navi.commands.uninstall", "Disconnect your agents from Navi."),
    "mcp": ("navi.cli.navi.commands.mcp", "Offer Navi's tools to an agent."),
    "user": ("navi.cli.navi.commands.user", "Add, list and remove users."),
    "token": ("navi.cli.navi.commands.token", "Replace the server's own token."),
    "when": ("navi.cli.navi.commands.when", "Say how a time would be read."),
    "import-jobs": (
        "navi.cli.navi.commands.import_jobs",
        "Take over automations from a jobs.json.",
    ),
    "completions": ("navi.cli.navi.commands.completions", "Print a shell's completion script."),
}

group = CommandGroup(
    name="navi",
    commands_in=COMMANDS,
    help="A memory and a clock for AI agents: the server and its set-up.",
    params=[],
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(__version__, "--version", prog_name="navi")(group)


def main() -> None:
    group.run()


if __name__ == "__main__":
    main()
