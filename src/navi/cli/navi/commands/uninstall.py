"""`navi uninstall`: remove Navi from everything that it was installed in."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from navi.base import paths
from navi.base.errors import Conflict, NaviError
from navi.cli import formats, output
from navi.cli.confirmation import require_confirmation
from navi.cli.navi import agent_settings, setup_files
from navi.cli.navi.commands.login import running_server
from navi.cli.navi.commands.setup import AGENTS, write_all
from navi.cli.navi.installation import removal_command
from navi.cli.navi.kept_files import PERMISSIONS, KeptFiles, kept_files, processes_using
from navi.cli.navi.setup_files import Change


@click.command("uninstall")
@click.option("--data", is_flag=True, help="Delete sessions, the index, settings and the token.")
@click.option("-y", "--yes", is_flag=True, help="Don't ask.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
def command(data: bool, yes: bool, dry_run: bool) -> None:
    """Remove Navi from the settings of your agents, after showing what that changes.

    Sessions, the index, settings and the token stay unless you say --data. The program itself
    stays, too: the last line is the command that removes it.
    """
    changes, problems = agent_settings.removal(AGENTS)
    files = kept_files()
    doomed = files if data else []
    if pids := processes_using(doomed):
        raise Conflict(
            f"the data is in use by process {', '.join(map(str, pids))}",
            hint="stop the server (Ctrl-C where it runs) and `recall watch`, then run this again",
        )
    for problem in problems:
        output.complain(problem)
    if not changes and not problems:
        output.say("Navi is not in the settings of any agent.")
    _show(changes, files, is_deleted=data)
    for remark in _remarks(files):
        output.note(remark)
    if dry_run:
        for change in changes:
            output.say(change.difference())
    else:
        _ask(changes, doomed, yes)
        problems += _remove(changes, doomed, keep_originals=bool(problems))
    output.note("to remove the program itself:")
    output.say(removal_command(Path(sys.prefix)))
    sys.exit(1 if problems else 0)


def _show(changes: Sequence[Change], files: Sequence[KeptFiles], *, is_deleted: bool) -> None:
    if changes:
        output.say("To be removed, Navi's hooks and tools in the settings of your agents:")
        for change in changes:
            output.say(f"  {change.path}")
    if any(setup_files.originals().glob("*")):
        output.say("To be removed, copies of settings from before Navi changed them:")
        output.say(f"  {setup_files.originals()}")
    if files:
        output.say("To be deleted:" if is_deleted else "What stays (--data deletes it):")
        rows = [[f"  {each.folder}", formats.size(each.size()), each.content] for each in files]
        output.columns(rows, "  ")


def _ask(changes: Sequence[Change], doomed: Sequence[KeptFiles], yes: bool) -> None:
    questions = ["Remove Navi from these settings?"] if changes else []
    if doomed:
        total = formats.size(sum(each.size() for each in doomed))
        questions.append(f"Delete {total} of data for good?")
    if questions and not yes:
        require_confirmation(*questions)


def _remove(
    changes: Sequence[Change], doomed: Sequence[KeptFiles], *, keep_originals: bool
) -> list[NaviError]:
    """Returns why some of it could not be removed; the rest is."""
    problems = write_all(changes)
    if not problems and not keep_originals:
        shutil.rmtree(setup_files.originals(), ignore_errors=True)
        with suppress(OSError):
            paths.home().rmdir()  # if nothing else was ever kept there
    for files in doomed:
        try:
            files.remove()
        except OSError as error:
            message = f"can't delete {error.filename}: {error.strerror}"
            problems.append(Conflict(message, hint="make it writable, then run this again"))
        else:
            output.say(f"deleted {files.folder}: {files.content}")
    for problem in problems:
        output.complain(problem)
    return problems


def _remarks(files: Sequence[KeptFiles]) -> list[str]:
    """What keeps running, or stays behind, without Navi."""
    remarks = []
    if address := _running_server():
        remarks.append(f"a server is running at {address}: stop it with Ctrl-C where it runs")
    socket = paths.tmux_socket()
    if _has_panes(socket):
        remarks.append(f"agents still run in tmux: `tmux -L {socket} kill-server` ends them")
    if paths.store_file(paths.database_url()) is None:
        remarks.append("the database that NAVI_DATABASE_URL names stays as it is")
    if any(path.name == PERMISSIONS for each in files for path in each.paths):
        remarks.append(
            "Claude Code keeps the rules of `recall stats bash --apply`, "
            "unless you run `recall stats bash --undo` first"
        )
    return remarks


def _running_server() -> str | None:
    try:
        return running_server()
    except NaviError:
        return None


def _has_panes(socket: str) -> bool:
    if shutil.which("tmux") is None:
        return False
    order = ["tmux", "-L", socket, "list-panes", "-a"]
    try:
        return subprocess.run(order, capture_output=True, timeout=10).returncode == 0
    except subprocess.TimeoutExpired:
        return False
