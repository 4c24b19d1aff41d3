"""The commands that agents run to reach Navi: the hook and the MCP server.

These commands may stay in agents' settings when Navi is removed. So each is wrapped in a line of
`sh` that does no harm without Navi's files, Python or server. Claude Code, for instance, refuses
every prompt whose hook exits with 2, as Python does if its script is missing.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from navi.base import paths
from navi.base.python_command import python_module

SHELL = "/bin/sh"
HOOK_SCRIPT = str(Path(__file__).parents[1] / "hook.py")
HOOK_WRAPPER = '{ "$@" || cat >/dev/null; } 2>/dev/null; exit 0'
"""Succeeds silently if the hook fails, and reads the input that the hook left unread, because the
agent's write would fail otherwise."""
GREETING = (
    '{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"navi","version":"0"}}'
)
NO_TOOLS = '{"tools":[]}'
ID, ANSWER = r'.*"id": *\([^,}]*\).*', r'{"jsonrpc":"2.0","id":\1,"result":%s}'
MCP_WRAPPER = (
    '"$@" && exit; while read -r request; do printf "%s\\n" "$request" | sed -n '
    f"'/\"initialize\"/{{s/{ID}/{ANSWER % GREETING}/p;d;}};s/{ID}/{ANSWER % NO_TOOLS}/p'; done"
)
"""Offers no tools if Navi can't start, because agents warn about a server that exits at once.
Avoids `${…}`, which Claude Code would expand."""


def hook_command(
    driver: str, address: str | None, environment: Mapping[str, str] = os.environ
) -> str:
    """A command line, for any shell, that runs Navi's hook.

    It runs a single file in a bare interpreter, because importing the package takes too long.
    """
    python = [os.path.realpath(sys.executable), "-I", "-S"]
    arguments = [HOOK_SCRIPT, driver, address or "", str(paths.token_file(environment))]
    return shlex.join([SHELL, "-c", HOOK_WRAPPER, "navi-hook", *python, *arguments])


def mcp_command() -> list[str]:
    """The command that starts the MCP server, which offers Navi's tools to an agent."""
    program = python_module("navi.cli.navi.main", "mcp")
    return [SHELL, "-c", MCP_WRAPPER, "navi-mcp", *program]
