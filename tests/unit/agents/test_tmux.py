from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from navi.agents.tmux import Tmux, draft_in

EMPTY = "\x1b[39m❯\xa0\x1b[7m \x1b[0m"
HINT = '❯\xa0\x1b[7mT\x1b[0m\x1b[2mry "edit this file"\x1b[0m'
CODEX_HINT = "\x1b[1m›\x1b[0m\x1b[39m\x1b[49m \x1b[2mAsk Codex to do anything"


@pytest.mark.parametrize(
    ("line", "mark", "draft"),
    [
        (EMPTY, "❯", ""),
        (HINT, "❯", ""),
        (CODEX_HINT, "›", ""),
        ("\x1b[39m❯\xa0half a thou\x1b[7m \x1b[0m", "❯", "half a thou"),
        ("\x1b[1m›\x1b[0m half a thou", "›", "half a thou"),
        ("  no prompt here", "❯", None),
    ],
)
def test_what_a_person_typed_is_told_from_hints(line: str, mark: str, draft: str | None) -> None:
    assert draft_in(["● something said", line, "  status line"], mark) == draft


def test_the_last_prompt_on_the_screen_counts() -> None:
    assert draft_in(["❯\xa0an earlier message", "● its answer", EMPTY], "❯") == ""


ENDING = """#!/bin/sh
# tmux, whose server ends with its last pane at the very moment when the next one is wanted.
if mkdir {met} 2>/dev/null; then echo "server exited unexpectedly" >&2; exit 1; fi
exec {tmux} "$@"
"""


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
async def test_a_pane_is_started_though_the_server_ended_with_the_last_one(tmp_path: Path) -> None:
    program = tmp_path / "tmux"
    program.write_text(ENDING.format(met=tmp_path / "met", tmux=shutil.which("tmux")))
    program.chmod(0o755)
    # The path of a unix socket may have about 100 characters; pytest's directories are longer.
    with tempfile.TemporaryDirectory(prefix="navi-") as folder:
        path = f"{tmp_path}:{os.environ['PATH']}"
        tmux = Tmux("test", {"PATH": path, "TMUX_TMPDIR": folder})
        pane = await tmux.start("only", ["sleep", "60"], tmp_path, tmp_path, "0")
        assert not pane.is_dead
        await tmux.end("only")
    assert (tmp_path / "met").exists()
