"""A Codex that asks before it counts how often it ran."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import psutil

from tests.acceptance.clients.world import World

ASKING = {"NAVI_CODEX_ARGUMENTS": "--sandbox=workspace-write"}


def call(tool: str, **arguments: Any) -> str:
    return f"[[tool: {tool} | {json.dumps(arguments)}]]"


def escalated(command: str) -> str:
    """A command that Codex's sandbox would not let through, so that Codex asks."""
    return call(
        "exec_command",
        cmd=command,
        sandbox_permissions="require_escalated",
        justification="May I count?",
    )


RUN = escalated("echo ran >>count") + " [[say: on we go]]"


def agents(world: World) -> list[psutil.Process]:
    """The app-servers that are running."""
    return [each for each in psutil.process_iter() if world.owns(each) and is_app_server(each)]


def is_app_server(process: psutil.Process) -> bool:
    try:
        return process.name() == "codex" and "app-server" in process.cmdline()
    except psutil.Error:
        return False


def kill_agents(world: World) -> None:
    """Kill the app-servers, and wait until they can read nothing more."""
    # A process that Codex is just starting looks like Codex itself.
    killed = agents(world)
    for each in killed:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    psutil.wait_procs(killed)
