"""The recipes with fzf in docs/how-to/picker.md, with a stand-in that runs their commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.memory_world import World
from tests.paths import ROOT

PAGE = ROOT / "docs" / "how-to" / "picker.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUERY = "rotated"
# Does what fzf does with these options when somebody types QUERY, or nothing, and presses Enter on
# the first line.
STAND_IN = f'''#!{sys.executable}
import argparse, re, shlex, subprocess, sys

options = argparse.ArgumentParser()
for name in ("--bind", "--preview", "--delimiter", "--with-nth"):
    options.add_argument(name, action="append", default=[])
options.add_argument("--header-lines", type=int, default=0)
options.add_argument("--disabled", action="store_true")
arguments = options.parse_args()

def run(command, fields):
    for number, field in enumerate(fields, 1):
        command = command.replace("{{%d}}" % number, shlex.quote(field))
    return subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, text=True).stdout

binds = dict(each.split(":", 1) for each in arguments.bind)
lines = sys.stdin.read().splitlines()
if reload := binds.get("change"):
    reload = re.fullmatch(r"reload\\((.*)\\)", reload)[1]
    lines = run(reload.replace("{{q}}", "{QUERY}"), []).splitlines()
line = lines[arguments.header_lines]
fields = line.split("\\t") if arguments.delimiter else line.split()
print(run(arguments.preview[0], fields))
print(run(re.fullmatch(r"become\\((.*)\\)", binds["enter"])[1], fields))
'''


def recipes() -> list[str]:
    blocks = [block for block in BLOCK.findall(PAGE.read_text()) if "fzf" in block]
    assert len(blocks) == 2
    return blocks


@pytest.mark.parametrize("number", [0, 1], ids=["titles", "contents"])
def test_a_recipe_with_fzf_previews_and_resumes(world: World, programs: Path, number: int) -> None:
    recipe = recipes()[number]
    if "jq" in recipe and shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    stand_in = programs / "fzf"
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)
    path = os.pathsep.join((str(programs), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-c", recipe],
        env={**os.environ, "PATH": path},
        cwd=world.home,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "The refresh token is rotated too often" in done.stdout
    assert f"claude: {world.home}/shop: --resume: 6f1c0d52" in (world.home / "resumed").read_text()
