"""`navi service`: keep the server running in the background."""

from __future__ import annotations

import getpass
import subprocess
import sys

import click

from navi import __version__
from navi.base.errors import Conflict, NaviError
from navi.base.system_clock import SystemClock
from navi.cli import formats, output
from navi.cli.navi.service.definition import remove_service, write_definition
from navi.cli.navi.service.environment import (
    environment_file,
    missing_variables,
    service_environment,
)
from navi.cli.navi.service.readiness import answering_server, wait_until_ready
from navi.cli.navi.service.service_manager import NotInstalled, ServiceManager
from navi.cli.navi.service.start_command import start_command
from navi.cli.navi.service.this_machine import installed_service, service_manager

AGENTS_CONTINUE = "turns of Claude Code and Codex continue, and the next server takes them over"


@click.group("service")
def command() -> None:
    """Keep the server running in the background.

    Uses a systemd user unit or, on macOS, a launchd agent. It belongs to you alone and needs no
    root access. The server starts when you log in, and again after a crash.
    """


@command.command("install")
@click.option(
    "--linger/--no-linger",
    default=None,
    help="With systemd: start at boot, and keep running while you are logged out.  [default: ask]",
)
@click.option("--dry-run", is_flag=True, help="Print the service file without installing it.")
def install(linger: bool | None, dry_run: bool) -> None:
    """Install the service and start it.

    Run this again when your PATH or NAVI_HOME has changed: the service keeps the values they had
    when you installed it.
    """
    manager = service_manager()
    text = manager.definition(start_command(), service_environment())
    output.say(text.rstrip())
    if dry_run:
        output.note(f"this would be written to {manager.file}")
        return
    manager.require()
    is_new = write_definition(manager.file, text)
    output.note(f"wrote {manager.file}" if is_new else f"{manager.file} is up to date")
    manager.enable()
    _explain_variables()
    _offer_linger(manager, linger)
    if manager.state().is_running:
        manager.restart()
    else:
        _refuse_second_server()
        manager.start()
    _report(manager)
    output.note("next: `navi login` opens the page; `navi service uninstall` undoes this")


@command.command("uninstall")
def uninstall() -> None:
    """Stop the service and remove it. Sessions and settings are kept."""
    manager = _installed_service()
    remove_service(manager)
    output.say(f"removed {manager.file}")
    output.note(f"{AGENTS_CONTINUE}; `navi serve` starts one in this terminal")
    if manager.lingers():
        output.note("lingering stays enabled; `loginctl disable-linger` disables it")


@command.command("start")
def start() -> None:
    """Start the service."""
    manager = _installed_service()
    if not manager.state().is_running:
        _refuse_second_server()
        manager.start()
    _report(manager)


@command.command("stop")
def stop() -> None:
    """Stop the service. It starts again when you next log in."""
    manager = _installed_service()
    manager.stop()
    output.say("stopped")
    output.note(f"{AGENTS_CONTINUE}; start it with `navi service start`")


@command.command("restart")
def restart() -> None:
    """Restart the service. Turns of Claude Code and Codex continue."""
    manager = _installed_service()
    if not manager.state().is_running:
        _refuse_second_server()
    manager.restart()
    _report(manager)


@command.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(as_json: bool) -> None:
    """Show whether the service is running. The exit code is 1 if it is not."""
    manager = _installed_service()
    state, server = manager.state(), answering_server()
    values = {
        "state": state.summary,
        "since": None if state.since_at is None else state.since_at.isoformat(),
        "address": None if server is None else server.address,
        "version": None if server is None else server.version,
        "lingers": manager.lingers(),
        "file": str(manager.file),
        "log": manager.log_location,
    }
    if as_json:
        output.say_json(values)
    else:
        since = "" if state.since_at is None else f" since {formats.local_time(state.since_at)}"
        age = "" if state.since_at is None else formats.age(state.since_at, SystemClock().now())
        rows = [
            ["state", state.summary + since + (f" ({age})" if age else "")],
            ["address", "no server answers" if server is None else server.address],
            *([] if server is None else [["version", _version(server.version)]]),
            ["runs", _when_it_runs(manager)],
            ["file", str(manager.file)],
            ["log", f"{manager.log_location} (`navi service logs`)"],
        ]
        output.columns(rows, "  ")
    sys.exit(0 if state.is_running else 1)


@command.command("logs")
@click.option("-f", "--follow", is_flag=True, help="Print new lines as they are written.")
@click.option(
    "-n", "--lines", type=click.IntRange(0), default=50, show_default=True, help="How many lines."
)
def logs(follow: bool, lines: int) -> None:
    """Print the end of the service's log.

    The log has what the server printed, and when it started and stopped.
    """
    manager = _installed_service()
    code = subprocess.run(manager.log_command(lines, is_followed=follow), check=False).returncode
    if code > 0:  # below 0, a signal ended it: `navi service logs | head`
        raise NaviError("the log can't be read", hint=manager.log_hint)


def _installed_service() -> ServiceManager:
    manager = installed_service()
    if manager is None:
        raise NotInstalled
    manager.require()
    return manager


def _refuse_second_server() -> None:
    if (server := answering_server()) is not None:
        raise Conflict(
            f"a server is already running at {server.address}",
            hint="stop it with Ctrl-C where it runs, then run `navi service start`",
        )


def _report(manager: ServiceManager) -> None:
    server = wait_until_ready(manager)
    output.say(f"Navi is running: {server.address}")


def _explain_variables() -> None:
    if names := missing_variables():
        output.note(
            f"your shell has {', '.join(names)}, but the service does not; if it needs them, add "
            f"them to {environment_file()}, one NAME=value per line, and run `navi service restart`"
        )


def _offer_linger(manager: ServiceManager, choice: bool | None) -> None:
    """Ask before letting the service run while the person is logged out."""
    if manager.lingers() is not False or choice is False:
        return
    command_line = f"loginctl enable-linger {getpass.getuser()}"
    output.note(
        "systemd ends the service, and the agents it started, when you log out, unless lingering "
        f"is enabled: `{command_line}`"
    )
    if choice is None and sys.stdin.isatty():
        choice = click.confirm("Enable lingering now?", default=False, err=True)
    if not choice:
        return
    try:
        manager.enable_linger()
        output.note("lingering is enabled; `loginctl disable-linger` undoes it")
    except NaviError as error:
        output.complain(
            NaviError(error.message, hint=f"an administrator can: `sudo {command_line}`")
        )


def _when_it_runs(manager: ServiceManager) -> str:
    if manager.lingers():
        return "from boot on, even while you are logged out"
    return "while you are logged in"


def _version(version: str) -> str:
    if version == __version__:
        return version
    return f"{version}; {__version__} is installed, and `navi service restart` starts it"
