"""What the servers of one turn write to an agent that asks: real processes, but no real agent."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from navi.live.agents.command_line import run_questions
from navi.live.agents.command_line.detached_run import DetachedRun
from navi.live.agents.command_line.run_questions import RunQuestions
from navi.vendors.codex.app_server.questions import CodexQuestions
from tests.integration.agents.builtin_turns import a_request

PATH = {"PATH": os.environ["PATH"]}
STARTED = json.dumps({"id": "start", "result": {"thread": {"id": "T"}}})
CONFIRMED = json.dumps({"id": "turn", "result": {}})
ENDED = json.dumps({"method": "turn/completed", "params": {"threadId": "T", "turn": {}}})
BEGIN = '"method": "turn/start"'


@pytest.fixture
def run(tmp_path: Path) -> DetachedRun:
    return DetachedRun(tmp_path / "runs" / "turn-1")


def start(run: DetachedRun, tmp_path: Path, *script: str) -> None:
    """An agent that plays the script."""
    run.start(["/bin/sh", "-c", "\n".join(script)], tmp_path, PATH, "", may_ask=True)


def written_before(tmp_path: Path) -> None:
    """An earlier server has begun to write the prompt."""
    (tmp_path / "runs" / "turn-1" / "answered").write_text("turn\n")


async def follow(run: DetachedRun, tmp_path: Path) -> list[str]:
    """The agent's output, as long as its input goes on."""
    request = a_request("Do it.")
    protocol = CodexQuestions("Do it.", None, tmp_path, None)
    output = []
    async with RunQuestions(request, protocol) as questions:
        questions.follow(run)
        async for line in run.lines(questions.check):
            questions.read(line)
            output.append(line.decode())
    return output


async def test_the_prompt_is_written_once_the_thread_has_its_id(
    run: DetachedRun, tmp_path: Path
) -> None:
    start(run, tmp_path, f"echo '{STARTED}'", 'read -r line; echo "$line"', f"echo '{ENDED}'")
    _, prompt, _ = await follow(run, tmp_path)
    assert BEGIN in prompt
    assert run.exit_code == 0


async def test_a_prompt_that_the_agent_has_confirmed_is_not_written_again(
    run: DetachedRun, tmp_path: Path
) -> None:
    start(
        run,
        tmp_path,
        f"echo '{STARTED}'",
        f"echo '{CONFIRMED}'",
        f"echo '{ENDED}'",
        "cat",
    )
    written_before(tmp_path)
    assert not any(BEGIN in line for line in await follow(run, tmp_path))


async def test_a_prompt_that_never_reached_the_agent_is_written_again(
    run: DetachedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_questions, "CONFIRMATION_SECONDS", 0.05)
    start(run, tmp_path, f"echo '{STARTED}'", 'read -r line; echo "$line"', f"echo '{ENDED}'")
    written_before(tmp_path)
    _, prompt, _ = await follow(run, tmp_path)
    assert BEGIN in prompt
