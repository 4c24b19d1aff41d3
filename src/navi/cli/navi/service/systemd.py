"""Runs Navi as a systemd user unit."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from navi.base.errors import NaviError
from navi.base.file_modes import person_umask
from navi.cli.navi.service.environment import environment_file
from navi.cli.navi.service.service_manager import (
    NoServiceManager,
    ServiceState,
    explain_exit,
    run,
)
from navi.cli.navi.service.systemd_unit import unit_text

UNIT = "navi.service"
LINGER_FOLDER = Path("/var/lib/systemd/linger")
COMMAND_SECONDS = 90.0
"""Longer than stopping and starting the server may take."""
PROPERTIES = "ActiveState,SubState,ExecMainCode,ExecMainStatus,ActiveEnterTimestamp"
START_FORMAT = "%a %Y-%m-%d %H:%M:%S UTC"
EXITED = "1"
"""The main process exited; any other code means that a signal ended it. See CLD_EXITED in
waitid(2)."""
LIFE_CYCLE_MESSAGES = {
    "started": "39f53479d3a045ac8e11786248231fbf",
    "stopped": "9d1aaa27d60140bd96365438aad20286",
    "main process exited": "98e322203f7a4ed290d09fe03c09fe15",
    "failed": "d9b373ed55a64feb8242e02dbe79a49c",
    "restart scheduled": "5eb03494b6584870a536b337290809b2",
}
"""systemd's MESSAGE_ID of each; see sd-messages.h. At every start and stop, systemd also writes up
to three lines about each process of an agent, which would bury the server's own."""


class Systemd:
    log_location = f"the journal: journalctl --user --unit {UNIT}"

    @property
    def file(self) -> Path:
        config = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
        return Path(config).expanduser().absolute() / "systemd" / "user" / UNIT

    def require(self) -> None:
        if shutil.which("systemctl") is None:
            raise NoServiceManager("this system has no systemd to run a service")
        result = _systemctl("show-environment")
        if result.returncode != 0:
            reason = result.stderr.strip().splitlines()
            raise NoServiceManager(
                "systemd runs no services for this login" + (f": {reason[0]}" if reason else "")
            )

    def definition(self, command: Sequence[str], environment: Mapping[str, str]) -> str:
        return unit_text(command, environment, environment_file(), person_umask())

    def enable(self) -> None:
        _require_success("daemon-reload")
        path = _properties("FragmentPath").get("FragmentPath", "")
        if not path or not os.path.samefile(path, self.file):
            raise NaviError(
                f"systemd does not read {self.file}" + (f", but {path}" if path else ""),
                hint="run this with the HOME and XDG_CONFIG_HOME that you logged in with",
            )
        _require_success("enable", UNIT)

    def disable(self) -> None:
        _require_success("disable", "--now", UNIT)

    def forget(self) -> None:
        _require_success("daemon-reload")
        _systemctl("reset-failed", UNIT)  # fails if there is nothing to reset

    def start(self) -> None:
        _require_success("start", UNIT)

    def stop(self) -> None:
        _require_success("stop", UNIT)

    def restart(self) -> None:
        _require_success("restart", UNIT)

    def state(self) -> ServiceState:
        return parse_state(_properties(PROPERTIES))

    def log_command(self, lines: int, *, is_followed: bool) -> list[str]:
        follow = ["--follow"] if is_followed else ["--no-pager"]
        # Not --user, which reads nothing from a journal that is kept in memory.
        user = f"_UID={os.getuid()}"
        of_server = [user, f"_SYSTEMD_USER_UNIT={UNIT}"]
        messages = [f"MESSAGE_ID={each}" for each in LIFE_CYCLE_MESSAGES.values()]
        of_systemd = [user, f"USER_UNIT={UNIT}", *messages]
        options = ["--quiet", "--lines", str(lines), *follow]
        return ["journalctl", *options, *of_server, "+", *of_systemd]

    @property
    def log_hint(self) -> str:
        return (
            "if this machine keeps its journal in memory, only an administrator can read it: "
            f"`sudo journalctl _UID={os.getuid()} _SYSTEMD_USER_UNIT={UNIT}`"
        )

    def lingers(self) -> bool | None:
        return (LINGER_FOLDER / getpass.getuser()).exists()

    def enable_linger(self) -> None:
        _run(["loginctl", "enable-linger", getpass.getuser()], must_succeed=True)


def parse_state(properties: Mapping[str, str]) -> ServiceState:
    """The state of the unit, from the output of `systemctl show`."""
    end = _describe_end(properties)
    match properties.get("ActiveState"), properties.get("SubState"):
        case "active", _:
            text = properties["ActiveEnterTimestamp"]
            start = datetime.strptime(text, START_FORMAT).replace(tzinfo=UTC)
            return ServiceState("running", is_running=True, since_at=start)
        case "activating", "auto-restart":
            return ServiceState(f"starts again after {end}")
        case (("activating" | "reloading"), _):
            return ServiceState("starting", is_starting=True)
        case "deactivating", _:
            return ServiceState("stopping")
        case "failed", _:
            return ServiceState(f"failed with {end}")
    return ServiceState("stopped")


def _describe_end(properties: Mapping[str, str]) -> str:
    status = properties.get("ExecMainStatus", "0")
    if properties.get("ExecMainCode", EXITED) != EXITED:
        return f"signal {status}"
    return explain_exit(status)


def _properties(names: str) -> dict[str, str]:
    text = _require_success("show", UNIT, "--property", names)
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def _require_success(*arguments: str) -> str:
    return _run(["systemctl", "--user", *arguments], must_succeed=True).stdout


def _systemctl(*arguments: str) -> subprocess.CompletedProcess[str]:
    return _run(["systemctl", "--user", *arguments])


def _run(command: Sequence[str], *, must_succeed: bool = False) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TZ": "UTC"}  # for START_FORMAT
    # `su` and cron don't set it, but systemctl needs it to find the person's systemd.
    runtime = f"/run/user/{os.getuid()}"
    if not environment.get("XDG_RUNTIME_DIR") and os.path.isdir(runtime):
        environment["XDG_RUNTIME_DIR"] = runtime
    return run(command, COMMAND_SECONDS, environment, must_succeed=must_succeed)
