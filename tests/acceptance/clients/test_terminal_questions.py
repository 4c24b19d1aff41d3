"""What Claude Code asks in a terminal, answered there or elsewhere. The first answer counts."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.acceptance.clients.conftest import World, outcomes
from tests.acceptance.clients.model_stand_in import ModelStandIn
from tests.acceptance.clients.terminal import PANE, Terminal, adopted
from tests.acceptance.contract.conftest import finished
from tests.server import Client
from tests.waiting import eventually

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
SM = Path(sys.executable).parent / "sm"
RUN = "[[bash: touch ran]] [[say: on we go]]"
ASKING = ("--permission-mode", "default")
WENT_ON = "● on we go"
DIALOG = "Do you want to proceed?"
OPTIONS = [{"label": each, "description": each} for each in ("Red", "Blue")]
COLOUR = {"question": "Colour?", "header": "Colour", "options": OPTIONS, "multiSelect": False}


@pytest.fixture(autouse=True)
def plain_answers(models: ModelStandIn) -> Iterator[None]:
    yield
    models.otherwise = ""


async def asking_terminal(world: World, script: str = RUN, dialog: str = DIALOG) -> Terminal:
    """A terminal with Claude Code and Navi's hooks, whose dialog is on the screen."""
    await asyncio.to_thread(world.set_up, "claude_code")
    terminal = Terminal(world, "claude_code", *ASKING)
    await terminal.shows("❯")
    # The last Enter of what was said must not answer the dialog.
    gate = uuid.uuid4().hex
    world.models.otherwise = f"[[wait: {gate}]] {script}"
    await terminal.says("please do it")
    world.models.gates[gate].set()
    await terminal.shows(dialog)
    return terminal


async def press(world: World, key: str) -> None:
    """Press the key until the dialog has gone: it ignores keys that come too soon."""

    def has_gone() -> bool:
        if DIALOG not in world.tmux("capture-pane", "-p", "-t", PANE):
            return True
        world.tmux("send-keys", "-t", PANE, key)
        return False

    await eventually(has_gone, f"{key} closes the dialog")


async def sm(world: World, *arguments: str) -> subprocess.CompletedProcess[str]:
    order = [str(SM), *arguments]
    environment = {**world.server.environment, "NAVI_URL": world.server.address}
    return await asyncio.to_thread(
        subprocess.run, order, env=environment, capture_output=True, text=True, timeout=60
    )


async def questions(client: Client, state: str = "open", count: int = 1) -> list[dict[str, Any]]:
    async def look() -> list[dict[str, Any]]:
        found = await client.call("GET", f"/questions?state={state}")
        return list(found) if len(found) >= count else []

    return list(await eventually(look, f"{count} questions are {state}"))


def has_run(world: World) -> bool:
    return (world.work / "ran").exists()


def hooks(world: World) -> list[psutil.Process]:
    """The hooks that wait for a decision."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if str(world.home / "navi" / "token") in line and "-I" in line and line[0] != "/bin/sh":
            found.append(process)
    return found


async def test_a_dialog_in_a_terminal_is_answered_with_sm(world: World, client: Client) -> None:
    terminal = await asking_terminal(world)
    [question] = await questions(client)
    assert (question["kind"], question["tool_name"]) == ("permission", "Bash")
    assert question["tool_input"]["command"] == "touch ran"
    assert question["deadline_at"] is None
    await adopted(client, state="waiting", waiting_for=question["id"])

    answered = await sm(world, "answer", question["id"][:6], "allow")

    assert answered.returncode == 0, answered.stderr
    await terminal.shows("Allowed by PermissionRequest hook")
    await terminal.shows(WENT_ON)
    assert has_run(world)
    await adopted(client, state="idle", waiting_for=None)
    await eventually(lambda: not hooks(world), "the hook has ended")


@pytest.mark.proof
async def test_what_the_person_answers_in_the_terminal_counts_and_sm_is_told(
    world: World, client: Client
) -> None:
    terminal = await asking_terminal(world)
    [question] = await questions(client)

    await press(world, "1")

    await terminal.shows(WENT_ON)
    [closed] = await questions(client, "withdrawn")
    assert (closed["answered_via"], closed["answer"]) == ("terminal", None)
    late = await sm(world, "answer", question["id"][:6], "deny")
    assert late.returncode == 1
    assert "answered in the agent's terminal" in late.stderr
    assert has_run(world)
    await adopted(client, state="idle", waiting_for=None)
    await eventually(lambda: not hooks(world), "the hook has ended")


@pytest.mark.proof
async def test_a_no_in_the_terminal_is_noticed_although_no_hook_reports_it(
    world: World, client: Client
) -> None:
    terminal = await asking_terminal(world)
    await questions(client)

    # Not Escape: pressed twice, it would open another dialog.
    number = re.search(r"(\d)\. No", world.tmux("capture-pane", "-p", "-t", PANE))
    assert number is not None
    await press(world, number[1])

    await terminal.shows("Interrupted")
    [closed] = await questions(client, "withdrawn")
    assert closed["answered_via"] == "terminal"
    await adopted(client, state="idle", waiting_for=None)
    assert not has_run(world)


@pytest.mark.proof
async def test_a_denial_says_why(world: World, client: Client) -> None:
    terminal = await asking_terminal(world)
    [question] = await questions(client)

    await sm(world, "answer", question["id"], "deny", "not today, please")

    await terminal.shows(WENT_ON)
    await terminal.shows("Denied by PermissionRequest hook")
    assert not has_run(world)
    assert any("not today, please" in request for request in world.models.requests)


@pytest.mark.proof
async def test_changed_input_is_what_runs(world: World, client: Client) -> None:
    terminal = await asking_terminal(world)
    [question] = await questions(client)
    changed = json.dumps({**question["tool_input"], "command": "touch other"})

    await sm(world, "answer", question["id"], "allow", "--input", changed)

    await terminal.shows(WENT_ON)
    assert (world.work / "other").exists()
    assert not has_run(world)


@pytest.mark.proof
async def test_a_choice_is_made_outside_the_terminal(world: World, client: Client) -> None:
    call = f"[[tool: AskUserQuestion | {json.dumps({'questions': [COLOUR]})}]] [[say: ok]]"
    terminal = await asking_terminal(world, call, "Enter to select")
    [question] = await questions(client)
    assert (question["kind"], question["title"]) == ("choice", "Colour?")

    await sm(world, "answer", question["id"], "Blue")

    await terminal.shows("Colour? → Blue")
    await terminal.shows("● ok")


@pytest.mark.proof
async def test_a_question_survives_the_server_and_is_asked_once(world: World) -> None:
    world.serve()
    async with world.client() as client:
        terminal = await asking_terminal(world)
        [before] = await questions(client)
    world.server.kill()
    await asyncio.sleep(3)  # the hook tries in vain
    world.server.start()  # on another port

    async with world.client() as client:
        [after] = await questions(client)
        assert after["id"] == before["id"]
        await sm(world, "answer", after["id"], "allow")
        await terminal.shows(WENT_ON)
        assert has_run(world)
        assert len(await client.call("GET", "/questions")) == 1


@pytest.mark.proof
async def test_an_answer_given_just_before_the_server_dies_is_handed_over_by_the_next(
    world: World,
) -> None:
    world.serve()
    async with world.client() as client:
        terminal = await asking_terminal(world)
        [question] = await questions(client)
        for hook in hooks(world):
            hook.suspend()
        body = {"decision": "allow"}
        await client.call("POST", f"/questions/{question['id']}/answer", body)
    world.server.kill()
    world.server.start()
    for hook in hooks(world):
        hook.resume()

    await terminal.shows(WENT_ON)
    assert has_run(world)


@pytest.mark.proof
async def test_without_a_server_the_dialog_is_there_and_no_hook_waits(world: World) -> None:
    world.serve()
    world.set_up("claude_code")
    world.server.kill()
    terminal = Terminal(world, "claude_code", *ASKING)
    await terminal.shows("❯")
    await terminal.says(f"[[wait: now]] {RUN}")
    world.models.gates["now"].set()
    await terminal.shows(DIALOG)
    await eventually(lambda: not hooks(world), "the hook has ended")
    await press(world, "1")
    await terminal.shows(WENT_ON)
    assert has_run(world)


@pytest.mark.proof
async def test_the_question_of_a_terminal_that_is_closed_is_withdrawn(
    world: World, client: Client
) -> None:
    terminal = await asking_terminal(world)
    await questions(client)

    terminal.closes()

    [closed] = await questions(client, "withdrawn")
    assert closed["answered_via"] is None
    await eventually(lambda: not hooks(world), "the hook has ended")


@pytest.mark.proof
async def test_a_run_without_a_terminal_is_not_held_up(world: World, client: Client) -> None:
    await asyncio.to_thread(world.set_up, "claude_code")
    environment = {**world.environment, "HOME": str(world.home)}
    environment["NAVI_HOME"] = str(world.home / "navi")
    order = ["claude", "-p", RUN]

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            order, env=environment, cwd=world.work, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip

    done = await asyncio.to_thread(run)
    assert done.stdout.strip() == "on we go"
    assert not has_run(world)
    assert await client.call("GET", "/questions") == []


@pytest.mark.proof
async def test_a_sub_agents_dialog_is_not_held_up(world: World, client: Client) -> None:
    """Claude Code would show it only once the hook has ended."""
    await asyncio.to_thread(world.set_up, "claude_code")
    world.models.otherwise = RUN
    terminal = Terminal(world, "claude_code", *ASKING)
    await terminal.shows("❯")
    call = {"description": "d", "subagent_type": "general-purpose", "prompt": "go"}
    await terminal.says(f"[[tool: Agent | {json.dumps(call)}]]")
    await terminal.shows(DIALOG)
    await adopted(client, state="waiting", waiting_for=None)
    assert await client.call("GET", "/questions") == []


async def pane(world: World, client: Client, **fields: Any) -> str:
    session_id = await client.session(
        driver="tmux", program="claude_code", cwd=str(world.work), **fields
    )
    await client.say(session_id, RUN)
    return session_id


@pytest.mark.proof
async def test_a_dialog_in_a_pane_of_navis_is_answered_outside(world: World) -> None:
    world.serve(NAVI_CLAUDE_CODE_ARGUMENTS="--permission-mode=default")
    async with world.client() as client:
        session_id = await pane(world, client)
        [question] = await questions(client)
        assert question["turn_id"] is not None
        assert question["deadline_at"] is not None
        assert (await client.call("GET", f"/sessions/{session_id}"))["state"] == "waiting"

        await sm(world, "answer", session_id, "allow")

        assert outcomes(await finished(client, session_id)) == ["ok"]
        assert has_run(world)
        assert len(await client.call("GET", "/questions")) == 1


@pytest.mark.proof
async def test_a_policy_decides_in_a_pane_without_asking(world: World) -> None:
    world.serve(NAVI_CLAUDE_CODE_ARGUMENTS="--permission-mode=default")
    async with world.client() as client:
        session_id = await pane(world, client, on_permission="deny")
        assert outcomes(await finished(client, session_id)) == ["denied"]
        assert not has_run(world)
        [question] = await client.call("GET", "/questions")
        assert question["answered_via"] == "policy"


@pytest.mark.proof
async def test_an_answer_closes_the_dialog_within_a_second(world: World, client: Client) -> None:
    await asking_terminal(world)
    [question] = await questions(client)
    began = time.time()
    await client.call("POST", f"/questions/{question['id']}/answer", {"decision": "allow"})
    await eventually(lambda: has_run(world), "the tool has run")
    taken = (world.work / "ran").stat().st_mtime - began
    sys.stderr.write(f"from the answer until the tool ran: {taken:.3f} s\n")
    assert taken < 5


@pytest.mark.proof
@pytest.mark.parametrize(("key", "shown"), [("y", "• went on"), ("Escape", "interrupted")])
async def test_a_dialog_of_codex_is_shown_and_answered_in_its_terminal(
    world: World, client: Client, key: str, shown: str
) -> None:
    await asyncio.to_thread(world.set_up, "codex")
    terminal = Terminal(world, "codex", "-a", "on-request", "-s", "read-only")
    await terminal.shows("›")
    gate = uuid.uuid4().hex
    call = {
        "cmd": "touch ran",
        "sandbox_permissions": "require_escalated",
        "justification": "May I?",
    }
    script = f"[[tool: exec_command | {json.dumps(call)}]] [[say: went on]]"
    world.models.otherwise = f"[[wait: {gate}]] {script}"
    await terminal.says("please do it")
    world.models.gates[gate].set()

    await terminal.shows("Would you like to run the following command?")
    await adopted(client, driver="codex", state="waiting", waiting_for=None)
    world.tmux("send-keys", "-t", PANE, key)

    await terminal.shows(shown)
    assert has_run(world) == (key == "y")
    await adopted(client, state="idle")


@pytest.mark.proof
async def test_a_usage_limit_in_a_terminal_ends_the_turn_and_is_known(
    world: World, client: Client
) -> None:
    """Claude Code runs no Stop hook then."""
    await asyncio.to_thread(world.set_up, "claude_code")
    world.environment["CLAUDE_CODE_MAX_RETRIES"] = "0"
    terminal = Terminal(world, "claude_code", *ASKING)
    await terminal.shows("❯")

    await terminal.says("[[error: 429]]")

    session = await adopted(client, state="idle", last_outcome="limit")
    assert session["unread"]
    [limit] = await client.call("GET", "/limits")
    assert limit["account"] == "claude_code:local"
