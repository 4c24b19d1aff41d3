"""The entry point of `sm`."""

from __future__ import annotations

from typing import Any

import click

from navi import __version__
from navi.base.errors import NaviError
from navi.cli.command_group import CommandGroup

COMMANDS = {
    "status": ("navi.cli.sm.commands.status", "Show all sessions, or report what you are doing."),
    "spawn": ("navi.cli.sm.commands.spawn", "Start a session and give it a task."),
    "send": ("navi.cli.sm.commands.send", "Send a message to a session."),
    "wait": ("navi.cli.sm.commands.wait", "Wait until a session is idle."),
    "output": ("navi.cli.sm.commands.output", "Print what a session said last."),
    "tail": ("navi.cli.sm.commands.tail", "Show a session's last messages, and follow new ones."),
    "watch": ("navi.cli.sm.commands.watch", "Watch all sessions live."),
    "children": ("navi.cli.sm.commands.children", "Show the sessions that a session started."),
    "all": ("navi.cli.sm.commands.all", "Show all sessions as a tree."),
    "me": ("navi.cli.sm.commands.me", "Show your own session."),
    "task": ("navi.cli.sm.commands.task", "Show or set your task."),
    "task-complete": ("navi.cli.sm.commands.task_complete", "Report that your task is done."),
    "queue": ("navi.cli.sm.commands.queue", "Show a session's queue."),
    "clear": ("navi.cli.sm.commands.clear", "Clear a session's context."),
    "kill": ("navi.cli.sm.commands.kill", "End a session for good."),
    "remind": (
        "navi.cli.sm.commands.remind",
        "Set a one-off reminder, list reminders, or stop them.",
    ),
    "recall": ("navi.cli.sm.commands.recall", "Wake a session later, once or repeatedly."),
    "automation": ("navi.cli.sm.commands.automation", "Run sessions on a schedule."),
    "attach": ("navi.cli.sm.commands.attach", "Attach to a session's terminal."),
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
    "server (`navi serve`). Agents that Navi starts can use it too, on behalf of their own "
    "session.",
    params=[],
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(__version__, "--version", prog_name="sm")(group)


def main() -> None:
    group.run()


if __name__ == "__main__":
    main()
