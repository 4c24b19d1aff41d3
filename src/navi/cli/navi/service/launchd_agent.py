"""The property list of the launchd agent."""

from __future__ import annotations

import plistlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from navi.cli.navi.service.definition import MARK

LABEL = "heynavi.navi"
# launchd can't read a file of variables, so a shell reads it and then becomes the server.
SCRIPT = 'set -a; [ ! -f "$0" ] || . "$0"; set +a; exec "$@"'
SECONDS_BETWEEN_STARTS = 10


def property_list(
    command: Sequence[str],
    environment: Mapping[str, str],
    environment_file: Path,
    log: Path,
    umask: int,
) -> str:
    content = {
        "Label": LABEL,
        "ProgramArguments": ["/bin/sh", "-c", SCRIPT, str(environment_file), *command],
        "EnvironmentVariables": dict(environment),
        "StandardOutPath": str(log),
        "StandardErrorPath": str(log),
        "Umask": umask,
        "RunAtLoad": True,
        # Restart the server unless it ended without an error.
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": SECONDS_BETWEEN_STARTS,
        # Agents continue their turns after the server ends, and the next server takes them over.
        "AbandonProcessGroup": True,
        "ExitTimeOut": 30,
        # Background processes would be slowed down.
        "ProcessType": "Interactive",
    }
    text = plistlib.dumps(content, sort_keys=False).decode()
    head, mark, rest = text.partition("<plist")
    return f"{head}<!-- {MARK} -->\n{mark}{rest}"
