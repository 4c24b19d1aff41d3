"""The entry point of `recall`."""

from __future__ import annotations

import click

from navi import __version__
from navi.cli.command_group import CommandGroup

COMMANDS = {
    "index": ("navi.cli.recall.commands.index", "Index what is new in your agents' files."),
    "search": ("navi.cli.recall.commands.search", "Search what agents said, thought and ran."),
    "list": ("navi.cli.recall.commands.list", "List sessions, newest first."),
    "show": ("navi.cli.recall.commands.show", "Show a session's conversation."),
    "stats": ("navi.cli.recall.commands.stats", "Count sessions, tools, commands and tokens."),
    "resume": ("navi.cli.recall.commands.resume", "Resume a session in its own agent."),
    "export": ("navi.cli.recall.commands.export", "Export a session as Markdown or HTML."),
    "tag": ("navi.cli.recall.commands.tag", "Add tags to a session, or show them."),
    "untag": ("navi.cli.recall.commands.untag", "Remove tags from a session."),
    "watch": ("navi.cli.recall.commands.watch", "Keep the index up to date while agents work."),
    "doctor": ("navi.cli.recall.commands.doctor", "Check the index and suggest fixes."),
    "completions": ("navi.cli.recall.commands.completions", "Print a shell's completion script."),
}

group = CommandGroup(
    name="recall",
    commands_in=COMMANDS,
    help="Search everything your agents have ever done.",
    params=[],
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(__version__, "--version", prog_name="recall")(group)


def main() -> None:
    group.run()


if __name__ == "__main__":
    main()
