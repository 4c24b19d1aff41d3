"""macOS: processes through ps and lsof, services through launchd.

A command that fails raises `OSError`, so that a failed `ps` is never mistaken for "there is no such
process".
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

from navi.base.platform.process import Process

SERVICE_MANAGER: Literal["systemd", "launchd"] = "launchd"
CAN_READ_ALL_ENVIRONMENTS = False
"""Whether `pids_with_variable` finds every process of this user. Not here: macOS hides the
environment of its own programs, such as /bin/sleep."""
OTHERS_RECORD_SAME_START = False
"""Whether other programs record a process's start in the format of `process_start`. Not here: their
dates may be in another zone or language."""
COMMAND_SECONDS = 20.0
# Each column needs a separate option: BSD's ps takes everything after `=` as a heading.
COLUMNS = ("pid", "ppid", "pgid", "stat", "lstart", "comm")
NOTIFICATION = """\
on run arguments
    display notification (item 2 of arguments) with title (item 1 of arguments)
end run
"""


def process_start(pid: int) -> str:
    """When the process started, in the system's own format; empty if it is not alive."""
    process = living_processes([pid]).get(pid)
    return "" if process is None else process.started


def boot_id() -> str:
    """An id that changes whenever the machine starts; empty if unknown."""
    try:
        return _output(["sysctl", "-n", "kern.bootsessionuuid"]).strip()
    except OSError:
        return ""


def living_processes(pids: Collection[int] | None = None) -> dict[int, Process]:
    """The processes among `pids` that are alive, by id; by default all processes."""
    if pids is None:
        selection = ["-ax"]
    elif pids:
        selection = ["-p", ",".join(map(str, pids))]
    else:
        return {}
    columns = [option for name in COLUMNS for option in ("-o", f"{name}=")]
    return parse_processes(_output(["ps", *selection, *columns]))


def parse_processes(listing: str) -> dict[int, Process]:
    """The processes in the output of `ps`, without zombies."""
    processes = {}
    for line in listing.splitlines():
        # A date such as `Wed Nov 18 15:47:43 2026` is five words.
        pid, parent, group, state, *started, command = line.split(maxsplit=9)
        if not state.startswith("Z"):
            name = os.path.basename(command)
            processes[int(pid)] = Process(
                int(pid), " ".join(started), int(parent), int(group), name
            )
    return processes


def pids_with_variable(name: str, value: str) -> set[int]:
    """The processes that were started with this variable in their environment."""
    listing = _output(["ps", "-ax", "-E", "-ww", "-o", "pid=", "-o", "command="])
    return parse_environments(listing, f"{name}={value}")


def parse_environments(listing: str, entry: str) -> set[int]:
    """The process ids on the lines that contain `entry`; ps prints the environment after the
    arguments."""
    pattern = re.compile(rf"^\s*(\d+) .* {re.escape(entry)}(?: |$)", re.MULTILINE)
    return {int(pid) for pid in pattern.findall(listing)}


def open_files(pid: int) -> list[str]:
    """The files that a process has open; empty if it has ended or is another user's."""
    return [file for _, file in parse_open_files(_lsof("-p", str(pid)))]


def all_open_files() -> Iterator[tuple[int, str]]:
    """Process ids, each with a file that the process has open."""
    yield from parse_open_files(_lsof("-u", str(os.getuid())))


def parse_open_files(listing: str) -> list[tuple[int, str]]:
    """Reads `lsof -F pn`, which prints `pID` for each process, then `nNAME` for its files."""
    pid, files = 0, []
    for line in listing.splitlines():
        kind, value = line[:1], line[1:]
        if kind == "p":
            pid = int(value)
        elif kind == "n" and value.startswith("/"):
            files.append((pid, value))
    return files


def has_default_acl(folder: int) -> bool:
    """Whether the folder's access list decides the modes of new files in it. `folder` is a
    descriptor."""
    return False  # access lists of macOS leave the modes alone


def has_desktop(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a person would see a browser that is opened here."""
    return "SSH_CONNECTION" not in environment


def open_page(uri: str) -> None:
    """Open a page in the person's browser."""
    subprocess.run(["open", uri], check=False)


def notification_command(title: str, text: str) -> list[str]:
    """The command that shows a notification on the desktop."""
    return ["osascript", "-e", NOTIFICATION, title, text]


def _lsof(*selection: str) -> str:
    return _output(["lsof", "-n", "-P", "-w", *selection, "-F", "pn"])


def _output(command: Sequence[str]) -> str:
    """The command's output.

    A nonzero exit is a failure only with a message on stderr: without one, ps and lsof found no
    match.
    """
    # Dates in one language and zone, so that they can be compared.
    environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC0"}
    try:
        result = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"{command[0]} timed out") from error
    if result.returncode != 0 and result.stderr.strip():
        raise OSError(f"{command[0]} failed: {result.stderr.strip()}")
    return result.stdout
