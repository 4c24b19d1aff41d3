from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from navi.base.errors import AgentFailed
from navi.live.agents.terminal.tmux import Pane, Tmux, draft_in, has_unread_keys, shows_prompt
from navi.live.agents.terminal.tmux_driver import TmuxDriver
from tests.waiting import eventually

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
def test_what_a_person_typed_is_distinguished_from_hints(
    line: str, mark: str, draft: str | None
) -> None:
    assert draft_in(["● something said", line, "  status line"], mark) == draft


def test_the_last_prompt_on_the_screen_counts() -> None:
    assert draft_in(["❯\xa0an earlier message", "● its answer", EMPTY], "❯") == ""


@pytest.mark.parametrize(
    "draft",
    [
        "run the tests, then",
        "then tell me",
        "[Pasted text #1 +30 lines]",
        "[Pasted Content 10120 chars]",
        "run the tests, [...Truncated text #1 +30 lines...]",
    ],
)
def test_a_prompt_is_recognised_in_a_composer(draft: str) -> None:
    assert shows_prompt(draft, "run the\ttests,  then\ntell me")


@pytest.mark.parametrize("draft", ["", "half a thou", "run the tests not"])
def test_what_a_person_typed_is_not_taken_for_the_prompt(draft: str) -> None:
    assert not shows_prompt(draft, "run the tests, then tell me")


def test_a_prompt_without_letters_is_recognised() -> None:
    assert shows_prompt("???", "???")
    assert not shows_prompt("!", "???")


ENDING = """#!/bin/sh
# tmux, whose server ends with its last pane at the very moment when the next one is wanted.
if mkdir {met} 2>/dev/null; then echo "server exited unexpectedly" >&2; exit 1; fi
exec {tmux} "$@"
"""


needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@needs_tmux
async def test_a_pane_starts_even_if_tmux_ended_with_the_last_one(tmp_path: Path) -> None:
    replace_tmux(tmp_path, ENDING)
    async with private_tmux(tmp_path) as tmux:
        pane = await tmux.start("only", ["sleep", "60"], tmp_path, tmp_path, "0")
        assert not pane.is_dead
    assert (tmp_path / "met").exists()


@needs_tmux
async def test_keys_are_on_the_disk_only_until_the_program_starts(tmp_path: Path) -> None:
    command = ["sh", "-c", 'echo "$SOME_KEY" > key; exec sleep 60']
    async with private_tmux(tmp_path, SOME_KEY="it's secret") as tmux:
        await tmux.start("only", command, tmp_path, tmp_path / "run", "0")
        await appears(tmp_path, "key")
        assert list((tmp_path / "run").iterdir()) == []
    assert (tmp_path / "key").read_text() == "it's secret\n"


BROKEN = "#!/bin/sh\necho 'no room' >&2; exit 1\n"


@needs_tmux
async def test_keys_are_not_left_on_the_disk_when_no_pane_can_be_started(tmp_path: Path) -> None:
    async with private_tmux(tmp_path) as tmux:
        replace_tmux(tmp_path, BROKEN)
        with pytest.raises(AgentFailed, match="no room"):
            await tmux.start("only", ["sleep", "60"], tmp_path, tmp_path / "run", "0")
    assert list((tmp_path / "run").iterdir()) == []


REFUSING = """#!/bin/sh
# tmux, whose server is too busy to answer each call.
if rmdir {met} 2>/dev/null; then echo "error connecting (try again)" >&2; exit 1; fi
exec {tmux} "$@"
"""


@needs_tmux
async def test_a_look_at_a_pane_that_failed_once_is_taken_again(tmp_path: Path) -> None:
    async with private_tmux(tmp_path) as tmux:
        pane = await tmux.start("only", ["echo", "hello"], tmp_path, tmp_path, "0")
        replace_tmux(tmp_path, REFUSING)
        (tmp_path / "met").mkdir()
        assert await tmux.pane("only") is not None
        assert not (tmp_path / "met").exists()
        (tmp_path / "met").mkdir()
        await tmux.screen(pane)
        assert not (tmp_path / "met").exists()


@needs_tmux
async def test_a_pane_that_is_not_there_is_none(tmp_path: Path) -> None:
    async with private_tmux(tmp_path) as tmux:
        assert await tmux.pane("only") is None
        await tmux.start("only", ["sleep", "60"], tmp_path, tmp_path, "0")
        assert await tmux.pane("other") is None


@needs_tmux
async def test_an_agent_in_a_pane_has_the_umask_of_the_person(
    tmp_path: Path, private_umask: None
) -> None:
    async with private_tmux(tmp_path) as tmux:
        command = ["sh", "-c", "umask >made; mv made umask; exec sleep 60"]
        await tmux.start("only", command, tmp_path, tmp_path, "0")
        await appears(tmp_path, "umask")
        assert (tmp_path / "umask").read_text() == "0027\n"


READER = """
import os, sys, tty
tty.setraw(0)
open("ready", "w").close()
open("may_read").close()
os.read(0, 1)
open("done", "w").close()
sys.stdin.read()
"""


@needs_tmux
async def test_keys_that_a_program_has_not_read_are_seen(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "may_read")
    async with private_tmux(tmp_path) as tmux:
        command = [sys.executable, "-c", READER]
        pane = await tmux.start("only", command, tmp_path, tmp_path, "0")
        await appears(tmp_path, "ready")
        assert not has_unread_keys(pane)
        await tmux.press(pane, "Escape")
        await eventually(lambda: has_unread_keys(pane), "the key has come")
        (tmp_path / "may_read").open("w").close()
        await appears(tmp_path, "done")
        assert not has_unread_keys(pane)


@needs_tmux
async def test_a_text_for_a_program_that_has_ended_leaves_all_other_panes_alive(
    tmp_path: Path,
) -> None:
    text = tmp_path / "text"
    text.write_text("hello")
    async with private_tmux(tmp_path) as tmux:
        await tmux.start("only", ["sleep", "60"], tmp_path, tmp_path, "0")
        await tmux.start("ended", ["sh", "-c", "echo bye; exit 3"], tmp_path, tmp_path, "0")
        try:
            pane = await eventually(lambda: dead_pane(tmux, "ended"), "the program has ended")
            await tmux.paste_and_submit(pane, text, "turn", 0, tmp_path / "lock")

            assert await tmux.pane("only") is not None
            ended = await tmux.pane("ended")
            assert ended is not None
            assert (ended.exit_code, ended.turn_id) == (3, "")
            assert await tmux.output(ended) == ["bye"]
        finally:
            await tmux.end("ended")


def test_keys_that_an_earlier_version_left_on_the_disk_are_removed(tmp_path: Path) -> None:
    left = tmp_path / "session" / "turn" / "launch"
    left.parent.mkdir(parents=True)
    left.write_text("export SOME_KEY=secret\n")
    TmuxDriver({}, default_agent="codex", socket="test", runs=tmp_path, environment={})
    assert not left.exists()


async def appears(folder: Path, name: str) -> None:
    await eventually((folder / name).exists, f"{name} is there")


async def dead_pane(tmux: Tmux, name: str) -> Pane | None:
    pane = await tmux.pane_with_ending(name)
    return pane if pane is not None and pane.is_dead else None


def replace_tmux(folder: Path, script: str) -> None:
    program = folder / "tmux"
    program.write_text(script.format(met=folder / "met", tmux=shutil.which("tmux")))
    program.chmod(0o755)


@asynccontextmanager
async def private_tmux(folder: Path, **environment: str) -> AsyncIterator[Tmux]:
    """A tmux on its own socket; its session `only` is killed after the test."""
    # The path of a unix socket may have about 100 characters; pytest's directories are longer.
    with tempfile.TemporaryDirectory(prefix="navi-") as sockets:
        path = f"{folder}:{os.environ['PATH']}"
        tmux = Tmux("test", {"PATH": path, "TMUX_TMPDIR": sockets, **environment})
        try:
            yield tmux
        finally:
            await tmux.end("only")
