"""Does what `systemctl --user` does with Navi's unit, on machines where no systemd runs.

Starts the unit's command with the unit's environment. Stops only its main process, as
KillMode=process says. Appends its arguments to the file `calls` in the home.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import psutil

HOME = Path(os.environ["HOME"])
UNIT = HOME / ".config/systemd/user/navi.service"
LINK = UNIT.parent / "default.target.wants" / UNIT.name
PID = HOME / "navi.service.pid"


def main(arguments: list[str]) -> None:
    with (HOME / "calls").open("a") as calls:
        calls.write(" ".join(arguments) + "\n")
    match arguments[1:]:
        case ["show", "navi.service", "--property", "FragmentPath"]:
            sys.stdout.write(f"FragmentPath={UNIT if UNIT.exists() else ''}\n")
        case ["show", "navi.service", "--property", _]:
            sys.stdout.write(state())
        case ["enable", "navi.service"]:
            LINK.parent.mkdir(exist_ok=True)
            LINK.unlink(missing_ok=True)
            LINK.symlink_to(UNIT)
        case ["disable", "--now", "navi.service"]:
            LINK.unlink()
            stop()
        case ["start", "navi.service"]:
            start()
        case ["stop", "navi.service"]:
            stop()
        case ["restart", "navi.service"]:
            stop()
            start()
        case ["show-environment"] | ["daemon-reload"] | ["reset-failed", "navi.service"]:
            pass
        case others:
            sys.exit(f"systemctl knows no {others}")


def start() -> None:
    entries = [line.partition("=") for line in UNIT.read_text().splitlines()]
    [command] = [shlex.split(value) for name, _, value in entries if name == "ExecStart"]
    variables = [shlex.split(value)[0] for name, _, value in entries if name == "Environment"]
    with (HOME / "journal").open("ab") as journal:
        process = subprocess.Popen(
            command,
            env={"HOME": str(HOME), **dict(each.split("=", 1) for each in variables)},
            stdin=subprocess.DEVNULL,
            stdout=journal,
            stderr=journal,
            start_new_session=True,
        )
    PID.write_text(str(process.pid))


def stop() -> None:
    if PID.exists():
        pid = int(PID.read_text())
        if is_alive(pid):
            process = psutil.Process(pid)
            process.terminate()
            process.wait()
        PID.unlink()


def state() -> str:
    if not PID.exists():
        return "ActiveState=inactive\nSubState=dead\n"
    if is_alive(int(PID.read_text())):
        return "ActiveState=active\nActiveEnterTimestamp=Wed 2026-11-18 16:09:00 UTC\n"
    return "ActiveState=failed\nSubState=failed\nExecMainStatus=2\n"


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


if __name__ == "__main__":
    main(sys.argv[1:])
