"""`navi uninstall`: disconnect every agent and, if asked to, delete Navi's data."""

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
from navi.cli.navi.commands.login import running_server_address
from navi.cli.navi.commands.setup import write_all
from navi.cli.navi.data_files import PERMISSION_RECEIPTS, DataFiles, data_files, processes_using
from navi.cli.navi.installation import removal_command
from navi.cli.navi.service.definition import remove_service
from navi.cli.navi.service.service_manager import ServiceManager
from navi.cli.navi.service.this_machine import installed_service
from navi.vendors.agent_settings import plan_removal, receipts_folder
from navi.vendors.registry import settings
from navi.vendors.settings_file import Change


@click.command("uninstall")
@click.option(
    "--data", is_flag=True, help="Also delete sessions, the index, settings and the access token."
)
@click.option("-y", "--yes", is_flag=True, help="Don't ask for confirmation.")
@click.option("--dry-run", is_flag=True, help="Show what would be removed without removing it.")
def command(data: bool, yes: bool, dry_run: bool) -> None:
    """Disconnect your agents from Navi, and optionally delete its data.

    Lists what will be removed and asks first. Data is kept unless you add --data. The program
    itself is kept; the last line of output is the command to remove it.
    """
    changes, problems = plan_removal(settings().values())
    files = data_files()
    to_delete = files if data else []
    service = installed_service()
    if service is None:
        _require_unused(to_delete)
    for problem in problems:
        output.complain(problem)
    if not changes and not problems:
        output.say("No agent is connected to Navi.")
    if service is not None:
        output.say(f"Service to stop and remove:\n  {service.file}")
    _show(changes, files, will_delete=data)
    for remark in _remarks(files, has_service=service is not None):
        output.note(remark)
    if dry_run:
        for change in changes:
            output.diff(change.diff())
    else:
        _ask(changes, to_delete, service, yes)
        if service is not None:
            problems += _remove_service(service)
            _require_unused(to_delete)
        problems += _remove(changes, to_delete, keep_receipts=bool(problems))
    output.note("to remove the program itself:")
    output.say(removal_command(Path(sys.prefix)))
    sys.exit(1 if problems else 0)


def _require_unused(to_delete: Sequence[DataFiles]) -> None:
    if pids := processes_using(to_delete):
        raise Conflict(
            f"the data is in use by process {', '.join(map(str, pids))}",
            hint="stop the server (Ctrl-C where it runs) and `recall watch`, then try again",
        )


def _show(changes: Sequence[Change], files: Sequence[DataFiles], *, will_delete: bool) -> None:
    if changes:
        output.say("Hooks and MCP servers to remove from agents' settings:")
        for change in changes:
            output.say(f"  {change.path}")
    if any(receipts_folder().glob("*")):
        output.say("Backups of those settings to delete:")
        output.say(f"  {receipts_folder()}")
    if files:
        output.say("Data to delete:" if will_delete else "Data to keep (--data deletes it):")
        rows = [[f"  {each.folder}", formats.size(each.size()), each.content] for each in files]
        output.columns(rows, "  ")


def _ask(
    changes: Sequence[Change],
    to_delete: Sequence[DataFiles],
    service: ServiceManager | None,
    yes: bool,
) -> None:
    questions = [] if service is None else ["Stop and remove the service?"]
    questions += ["Remove Navi from these settings?"] if changes else []
    if to_delete:
        total = formats.size(sum(each.size() for each in to_delete))
        questions.append(f"Delete {total} of data for good?")
    if questions and not yes:
        require_confirmation(*questions)


def _remove_service(service: ServiceManager) -> list[NaviError]:
    try:
        remove_service(service)
    except NaviError as problem:
        output.complain(problem)
        return [problem]
    output.say(f"removed {service.file}")
    return []


def _remove(
    changes: Sequence[Change], to_delete: Sequence[DataFiles], *, keep_receipts: bool
) -> list[NaviError]:
    """Remove whatever can be removed, and return the problems with the rest."""
    problems = write_all(changes)
    if not problems and not keep_receipts:
        shutil.rmtree(receipts_folder(), ignore_errors=True)
        with suppress(OSError):
            paths.home().rmdir()  # fails if it holds anything else
    for files in to_delete:
        try:
            files.remove()
        except OSError as error:
            message = f"can't delete {error.filename}: {error.strerror}"
            problems.append(Conflict(message, hint="make it writable, then try again"))
        else:
            output.say(f"deleted {files.folder}: {files.content}")
    for problem in problems:
        output.complain(problem)
    return problems


def _remarks(files: Sequence[DataFiles], *, has_service: bool) -> list[str]:
    """What will keep running or be left behind."""
    remarks = []
    if not has_service and (address := _running_server_address()):
        remarks.append(f"a server is running at {address}: stop it with Ctrl-C where it runs")
    socket = paths.tmux_socket()
    if _has_panes(socket):
        remarks.append(
            f"agents are still running in tmux: stop them with `tmux -L {socket} kill-server`"
        )
    if paths.store_file(paths.database_url()) is None:
        remarks.append("the database in NAVI_DATABASE_URL is not touched")
    if any(path.name == PERMISSION_RECEIPTS for each in files for path in each.paths):
        remarks.append(
            "permission rules added by `recall stats bash --apply` stay in Claude Code's settings; "
            "to remove them, run `recall stats bash --undo` first"
        )
    return remarks


def _running_server_address() -> str | None:
    try:
        return running_server_address()
    except NaviError:
        return None


def _has_panes(socket: str) -> bool:
    if shutil.which("tmux") is None:
        return False
    command = ["tmux", "-L", socket, "list-panes", "-a"]
    try:
        return subprocess.run(command, capture_output=True, timeout=10).returncode == 0
    except subprocess.TimeoutExpired:
        return False
