"""Every command in the README, the quickstart and the how-tos works as it is printed.

One shell runs all `sh` blocks of a page in order, in a home of its own with a running server. What
can't run here is replaced, and a replacement whose text is no longer on the page fails.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.acceptance.flows.documented_pages import PAGES, READY, SERVE
from tests.integration.cli import systemctl_stand_in
from tests.memory_world import World
from tests.paths import ROOT

pytestmark = pytest.mark.proof

DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE_SECONDS = 270
START = f"""\
set -eu
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
{SERVE}FIRST=$SERVER
{READY}"""
PROGRAMS = {
    "notify-send": "",
    "osascript": "",
    "journalctl": "",
    "loginctl": "",
    "systemctl": f'exec {shlex.join([sys.executable, systemctl_stand_in.__file__])} "$@"',
}
"""What the commands find on the machine: nothing that shows notifications or starts services."""
SEVERAL_SERVERS = "how-to/several-servers-on-postgresql.md"


def script(page: str) -> str:
    blocks = "".join(BLOCK.findall((DOCS / page).read_text()))
    for text, replacement in PAGES[page].replaced.items():
        assert text in blocks, f"{page} no longer says {text!r}"
        blocks = blocks.replace(text, replacement, 1)
    return f"{START}{PAGES[page].prepared}set -x\n{blocks}"


def make_programs(folder: Path) -> Path:
    programs = folder / "programs"
    programs.mkdir()
    for name, command in PROGRAMS.items():
        (programs / name).write_text(f"#!/bin/sh\n{command}\n")
        (programs / name).chmod(0o755)
    return programs


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def stop_service(home: Path) -> None:
    file = home / systemctl_stand_in.PID.name
    if file.exists():
        with suppress(psutil.NoSuchProcess):
            psutil.Process(int(file.read_text())).kill()


def test_every_page_with_commands_is_run() -> None:
    pages = [ROOT / "README.md", DOCS / "quickstart.md", *(DOCS / "how-to").glob("*.md")]
    with_commands = {page for page in pages if BLOCK.search(page.read_text())}
    assert {(DOCS / page).resolve() for page in PAGES} == with_commands


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_works(
    page: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    home = tmp_path / "person"
    past = World(home).file().say("where is the auth bug?")
    for _ in range(30):
        past.run("git status")
    commands = Path(sys.executable).parent
    elsewhere = ("NAVI_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
    environment = {
        **{name: value for name, value in os.environ.items() if name not in elsewhere},
        "HOME": str(home),
        "NAVI_MODEL": "scripted",
        "NAVI_SERVER_PORT": free_port(),
        "PATH": os.pathsep.join([str(commands), str(make_programs(tmp_path)), os.environ["PATH"]]),
        "TZ": "UTC",
        **PAGES[page].environment,
    }
    lines = script(page)
    if page == SEVERAL_SERVERS:
        environment["POSTGRESQL"] = request.getfixturevalue("postgres").create_database()
        for port in ("8421", "8422"):
            lines = lines.replace(port, free_port())
    shell = subprocess.Popen(
        ["bash", "-c", lines],
        env=environment,
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = shell.communicate(timeout=PATIENCE_SECONDS)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        stop_service(home)
    assert shell.returncode == 0, output
