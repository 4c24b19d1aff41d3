"""Runs Navi as a launchd agent of macOS. Not yet tried on a Mac: see docs/how-to/service.md."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from navi.base.errors import NaviError
from navi.base.file_modes import person_umask
from navi.base.platform import process_start
from navi.cli.navi.service.environment import environment_file
from navi.cli.navi.service.launchd_agent import LABEL, property_list
from navi.cli.navi.service.service_manager import (
    NoServiceManager,
    ServiceState,
    explain_exit,
    run,
)

COMMAND_SECONDS = 60.0
STOP_SECONDS = 40.0
"""Longer than launchd waits before it kills the server."""
POLL_SECONDS = 0.2
FIELD = re.compile(r"^\t(state|pid|last exit code) = (.+)$", re.MULTILINE)
START_FORMAT = "%a %b %d %H:%M:%S %Y"
"""How `ps` prints the start of a process, in UTC."""


class Launchd:
    @property
    def file(self) -> Path:
        return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"

    @property
    def log_location(self) -> str:
        return str(self._log)

    def require(self) -> None:
        if _launchctl("print", _domain()).returncode != 0:
            raise NoServiceManager("launchd runs no agents for this login")

    def definition(self, command: Sequence[str], environment: Mapping[str, str]) -> str:
        return property_list(command, environment, environment_file(), self._log, person_umask())

    def enable(self) -> None:
        """Nothing to do: launchd loads every file in the folder of `file` at login."""

    def disable(self) -> None:
        self.stop()

    def forget(self) -> None:
        """Nothing to do: `disable` has already unloaded the job."""

    def start(self) -> None:
        if not _is_loaded():
            _require_success("bootstrap", _domain(), str(self.file))

    def stop(self) -> None:
        """Unload the job, because launchd restarts a loaded job."""
        if not _is_loaded():
            return
        _launchctl("bootout", _target())  # fails if the job does not end at once
        deadline = time.monotonic() + STOP_SECONDS
        while _is_loaded():
            if time.monotonic() > deadline:
                raise NaviError(
                    "launchd did not stop the service", hint="`navi service logs` may say why"
                )
            time.sleep(POLL_SECONDS)

    def restart(self) -> None:
        self.stop()
        self.start()

    def state(self) -> ServiceState:
        result = _launchctl("print", _target())
        return ServiceState("stopped") if result.returncode != 0 else parse_state(result.stdout)

    def log_command(self, lines: int, *, is_followed: bool) -> list[str]:
        return ["tail", "-n", str(lines), *(["-F"] if is_followed else []), str(self._log)]

    @property
    def log_hint(self) -> str:
        return f"the log is {self._log}; the service writes it when it starts"

    def lingers(self) -> bool | None:
        return None

    def enable_linger(self) -> None:
        raise NaviError("launchd runs agents only while you are logged in")

    @property
    def _log(self) -> Path:
        return Path.home() / "Library" / "Logs" / "navi.log"


def parse_state(listing: str) -> ServiceState:
    """The state of a job, from the output of `launchctl print`."""
    fields: dict[str, str] = {}
    for name, value in FIELD.findall(listing):
        fields.setdefault(name, value)  # the job's own fields come first
    if fields.get("state") == "running" and "pid" in fields:
        return ServiceState("running", is_running=True, since_at=_start_of(int(fields["pid"])))
    code = fields.get("last exit code", "").partition(":")[0]
    if code.isdecimal() and code != "0":
        return ServiceState(f"starts again after {explain_exit(code)}")
    return ServiceState("starting", is_starting=True)


def _start_of(pid: int) -> datetime | None:
    try:
        return datetime.strptime(process_start(pid), START_FORMAT).replace(tzinfo=UTC)
    except (OSError, ValueError):
        return None


def _is_loaded() -> bool:
    return _launchctl("print", _target()).returncode == 0


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _target() -> str:
    return f"{_domain()}/{LABEL}"


def _require_success(*arguments: str) -> None:
    run(["launchctl", *arguments], COMMAND_SECONDS, must_succeed=True)


def _launchctl(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run(["launchctl", *arguments], COMMAND_SECONDS)
