"""Any command in a tmux pane: what it prints, how it ends, and what `sm` reports."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator

import httpx2
import pytest

from navi.base import paths
from navi.client import Client as NaviClient
from navi.client import Server
from tests.acceptance.contract.command_runs import navi
from tests.acceptance.contract.person import Person
from tests.server import ServerProcess
from tests.waiting import eventually

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

Spawn = Callable[[str], str]


@pytest.fixture
def spawn(person: Person) -> Iterator[Spawn]:
    """The id of a session with that command in its pane; closed after the test."""
    made: list[str] = []

    def one(command: str) -> str:
        session = person.navi.create_session(driver="tmux", model=command, cwd="/tmp")
        made.append(session["id"])
        return session["id"]

    yield one
    for session_id in made:
        person.navi.kill(session_id)


def test_output_shows_what_a_command_in_tmux_printed(person: Person, spawn: Spawn) -> None:
    session_id = spawn("sh")
    assert "42" in person.run("send", session_id, "echo $((6 * 7))", "--wait", "60")
    output = person.run("output", session_id)
    assert "\n42\n" in output
    assert f"`sm attach {session_id}` shows its pane" in output
    # Each turn shows its own part of the pane.
    person.run("send", session_id, "echo $((2 + 3))", "--wait", "60")
    output = person.run("output", session_id)
    assert "\n5\n" in output
    assert "\n42\n" not in output


def test_a_command_that_ends_at_once_is_reported_with_its_exit_code_and_last_words(
    person: Person, spawn: Spawn
) -> None:
    bystander = spawn("cat")
    person.run("send", bystander, "first", "--wait", "60")

    session_id = spawn("sh -c 'echo no such thing; exit 3'")
    failed = person.sm("send", session_id, "hello", "--wait", "60")

    assert failed.returncode == 1
    assert "ended with exit code 3 before it could receive this message: no such thing" in (
        failed.stderr
    )
    # tmux keeps running, with all other panes.
    assert "second" in person.run("send", bystander, "second", "--wait", "60")


def test_a_command_that_is_not_there_is_named(person: Person, spawn: Spawn) -> None:
    failed = person.sm("send", spawn("no-such-command --at all"), "hello", "--wait", "60")
    assert "`no-such-command --at all` ended with exit code 127" in failed.stderr
    assert "not found" in failed.stderr


def test_a_command_that_ends_because_of_its_input_shows_what_it_printed(
    person: Person, spawn: Spawn
) -> None:
    well = person.run("send", spawn("sh -c 'read x; echo got $x'"), "one", "--wait", "60")
    assert "got one" in well
    assert "The program ended with exit code 0." in well
    badly = person.sm("send", spawn("sh -c 'read x; echo bad $x; exit 4'"), "one", "--wait", "60")
    assert badly.returncode == 1
    assert "bad one" in badly.stdout
    assert "ended with exit code 4" in badly.stderr
    killed = person.sm("send", spawn("sh -c 'read x; kill -9 $$'"), "one", "--wait", "60")
    assert "was killed by signal 9" in killed.stderr


def is_open(server: ServerProcess, session_id: str) -> bool:
    socket, name = paths.tmux_socket(server.environment), paths.pane_name(session_id)
    command = ["tmux", "-L", socket, "has-session", "-t", f"={name}"]
    return subprocess.run(command, capture_output=True).returncode == 0


async def test_removing_a_user_closes_the_panes_of_their_sessions(
    person: Person, server: ServerProcess
) -> None:
    token = navi(server, "user", "add", "pat")
    pat = NaviClient(Server(server.address, token, "the test"))
    session_id = pat.create_session(driver="tmux", program="cat", cwd="/tmp")["id"]
    person.run("send", session_id, "hello", "--wait", "60")
    assert is_open(server, session_id)

    navi(server, "user", "remove", "pat", "--yes")

    await eventually(lambda: not is_open(server, session_id), "the pane is closed")
    assert person.navi.session(session_id)["state"] == "stopped"


def test_deleting_a_session_closes_its_pane(person: Person, server: ServerProcess) -> None:
    session_id = person.navi.create_session(driver="tmux", model="cat", cwd="/tmp")["id"]
    person.run("send", session_id, "hello", "--wait", "60")
    assert is_open(server, session_id)

    with httpx2.Client(base_url=server.address, trust_env=False) as http:
        token = {"Authorization": f"Bearer {server.token}"}
        assert http.delete(f"/sessions/{session_id}", headers=token).status_code == 200

    assert not is_open(server, session_id)


def test_remind_is_refused_for_a_command_that_cannot_report(person: Person, spawn: Spawn) -> None:
    session_id = spawn("cat")
    refusal = person.refused("send", session_id, "hello", "--remind", "5m")
    assert "can't be reminded" in refusal
    assert "leave out --remind" in refusal
    assert person.navi.messages(session_id) == []
