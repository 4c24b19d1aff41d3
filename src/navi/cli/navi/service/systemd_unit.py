"""The text of the systemd user unit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from navi.base.errors import UsageError
from navi.cli.navi.service.definition import MARK

PLAIN = re.compile(r"[\w@+=:,./-]+", re.ASCII)
"""Text that needs no quotes."""
TEMPLATE = """\
# {mark}
[Unit]
Description=Navi, a memory and a clock for AI agents
# Always restart: a store that can't be reached now may come back.
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart={command}
{environment}
# Keys and other variables for the server and its agents, one NAME=value per line.
EnvironmentFile=-{environment_file}
UMask={umask:04o}
# Stop only the server. Agents continue their turns, and the next server takes them over.
KillMode=process
TimeoutStopSec=30
Restart=on-failure
RestartSec=5
# Exit code 2: the settings or the address can't be used. Only a person can correct that.
RestartPreventExitStatus=2
# Exit code 130: stopped while starting.
SuccessExitStatus=130
# Keep the server running when an agent's command runs out of memory.
OOMPolicy=continue

[Install]
WantedBy=default.target
"""


def unit_text(
    command: Sequence[str], environment: Mapping[str, str], environment_file: Path, umask: int
) -> str:
    program, *arguments = command
    return TEMPLATE.format(
        mark=MARK,
        # Variables are expanded in arguments, but not in the program's own path.
        command=" ".join([_quoted(program), *(_quoted(each, "$") for each in arguments)]),
        environment="\n".join(
            f"Environment={_quoted(f'{name}={value}')}" for name, value in environment.items()
        ),
        environment_file=_specifiers_escaped(str(environment_file)),
        umask=umask,
    )


def _quoted(text: str, doubled: str = "") -> str:
    if PLAIN.fullmatch(text):
        return text
    if not text.isprintable():
        raise UsageError(
            f"{text!r} contains a character that a systemd unit can't hold",
            hint="move that folder, or correct the variable",
        )
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    for character in doubled:
        escaped = escaped.replace(character, character * 2)
    return f'"{_specifiers_escaped(escaped)}"'


def _specifiers_escaped(text: str) -> str:
    return text.replace("%", "%%")
