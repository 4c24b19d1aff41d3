"""What agents run to reach Navi: their hooks, and Navi's tools as a program.

These commands stand in agents' own settings, where they may outlive Navi. So each is wrapped in a
line of `sh` that does no harm once Navi's files, its Python or its server are gone. An agent may
read a failure as "stop here": Claude Code refuses every prompt whose hook ends with exit code 2,
which is how Python ends when a script is missing.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from navi.domain import places

SHELL = "/bin/sh"
HOOK_SCRIPT = str(Path(__file__).parents[1] / "hook.py")
HOOK_GUARD = '{ "$@" || cat >/dev/null; } 2>/dev/null; exit 0'
"""Says nothing and succeeds, whatever the hook does. Reads what the hook left unread, so that the
agent's write does not fail."""
GREETING = (
    '{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"navi","version":"0"}}'
)
NO_TOOLS = '{"tools":[]}'
ID, ANSWER = r'.*"id": *\([^,}]*\).*', r'{"jsonrpc":"2.0","id":\1,"result":%s}'
MCP_GUARD = (
    '"$@" && exit; while read -r request; do printf "%s\\n" "$request" | sed -n '
    f"'/\"initialize\"/{{s/{ID}/{ANSWER % GREETING}/p;d;}};s/{ID}/{ANSWER % NO_TOOLS}/p'; done"
)
"""Offers no tools if Navi can't be started: agents warn of a server that ends at once. Without
`${…}`, which Claude Code would replace by variables of its own."""


def hook_command(driver: str, address: str, environment: Mapping[str, str] = os.environ) -> str:
    """What an agent runs at its hooks, as a line for any shell.

    Without the package: Python's bare interpreter and one file, which is as quick as it gets.
    """
    python = [os.path.realpath(sys.executable), "-I", "-S"]
    arguments = [HOOK_SCRIPT, driver, address, str(places.token_file(environment))]
    return shlex.join([SHELL, "-c", HOOK_GUARD, "navi-hook", *python, *arguments])


def mcp_command() -> list[str]:
    """Navi's tools, as a program that the agent starts."""
    # Nothing is imported from the folder in which the agent works (-P): it may be anybody's.
    program = [sys.executable, "-P", "-m", "navi.cli.navi.main", "mcp"]
    return [SHELL, "-c", MCP_GUARD, "navi-mcp", *program]
