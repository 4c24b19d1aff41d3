"""Unnamed sessions are titled by the first line a person wrote, in `sm` and on the wire."""

from __future__ import annotations

import re

from tests.acceptance.contract.conftest import finished, receive_until
from tests.acceptance.contract.person import Person
from tests.server import Client

TASK = "Fix   the \x1b[7mlogin\x1b[0m.\n[[sleep: 600]]"
TITLE = "Fix the login."


async def test_a_session_without_a_name_is_shown_by_its_first_line_everywhere(
    person: Person, client: Client
) -> None:
    lead = person.navi.create_session(driver="scripted", name="lead of untitled ones")
    agent = person.agent_of(lead["id"])
    made = agent.run("spawn", "--driver", "scripted")
    session_id = made.split("(")[1].rstrip(")\n")
    assert made == f"New session {session_id[:4]} ({session_id})\n"

    async with client.watch(session_id) as socket:
        await client.say(session_id, TASK)
        frames = await receive_until(socket, "stream_start")

    titles = [each["session"]["title"] for each in frames if each["type"] == "session_update"]
    assert titles[-1] == TITLE
    session = await client.call("GET", f"/sessions/{session_id}")
    assert (session["name"], session["title"]) == (f"session-{session_id[:4]}", TITLE)
    pattern = re.escape(f"{TITLE} ({session_id})")
    assert re.search(rf"{re.escape(TITLE)} .*running.*{session_id}", person.run("status"))
    for command in (["all"], ["children", lead["id"]]):
        assert re.search(pattern + r" +\| running", person.run(*command))
    watch = person.start("watch")
    try:
        assert watch.stdout is not None
        assert any(f"{TITLE} ({session_id}) | running" in line for line in watch.stdout)
    finally:
        watch.terminate()
        watch.communicate()
    # The name is still a handle.
    assert f"queued for {TITLE} ({session_id})" in person.run("send", session["name"], "[[say: x]]")
    person.run("kill", session_id)


async def test_spawn_names_the_new_session_by_its_prompt(person: Person, client: Client) -> None:
    output = person.run("spawn", "Tidy up the shed.", "--driver", "scripted")
    assert re.fullmatch(r"Tidy up the shed\. \([0-9a-f]{16}\)\n", output)
    session_id = output.split("(")[1].rstrip(")\n")
    await finished(client, session_id)
    sync = await client.call("GET", f"/sessions/{session_id}/snapshot")
    assert sync["session"]["title"] == "Tidy up the shed."
