"""The entry point of `navi`."""

from __future__ import annotations

import click

from navi import __version__
from navi.cli.command_group import CommandGroup

COMMANDS = {
    "serve": ("navi.cli.navi.commands.serve", "Run the server."),
    "login": ("navi.cli.navi.commands.login", "Print a link that logs a browser in."),
    "logout": ("navi.cli.navi.commands.logout", "Log out a user's browsers."),
    "doctor": ("navi.cli.navi.commands.doctor", "Check the installation and suggest fixes."),
    "setup": ("navi.cli.navi.commands.setup", "Connect Claude Code or Codex to Navi."),
    "uninstall": ("navi.cli.navi.commands.uninstall", "Remove Navi from your agents' settings."),
    "mcp": ("navi.cli.navi.commands.mcp", "Serve Navi's tools to an agent over MCP."),
    "user": ("navi.cli.navi.commands.user", "Add, list and remove users."),
    "token": ("navi.cli.navi.commands.token", "Replace the server's token."),
    "when": ("navi.cli.navi.commands.when", "Show how Navi reads a time."),
    "import-jobs": (
        "navi.cli.navi.commands.import_jobs",
        "Import automations from a jobs.json file.",
    ),
    "completions": ("navi.cli.navi.commands.completions", "Print a shell's completion script."),
}

group = CommandGroup(
    name="navi",
    commands_in=COMMANDS,
    help="A memory and a clock for AI agents: the server and its setup.",
    params=[],
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(__version__, "--version", prog_name="navi")(group)


def main() -> None:
    group.run()


if __name__ == "__main__":
    main()
