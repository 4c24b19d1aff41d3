"""The interface of systemd and launchd, and what they share."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from navi.base.errors import NaviError, NotFound, UsageError

WITHOUT_SERVICE = (
    "run `tmux new -d -s navi 'navi serve --no-open'`, or "
    "`nohup navi serve --no-open >navi.log 2>&1 &`"
)


class NoServiceManager(NaviError):
    """This system can't run services for this person."""

    kind, exit_code = "no_service_manager", 1

    def __init__(self, reason: str, *, hint: str = WITHOUT_SERVICE) -> None:
        super().__init__(reason, hint=hint)


class NotInstalled(NotFound):
    def __init__(self) -> None:
        super().__init__("the service is not installed", hint="`navi service install`")


@dataclass(frozen=True, slots=True)
class ServiceState:
    summary: str
    """`running`, `stopped` or another state in words, for people."""
    is_running: bool = False
    is_starting: bool = False
    since_at: datetime | None = None


def explain_exit(code: str) -> str:
    if code == str(UsageError.exit_code):
        return f"exit code {code}: its settings or its address can't be used"
    return f"exit code {code}"


class ServiceManager(Protocol):
    @property
    def file(self) -> Path:
        """The file that defines the service."""

    @property
    def log_location(self) -> str:
        """Where the log is, in words, for people."""

    def require(self) -> None:
        """Raise `NoServiceManager` unless this person can have services here."""

    def definition(self, command: Sequence[str], environment: Mapping[str, str]) -> str:
        """The content of the file."""

    def enable(self) -> None:
        """Start the service at every login from now on."""

    def disable(self) -> None:
        """Stop the service, and don't start it again at login."""

    def forget(self) -> None:
        """Clear the service manager's record of the service. Call this after deleting the file."""

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def restart(self) -> None: ...

    def state(self) -> ServiceState: ...

    def log_command(self, lines: int, *, is_followed: bool) -> list[str]:
        """The command that prints the end of the log."""

    @property
    def log_hint(self) -> str:
        """What to do if that command fails."""

    def lingers(self) -> bool | None:
        """Whether the service runs while the person is logged out; None if that is impossible."""

    def enable_linger(self) -> None: ...


def run(
    command: Sequence[str],
    timeout_seconds: float,
    environment: Mapping[str, str] | None = None,
    *,
    must_succeed: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run a service manager's command. Raises if it can't run or if it fails but must succeed."""
    try:
        result = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NaviError(
            f"`{' '.join(command)}` failed: {error}", hint="run it yourself to see why"
        ) from error
    if must_succeed and result.returncode != 0:
        reason = result.stderr.strip() or f"exit code {result.returncode}"
        raise NaviError(
            f"`{' '.join(command)}` failed: {reason}", hint="`navi service logs` may say more"
        )
    return result
