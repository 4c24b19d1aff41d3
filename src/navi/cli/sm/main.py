"""The entry point of `sm`."""

from __future__ import annotations

from typing import Any

import click

from navi import __version__
from navi.base import server_version
from navi.base.errors import NaviError
from navi.cli import output
from navi.cli.command_group import CommandGroup
from navi.cli.sm.session_help import SESSION_HELP

COMMANDS = {
    "status": (
        "navi.cli.sm.commands.overviews.status",
        "Show all sessions, or report the calling agent's status.",
    ),
    "spawn": ("navi.cli.sm.commands.sessions.spawn", "Start a session and give it a task."),
    "send": ("navi.cli.sm.commands.messages.send", "Send a message to a session."),
    "wait": ("navi.cli.sm.commands.messages.wait", "Wait until a session is idle."),
    "output": ("navi.cli.sm.commands.messages.output", "Print what a session said last."),
    "tail": (
        "navi.cli.sm.commands.messages.tail",
        "Show a session's last messages; -f follows new ones.",
    ),
    "watch": ("navi.cli.sm.commands.overviews.watch", "Watch all sessions live."),
    "inbox": ("navi.cli.sm.commands.messages.inbox", "Show everything that is waiting for you."),
    "answer": ("navi.cli.sm.commands.messages.answer", "Answer an agent's question."),
    "children": (
        "navi.cli.sm.commands.overviews.children",
        "Show the sessions that a session started.",
    ),
    "all": ("navi.cli.sm.commands.overviews.all", "Show all sessions as a tree."),
    "me": ("navi.cli.sm.commands.overviews.me", "Show the calling agent's own session."),
    "task": ("navi.cli.sm.commands.messages.task", "Show or set the calling agent's task."),
    "task-complete": (
        "navi.cli.sm.commands.messages.task_complete",
        "Report that the calling agent's task is done.",
    ),
    "open": (
        "navi.cli.sm.commands.sessions.open",
        "Open Navi's page, or a session on it, in your browser.",
    ),
    "agenda": (
        "navi.cli.sm.commands.schedules.agenda",
        "Show what will happen next in all sessions.",
    ),
    "limit": ("navi.cli.sm.commands.overviews.limit", "Show usage limits, or ignore them."),
    "budget": (
        "navi.cli.sm.commands.overviews.budget",
        "Show or set budgets of tokens or dollars.",
    ),
    "queue": ("navi.cli.sm.commands.messages.queue", "Show a session's queue."),
    "rename": ("navi.cli.sm.commands.sessions.rename", "Give a session another name."),
    "pin": ("navi.cli.sm.commands.sessions.pin", "Keep sessions at the top of lists."),
    "archive": ("navi.cli.sm.commands.sessions.archive", "Hide sessions from lists."),
    "stop": ("navi.cli.sm.commands.sessions.stop", "Interrupt a session's running turn."),
    "clear": ("navi.cli.sm.commands.sessions.clear", "Clear a session's context."),
    "kill": ("navi.cli.sm.commands.sessions.kill", "End a session; its transcript is kept."),
    "delete": ("navi.cli.sm.commands.sessions.delete", "Delete a session and everything in it."),
    "remind": (
        "navi.cli.sm.commands.schedules.remind",
        "Set a one-off reminder, list reminders, or stop them.",
    ),
    "recall": (
        "navi.cli.sm.commands.schedules.recall",
        "Wake a session later, once or repeatedly.",
    ),
    "automation": ("navi.cli.sm.commands.schedules.automation", "Run sessions on a schedule."),
    "attach": ("navi.cli.sm.commands.sessions.attach", "Attach to a session's terminal."),
    "completions": ("navi.cli.sm.commands.completions", "Print a shell's completion script."),
}


class _Group(CommandGroup):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except NaviError as error:
            from navi.cli.sm.hints import in_sm_words

            error.message, error.hint = in_sm_words(error.message), in_sm_words(error.hint)
            raise


group = _Group(
    name="sm",
    commands_in=COMMANDS,
    help="Manage live sessions: start, message, watch, remind and wake them. Needs a running "
    "server (`navi serve`). Agents started by Navi can use it too; commands then run on "
    "behalf of the agent's own session.\n\n"
    f"{SESSION_HELP} `sm clear`, `sm kill` and `sm delete` don't accept the start of a name.",
    params=[],
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(__version__, "--version", prog_name="sm")(group)


def main() -> None:
    try:
        group.run()
    finally:
        if difference := server_version.difference():
            output.note(f"note: {difference}")


if __name__ == "__main__":
    main()
