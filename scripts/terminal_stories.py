"""Records terminals in docs/images: those named as arguments, or all. `make pictures` runs this.

All are real runs in a temporary home, with Claude Code on the tests' stand-in for its model, or a
server that is killed. Ids and times differ from run to run.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from scripts.terminal_pictures import (
    HOME,
    IMAGES,
    QUERY,
    run_in_terminal,
    svg,
    write_past_sessions,
)
from tests.acceptance.clients.model_stand_in import running_stand_in
from tests.acceptance.clients.world import World, make_world
from tests.pseudo_terminal import PseudoTerminal

Story = Callable[[World], Iterator[tuple[str, str]]]

COMMANDS = Path(sys.executable).parent
WAKE_PROMPT = "Start the release build. Wake yourself in 30 minutes and read build.log."
WAKE_ANSWER = (
    '[[tool: mcp__navi__schedule_recall | {"call_type": "once", "when": "30m", '
    '"additional_context_message": "Read build.log. Report the result of the release build."}]] '
    "[[say: The build is running. I will be back in 30 minutes to read its log.]]"
)
FIRST_ANSWER = "[[say: It is a shop: orders, a checkout and a nightly export.]]"
_CURSOR = re.compile(r"\x1b\[\?[0-9]+[hl]|\r[^\n]*\x1b\[K")
_CODE = re.compile(r"(?<=code=)\S+")


def main() -> None:
    for name in sys.argv[1:] or STORIES:
        with running_stand_in() as models, tempfile.TemporaryDirectory() as folder:
            world = make_world(Path(folder), models)
            try:
                picture = svg(list(STORIES[name](world)))
            finally:
                world.leave()
        (IMAGES / name).write_text(picture)


def first_run(world: World) -> Iterator[tuple[str, str]]:
    """From `navi` to a past session and an answer, with sessions of both agents in the home."""
    write_past_sessions(world.home)
    world.models.otherwise = FIRST_ANSWER
    environment = {**os.environ, **world.environment, "HOME": str(world.home)}
    for name in ("NAVI_MODEL", "NAVI_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        environment.pop(name, None)
    began = time.monotonic()

    def timed(command: str) -> str:
        return f"{command:<72} # {time.monotonic() - began:.0f} s later"

    with PseudoTerminal([str(COMMANDS / "navi"), "--no-open"], environment) as terminal:
        terminal.wait_for("[y/N")
        terminal.type_text("y\n")
        screen = terminal.wait_for("makes another.").replace(str(world.home), HOME)
        yield "navi", _CODE.sub("…", _CURSOR.sub("", screen)).strip()
        search = timed(f"recall {' '.join(QUERY)} --limit 1")
        yield search, run(world, environment, "recall", *QUERY, "--limit", "1")
        question = ("What is in this folder?", "--driver", "claude_code", "--wait", "5m")
        spawn = timed(f'sm spawn "{question[0]}" {" ".join(question[1:])}')
        yield spawn, run(world, environment, "sm", "spawn", *question)
        yield timed("sm status"), run(world, environment, "sm", "status")
        terminal.interrupt()


def wake(world: World) -> Iterator[tuple[str, str]]:
    """Claude Code schedules its own next turn."""
    world.serve()
    world.set_up("claude_code")
    world.models.otherwise = WAKE_ANSWER
    claude = ("claude", "-p", WAKE_PROMPT, "--allowedTools", "mcp__navi")
    yield f'claude -p "{WAKE_PROMPT}"', run_with_server(world, *claude)
    yield "sm agenda", run_with_server(world, "sm", "agenda")


def plug(world: World) -> Iterator[tuple[str, str]]:
    """A server is killed in the middle of a turn, and started again."""
    world.serve()
    task = "[[say: I begin.]] [[sleep: 60]]"
    run_with_server(world, "sm", "spawn", task, "--name", "builder", "--driver", "scripted")
    message = "[[say: Yes. Nothing was lost.]] Are you still there?"
    yield f'sm send builder "{message}"', run_with_server(world, "sm", "send", "builder", message)
    time.sleep(2)  # until the first turn has said something
    world.server.kill()
    yield "kill -9 $NAVI", ""
    world.server.start()
    yield "navi serve &", "Navi is ready: http://127.0.0.1:8420\n"
    yield "sm wait builder 1m", run_with_server(world, "sm", "wait", "builder", "1m")
    yield "sm tail builder", run_with_server(world, "sm", "tail", "builder")


STORIES: dict[str, Story] = {"first-run.svg": first_run, "wake.svg": wake, "plug.svg": plug}


def run_with_server(world: World, *command: str) -> str:
    environment = {
        **world.server.environment,
        "NAVI_URL": world.server.address,
        "PATH": world.environment["PATH"],
    }
    return run(world, environment, *command)


def run(world: World, environment: Mapping[str, str], *command: str) -> str:
    environment = {**environment, "PATH": f"{COMMANDS}:{environment['PATH']}"}
    output = run_in_terminal(list(command), world.work, environment)
    return _CURSOR.sub("", output).replace(str(world.work), "~/shop").strip("\n")


if __name__ == "__main__":
    main()
