"""The entry point of `recall`."""

from __future__ import annotations

import click

from navi import __version__
from navi.cli.command_group import CommandGroup
from navi.cli.recall.picker.terminal import is_for_person

COMMANDS = {
    "pick": ("navi.cli.recall.commands.pick", "Choose a session in a full-screen picker."),
    "index": ("navi.cli.recall.commands.index", "Index new messages in your agents' files."),
    "search": ("navi.cli.recall.commands.search", "Search what agents said, thought and ran."),
    "list": ("navi.cli.recall.commands.list", "List sessions, newest first."),
    "show": ("navi.cli.recall.commands.show", "Show a session's conversation."),
    "digest": (
        "navi.cli.recall.commands.digest",
        "Show what was asked, what was done and what failed.",
    ),
    "diff": ("navi.cli.recall.commands.diff", "Compare two sessions."),
    "stats": ("navi.cli.recall.commands.stats", "Count sessions, tools, commands and tokens."),
    "resume": ("navi.cli.recall.commands.resume", "Resume a session in its own agent."),
    "export": (
        "navi.cli.recall.commands.export",
        "Export one session as a document, or all to one file.",
    ),
    "sync": ("navi.cli.recall.commands.sync", "Exchange sessions with another machine."),
    "import": ("navi.cli.recall.commands.import_sessions", "Add the sessions in an exported file."),
    "keep": ("navi.cli.recall.commands.keep", "Keep copies of session files that agents delete."),
    "restore": ("navi.cli.recall.commands.restore", "Restore a kept session file."),
    "model": (
        "navi.cli.recall.commands.model",
        "Show, install or remove the model for search by meaning.",
    ),
    "tag": ("navi.cli.recall.commands.tag", "Add tags to a session, or show them."),
    "untag": ("navi.cli.recall.commands.untag", "Remove tags from a session."),
    "watch": ("navi.cli.recall.commands.watch", "Keep the index up to date while agents work."),
    "doctor": ("navi.cli.recall.commands.doctor", "Check the index and suggest fixes."),
    "init": ("navi.cli.recall.commands.init", "Print a script that binds a key to the picker."),
    "completions": ("navi.cli.recall.commands.completions", "Print a shell's completion script."),
}


class _Group(CommandGroup):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing and is_for_person():
            args = ["pick"]
        return super().parse_args(ctx, args)


group = _Group(
    name="recall",
    commands_in=COMMANDS,
    help="Search everything your agents have ever done. In a terminal, `recall` without a command "
    "opens the picker (`recall pick`).",
    params=[],
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(__version__, "--version", prog_name="recall")(group)


def main() -> None:
    group.run()


if __name__ == "__main__":
    main()
