"""The entry point of `navi`."""

from __future__ import annotations

import os
import sys

import click

from navi import __version__
from navi.base.errors import UsageError
from navi.cli.command_group import CommandGroup

COMMANDS = {
    "serve": ("navi.cli.navi.commands.serve", "Run the server."),
    "login": ("navi.cli.navi.commands.login", "Print a link that logs a browser in."),
    "logout": ("navi.cli.navi.commands.logout", "Log out a user's browsers."),
    "service": ("navi.cli.navi.commands.service", "Keep the server running in the background."),
    "upgrade": ("navi.cli.navi.commands.upgrade", "Print or run the command that upgrades Navi."),
    "doctor": ("navi.cli.navi.commands.doctor", "Check the installation and suggest fixes."),
    "setup": ("navi.cli.navi.commands.setup", "Connect Claude Code or Codex to Navi."),
    "uninstall": (
        "navi.cli.navi.commands.uninstall",
        "Disconnect your agents, and optionally delete Navi's data.",
    ),
    "notify": ("navi.cli.navi.commands.notify", "Test the channels on which Navi notifies you."),
    "mcp": ("navi.cli.navi.commands.mcp", "Serve Navi's tools to an agent over MCP."),
    "user": ("navi.cli.navi.commands.user", "Add, list and remove users."),
    "token": ("navi.cli.navi.commands.token", "Replace the server's token."),
    "when": ("navi.cli.navi.commands.when", "Show how Navi interprets a time."),
    "import-jobs": (
        "navi.cli.navi.commands.import_jobs",
        "Import automations from a jobs.json file.",
    ),
    "completions": ("navi.cli.navi.commands.completions", "Print a shell's completion script."),
}


def run_without_command(port: int | None, no_open: bool, yes: bool, no_setup: bool) -> None:
    context = click.get_current_context()
    options = (port is not None, no_open, yes, no_setup)
    if context.invoked_subcommand is not None:
        if any(options):
            command = f"navi {context.invoked_subcommand}"
            raise UsageError(
                f"the options before the command are for `navi` alone, not for `{command}`",
                hint=f"put the command's own options after it: {command} --help",
            )
        return
    if not any(options) and not _is_person_at_terminal():
        raise click.exceptions.NoArgsIsHelpError(context)
    if yes and no_setup:
        raise UsageError("--yes and --no-setup contradict each other", hint="use one of them")
    from navi.cli.navi import first_run

    setup = first_run.Setup.YES if yes else first_run.Setup.NO if no_setup else first_run.Setup.ASK
    first_run.run(port, no_open=no_open, setup=setup)


def _is_person_at_terminal() -> bool:
    """Whether a person runs this command, rather than a program or an agent."""
    return sys.stdin.isatty() and sys.stdout.isatty() and "NAVI_SESSION_ID" not in os.environ


group = CommandGroup(
    name="navi",
    commands_in=COMMANDS,
    callback=run_without_command,
    invoke_without_command=True,
    no_args_is_help=False,
    help="Run and set up Navi, a memory and a clock for AI agents.\n\nIn a terminal, `navi` "
    "without a command finds your agents' sessions, offers to connect the agents, starts the "
    "server and opens its page. If the server is running already, it only opens the page.",
    params=[
        click.Option(
            ["--port"],
            type=click.IntRange(0, 65535),
            help="Port to listen on.  [default: 8420, or the next one that is free]",
        ),
        click.Option(["--no-open"], is_flag=True, help="Don't open a browser."),
        click.Option(["-y", "--yes"], is_flag=True, help="Connect your agents without asking."),
        click.Option(["--no-setup"], is_flag=True, help="Don't offer to connect your agents."),
    ],
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(__version__, "--version", prog_name="navi")(group)


def main() -> None:
    group.run()


if __name__ == "__main__":
    main()
